// Locks a memory and raises its revision, before something of it is forgotten; no row for an unknown memory.
//
// $memory  STRING  name of the memory
//
// -> next_ordinal  INTEGER  ordinal of the next utterance
// -> next_session  INTEGER  number of the next session
// -> dimensions    INTEGER  length of its vectors

CYPHER 25
MATCH (memory:Memory {name: $memory})
SET memory.revision = memory.revision + 1
RETURN memory.next_ordinal AS next_ordinal, memory.next_session AS next_session, memory.dimensions AS dimensions
