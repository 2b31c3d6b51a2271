// A clue's uid, the hash of memory, kind and spelling.

CYPHER 25
CREATE CONSTRAINT clue_uid IF NOT EXISTS
FOR (clue:Clue) REQUIRE (clue.memory, clue.uid) IS UNIQUE
