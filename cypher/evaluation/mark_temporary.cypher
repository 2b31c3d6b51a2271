// Marks a memory as made by an evaluation, in the transaction that makes it.
//
// $memory  STRING  name of the memory

CYPHER 25
MATCH (memory:Memory {name: $memory})
SET memory.temporary = true
