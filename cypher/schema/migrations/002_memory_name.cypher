// A memory is known by its name.

CYPHER 25
CREATE CONSTRAINT memory_name IF NOT EXISTS
FOR (memory:Memory) REQUIRE memory.name IS UNIQUE
