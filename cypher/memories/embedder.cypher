// The embedder that a memory was built with; no row for an unknown memory.
//
// $memory  STRING  name of the memory
//
// -> embedder       STRING  its fingerprint
// -> embedder_name  STRING  its name

CYPHER 25
MATCH (memory:Memory {name: $memory})
RETURN memory.embedder AS embedder, memory.embedder_name AS embedder_name
