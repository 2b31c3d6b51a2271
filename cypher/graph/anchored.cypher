// Which utterances of some sessions belong to which clues already.
//
// $memory       STRING        name of the memory
// $session_ids  LIST<STRING>  the sessions
//
// -> utterance_id  STRING        the utterance
// -> kind          STRING        kind of the clue
// -> wordings      LIST<STRING>  texts under which the clue is known

CYPHER 25
UNWIND $session_ids AS session_id
MATCH (utterance:Utterance {memory: $memory, session_id: session_id})-[:BELONGS]->(clue:Clue {memory: $memory})
WHERE utterance.position >= 0
RETURN utterance.utterance_id AS utterance_id, clue.kind AS kind, clue.wordings AS wordings
ORDER BY utterance_id, clue.uid
