// A session's id is unique within its memory.

CYPHER 25
CREATE CONSTRAINT session_id IF NOT EXISTS
FOR (session:Session) REQUIRE (session.memory, session.session_id) IS UNIQUE
