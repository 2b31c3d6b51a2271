// Utterances without a vector: they are found by their words alone.
//
// $memory  STRING  the memory checked; no other is read
//
// -> count  INTEGER  how many

CYPHER 25
MATCH (utterance:Utterance {memory: $memory})
WHERE utterance.ordinal >= 0 AND utterance.embedding IS NULL
RETURN count(utterance) AS count
