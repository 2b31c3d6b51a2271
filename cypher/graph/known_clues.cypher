// Which of these clues there are, by uid.
//
// $memory  STRING        name of the memory
// $uids    LIST<STRING>  clues to look for
//
// -> uid  STRING  the clue

CYPHER 25
UNWIND $uids AS uid
MATCH (clue:Clue {memory: $memory, uid: uid})
RETURN clue.uid AS uid
ORDER BY uid
