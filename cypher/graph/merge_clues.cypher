// Moves utterances and wordings of one clue to another, and deletes it.
//
// $memory    STRING        name of the memory
// $uid       STRING        the clue that stays
// $merged    STRING        the clue that goes
// $wordings  LIST<STRING>  spellings of both

CYPHER 25
MATCH (clue:Clue {memory: $memory, uid: $uid})
MATCH (merged:Clue {memory: $memory, uid: $merged})
CALL (clue, merged) {
  MATCH (merged)<-[old:BELONGS]-(utterance:Utterance {memory: $memory})
  MERGE (utterance)-[belongs:BELONGS]->(clue)
  ON CREATE SET belongs.weight = old.weight, belongs.source = old.source
}
SET clue.wordings = $wordings
DETACH DELETE merged
