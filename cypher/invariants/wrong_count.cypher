// Utterances that the memory's own count misses or has too many.
//
// $memory  STRING  the memory checked; no other is read
//
// -> count  INTEGER  how many

CYPHER 25
MATCH (memory:Memory {name: $memory})
RETURN abs(memory.utterances - COUNT { MATCH (utterance:Utterance {memory: $memory}) WHERE utterance.ordinal >= 0 }) AS count
