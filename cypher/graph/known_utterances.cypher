// Which of these utterances are stored already, to leave them as they are.
//
// $memory         STRING        name of the memory
// $utterance_ids  LIST<STRING>  ids to look for
//
// -> utterance_id  STRING  the caller's id
// -> session_id    STRING  the session it is in
// -> text          STRING  its text

CYPHER 25
UNWIND $utterance_ids AS utterance_id
MATCH (utterance:Utterance {memory: $memory, utterance_id: utterance_id})
RETURN utterance.utterance_id AS utterance_id, utterance.session_id AS session_id, utterance.text AS text
ORDER BY utterance_id
