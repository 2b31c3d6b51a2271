// Marks of imports under way.

CYPHER 25
CREATE INDEX unfinished_memory IF NOT EXISTS
FOR (unfinished:Unfinished) ON (unfinished.memory, unfinished.token)
