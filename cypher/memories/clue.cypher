// One clue.
//
// $memory  STRING  name of the memory
// $uid     STRING  the clue
//
// -> uid       STRING        the clue
// -> kind      STRING        topic, phrase, person, place, ...
// -> text      STRING        the clue
// -> wordings  LIST<STRING>  spellings merged into it
// -> support   INTEGER       utterances that belong to it
// -> sessions  INTEGER       sessions they are in

CYPHER 25
MATCH (clue:Clue {memory: $memory, uid: $uid})
RETURN
  clue.uid AS uid, clue.kind AS kind, clue.text AS text, clue.wordings AS wordings, clue.support AS support,
  COUNT {
    MATCH (clue)<-[:BELONGS]-(:Utterance {memory: $memory})-[:IN]->(session:Session {memory: $memory})
    RETURN DISTINCT session
  } AS sessions
