// Begins a write: locks a memory and raises its revision; no row for an unknown memory.
//
// $memory  STRING  name of the memory
//
// -> key            STRING   the memory's key
// -> revision       INTEGER  the revision this write makes
// -> embedder       STRING   fingerprint of the embedder that the memory was built with
// -> embedder_name  STRING   its name
// -> next_ordinal   INTEGER  ordinal of the next utterance
// -> next_session   INTEGER  number of the next session
// -> forgetting     BOOLEAN  whether the whole memory is being forgotten

CYPHER 25
MATCH (memory:Memory {name: $memory})
SET memory.revision = memory.revision + 1
RETURN
  memory.key AS key, memory.revision AS revision, memory.embedder AS embedder,
  memory.embedder_name AS embedder_name, memory.next_ordinal AS next_ordinal,
  memory.next_session AS next_session, memory.forgetting_since IS NOT NULL AS forgetting
