// A session's uid, the hash of memory and session id.

CYPHER 25
CREATE CONSTRAINT session_uid IF NOT EXISTS
FOR (session:Session) REQUIRE (session.memory, session.uid) IS UNIQUE
