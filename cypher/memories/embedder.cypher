// What a write must know of a memory beforehand; no row for an unknown memory.
//
// $memory  STRING  name of the memory
//
// -> embedder       STRING   fingerprint of the embedder it was built with
// -> embedder_name  STRING   its name
// -> unfinished     BOOLEAN  whether an import was cut short, or is under way

CYPHER 25
MATCH (memory:Memory {name: $memory})
RETURN
  memory.embedder AS embedder, memory.embedder_name AS embedder_name,
  EXISTS { MATCH (mark:Unfinished {memory: $memory}) WHERE mark.token IS NOT NULL } AS unfinished
