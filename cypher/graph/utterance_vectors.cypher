// The vectors of a memory's utterances, in the order they were stored.
//
// $memory  STRING   name of the memory
// $from    INTEGER  first ordinal, from 0
// $dimensions  INTEGER  length of the vectors
//
// -> uid        STRING  the utterance
// -> embedding  VECTOR  its vector

CYPHER 25
MATCH (utterance:Utterance {memory: $memory})
WHERE utterance.ordinal >= $from AND utterance.embedding IS NOT NULL
RETURN utterance.uid AS uid, vector(utterance.embedding, $dimensions, FLOAT32) AS embedding
ORDER BY utterance.ordinal
