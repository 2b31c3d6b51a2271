// Deletes the memory itself, once nothing of it is left.
//
// $memory  STRING  name of the memory

CYPHER 25
MATCH (memory:Memory {name: $memory})
WHERE memory.forgetting_since IS NOT NULL
DELETE memory
