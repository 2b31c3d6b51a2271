// Stores chunks of the layout.
//
// $memory  STRING     name of the memory
// $rows    LIST<MAP>  chunk, places

CYPHER 25
UNWIND $rows AS row
MERGE (layout:Layout {memory: $memory, chunk: row.chunk})
SET layout.places = row.places
