// A spelling that a person merged into a clue, by its hash.

CYPHER 25
CREATE CONSTRAINT alias_uid IF NOT EXISTS
FOR (alias:Alias) REQUIRE (alias.memory, alias.uid) IS UNIQUE
