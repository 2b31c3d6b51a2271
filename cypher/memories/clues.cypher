// Clues of a memory, those with the most utterances first.
//
// $memory  STRING   name of the memory
// $limit   INTEGER  at most this many, 1 or more
//
// -> uid       STRING        the clue
// -> kind      STRING        topic, phrase, person, place, ...
// -> text      STRING        the clue
// -> wordings  LIST<STRING>  spellings merged into it
// -> support   INTEGER       utterances that belong to it
// -> sessions  INTEGER       sessions they are in

CYPHER 25
MATCH (clue:Clue {memory: $memory})
WHERE clue.kind IS NOT NULL
WITH clue
ORDER BY clue.support DESC, clue.text, clue.uid
LIMIT $limit
RETURN
  clue.uid AS uid, clue.kind AS kind, clue.text AS text, clue.wordings AS wordings, clue.support AS support,
  COUNT {
    MATCH (clue)<-[:BELONGS]-(:Utterance {memory: $memory})-[:IN]->(session:Session {memory: $memory})
    RETURN DISTINCT session
  } AS sessions
ORDER BY support DESC, text, uid
