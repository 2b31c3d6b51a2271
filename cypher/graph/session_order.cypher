// The utterances of one session in order.
//
// $memory      STRING  name of the memory
// $session_id  STRING  the session
// $dimensions  INTEGER  length of the vectors
//
// -> utterance_id  STRING       the caller's id
// -> uid           STRING       the utterance
// -> ordinal       INTEGER      its ordinal
// -> position      INTEGER      its position
// -> embedding     VECTOR  its vector, or null

CYPHER 25
MATCH (utterance:Utterance {memory: $memory, session_id: $session_id})
WHERE utterance.position >= 0
RETURN
  utterance.utterance_id AS utterance_id, utterance.uid AS uid, utterance.ordinal AS ordinal,
  utterance.position AS position, vector(utterance.embedding, $dimensions, FLOAT32) AS embedding
ORDER BY position, utterance_id
