// Wordings of clues, and what the utterances that still belong to them say.
//
// $memory  STRING        name of the memory
// $uids    LIST<STRING>  the clues
//
// -> uid       STRING        the clue
// -> text      STRING        the clue itself
// -> wordings  LIST<STRING>  spellings merged into it
// -> texts     LIST<STRING>  speaker and text of its utterances

CYPHER 25
UNWIND $uids AS uid
MATCH (clue:Clue {memory: $memory, uid: uid})
RETURN
  clue.uid AS uid, clue.text AS text, clue.wordings AS wordings,
  COLLECT {
    MATCH (clue)<-[:BELONGS]-(utterance:Utterance {memory: $memory})
    RETURN utterance.speaker + ': ' + utterance.text
    ORDER BY utterance.ordinal
  } AS texts
ORDER BY uid
