// Utterances whose vector is not as long as the memory's embedder makes them.
//
// $memory  STRING  the memory checked; no other is read
//
// -> count  INTEGER  how many

CYPHER 25
MATCH (memory:Memory {name: $memory})
MATCH (utterance:Utterance {memory: $memory})
WHERE utterance.ordinal >= 0 AND size(utterance.embedding) <> memory.dimensions
RETURN count(utterance) AS count
