// One utterance.
//
// $memory        STRING  name of the memory
// $utterance_id  STRING  the caller's id
//
// -> utterance_id  STRING          the caller's id
// -> session_id    STRING          the session
// -> position      INTEGER         its place in the session, from 1
// -> speaker       STRING          who said it
// -> said_at       ZONED DATETIME  when, or null
// -> text          STRING          verbatim
// -> clues         LIST<STRING>    clues it belongs to

CYPHER 25
MATCH (utterance:Utterance {memory: $memory, utterance_id: $utterance_id})
RETURN
  utterance.utterance_id AS utterance_id, utterance.session_id AS session_id, utterance.position AS position,
  utterance.speaker AS speaker, utterance.said_at AS said_at, utterance.text AS text,
  COLLECT {
    MATCH (utterance)-[:BELONGS]->(clue:Clue {memory: $memory})
    RETURN clue.text ORDER BY clue.support, clue.text, clue.uid
  } AS clues
