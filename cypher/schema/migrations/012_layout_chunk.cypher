// One layout for each chunk of ordinals.

CYPHER 25
CREATE CONSTRAINT layout_chunk IF NOT EXISTS
FOR (layout:Layout) REQUIRE (layout.memory, layout.chunk) IS UNIQUE
