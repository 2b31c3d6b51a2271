// What a session holds at this moment, to compare with what was read of it.
//
// $memory      STRING  name of the memory
// $session_id  STRING  the session
//
// -> clue_state   STRING        pending, done or failed
// -> clue_source  STRING        words, given, or the language model that read it
// -> uids         LIST<STRING>  its utterances in order

CYPHER 25
MATCH (session:Session {memory: $memory, session_id: $session_id})
RETURN
  session.clue_state AS clue_state, session.clue_source AS clue_source,
  COLLECT {
    MATCH (utterance:Utterance {memory: $memory, session_id: $session_id})
    WHERE utterance.position >= 0
    RETURN utterance.uid
    ORDER BY utterance.position, utterance.utterance_id
  } AS uids
