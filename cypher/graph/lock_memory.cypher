// Begins a write: makes the memory if it is new, locks it, and raises its revision.
//
// $memory       STRING   name of the memory
// $key          STRING   short unique token, used when the memory is new
// $embedder     STRING   fingerprint of the embedder, used when the memory is new
// $embedder_name STRING  name of the embedder, for messages, used when the memory is new
// $dimensions   INTEGER  length of its vectors, used when the memory is new
//
// -> key            STRING   the memory's key
// -> revision       INTEGER  the revision this write makes
// -> embedder       STRING   fingerprint of the embedder that the memory was built with
// -> embedder_name  STRING   its name
// -> next_ordinal   INTEGER  ordinal of the next utterance
// -> next_session   INTEGER  number of the next session
// -> forgetting     BOOLEAN  whether the whole memory is being forgotten

CYPHER 25
MERGE (memory:Memory {name: $memory})
ON CREATE SET
  memory.key = $key, memory.revision = 0, memory.embedder = $embedder, memory.embedder_name = $embedder_name,
  memory.dimensions = $dimensions, memory.schema = 1, memory.created_at = datetime(),
  memory.next_ordinal = 0, memory.next_session = 0,
  memory.utterances = 0, memory.dated = 0, memory.assistant = 0
SET memory.revision = memory.revision + 1
RETURN
  memory.key AS key, memory.revision AS revision, memory.embedder AS embedder,
  memory.embedder_name AS embedder_name, memory.next_ordinal AS next_ordinal,
  memory.next_session AS next_session, memory.forgetting_since IS NOT NULL AS forgetting
