// Gives the managed server's user a password; run on the system database, while nobody else can reach the server.
//
// $password  STRING  the new password

CYPHER 25
CREATE OR REPLACE USER neo4j SET PASSWORD $password CHANGE NOT REQUIRED
