// Name, version and edition of the server.
//
// -> version  STRING  2026.01.4
// -> edition  STRING  community or enterprise

CYPHER 25
CALL dbms.components() YIELD name, versions, edition
WHERE name = 'Neo4j Kernel'
RETURN versions[0] AS version, edition
