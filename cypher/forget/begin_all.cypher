// Marks a whole memory as being forgotten, so that nothing of it is found from now on.
//
// $memory  STRING  name of the memory
//
// -> utterances  INTEGER  utterances it holds

CYPHER 25
MATCH (memory:Memory {name: $memory})
SET memory.revision = memory.revision + 1, memory.forgetting_since = coalesce(memory.forgetting_since, datetime())
RETURN memory.utterances AS utterances
