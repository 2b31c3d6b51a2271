// Whether a memory was made by an evaluation and may be deleted by one; no row for an unknown memory.
//
// $memory  STRING  name of the memory
//
// -> temporary  BOOLEAN  false for a memory of somebody

CYPHER 25
MATCH (memory:Memory {name: $memory})
RETURN coalesce(memory.temporary, false) AS temporary
