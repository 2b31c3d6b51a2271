// The short key of a memory, for names of projections.

CYPHER 25
CREATE CONSTRAINT memory_key IF NOT EXISTS
FOR (memory:Memory) REQUIRE memory.key IS UNIQUE
