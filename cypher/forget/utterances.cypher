// What is known of utterances about to be forgotten.
//
// $memory  STRING        name of the memory
// $uids    LIST<STRING>  the utterances
//
// -> uid          STRING        the utterance
// -> session_id   STRING        its session
// -> ordinal      INTEGER       its ordinal
// -> speaker      STRING        who said it
// -> speaker_key  STRING        the spelling by which speakers are compared
// -> text         STRING        its text
// -> dated        BOOLEAN       whether it has a time
// -> clue_uids    LIST<STRING>  clues it belongs to

CYPHER 25
UNWIND $uids AS uid
MATCH (utterance:Utterance {memory: $memory, uid: uid})
RETURN
  utterance.uid AS uid, utterance.session_id AS session_id, utterance.ordinal AS ordinal,
  utterance.speaker AS speaker, utterance.speaker_key AS speaker_key, utterance.text AS text,
  utterance.said_at IS NOT NULL AS dated,
  COLLECT { MATCH (utterance)-[:BELONGS]->(clue:Clue {memory: $memory}) RETURN clue.uid ORDER BY clue.uid } AS clue_uids
ORDER BY ordinal
