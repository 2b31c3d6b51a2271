// Makes a memory if it is new.
//
// $memory         STRING   name of the memory
// $key            STRING   short unique token
// $embedder       STRING   fingerprint of the embedder
// $embedder_name  STRING   name of the embedder, for messages
// $dimensions     INTEGER  length of its vectors

CYPHER 25
MERGE (memory:Memory {name: $memory})
ON CREATE SET
  memory.key = $key, memory.revision = 0, memory.embedder = $embedder, memory.embedder_name = $embedder_name,
  memory.dimensions = $dimensions, memory.schema = 1, memory.created_at = datetime(),
  memory.next_ordinal = 0, memory.next_session = 0,
  memory.utterances = 0, memory.dated = 0, memory.assistant = 0
