// One memory as a question needs it; no row for an unknown one.
//
// $memory  STRING  name of the memory
//
// -> key            STRING   its short key
// -> revision       INTEGER  grows with every write
// -> embedder       STRING   fingerprint of the embedder it was built with
// -> embedder_name  STRING   its name
// -> dimensions     INTEGER  length of its vectors
// -> utterances     INTEGER  utterances stored
// -> dated          INTEGER  of them with a time
// -> assistant      INTEGER  of them said by an assistant to its user
// -> forgetting     BOOLEAN  whether the whole memory is being forgotten

CYPHER 25
MATCH (memory:Memory {name: $memory})
RETURN
  memory.key AS key, memory.revision AS revision, memory.embedder AS embedder,
  memory.embedder_name AS embedder_name, memory.dimensions AS dimensions,
  memory.utterances AS utterances, memory.dated AS dated, memory.assistant AS assistant,
  memory.forgetting_since IS NOT NULL AS forgetting
