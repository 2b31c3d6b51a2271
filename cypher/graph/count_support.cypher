// Counts the utterances that belong to these clues; a clue without any is deleted.
//
// $memory  STRING        name of the memory
// $uids    LIST<STRING>  clues to count
//
// -> deleted  INTEGER  clues deleted

CYPHER 25
UNWIND $uids AS uid
MATCH (clue:Clue {memory: $memory, uid: uid})
WITH clue, COUNT { (clue)<-[:BELONGS]-(:Utterance) } AS support
CALL (clue, support) {
  WITH clue, support
  WHERE support > 0
  SET clue.support = support
}
CALL (clue, support) {
  WITH clue, support
  WHERE support = 0
  DETACH DELETE clue
  RETURN count(*) AS deleted
}
RETURN sum(deleted) AS deleted
