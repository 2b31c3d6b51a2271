// Sessions that exist already, each with its number and its last utterance.
//
// $memory       STRING        name of the memory
// $session_ids  LIST<STRING>  sessions to look for
// $dimensions  INTEGER  length of the vectors
//
// -> session_id  STRING        the session
// -> number      INTEGER       its number in the memory
// -> position    INTEGER       position of its last utterance
// -> uid         STRING        uid of its last utterance
// -> embedding   VECTOR   vector of its last utterance, or null

CYPHER 25
UNWIND $session_ids AS session_id
MATCH (session:Session {memory: $memory, session_id: session_id})
CALL (session) {
  MATCH (utterance:Utterance {memory: $memory, session_id: session.session_id})
  WHERE utterance.position >= 0
  RETURN utterance
  ORDER BY utterance.position DESC
  LIMIT 1
}
RETURN
  session.session_id AS session_id, session.number AS number, utterance.position AS position,
  utterance.uid AS uid, vector(utterance.embedding, $dimensions, FLOAT32) AS embedding
ORDER BY session_id
