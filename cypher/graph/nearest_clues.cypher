// Clues of one kind near to a vector, by the index: for memories too large to compare with all.
//
// $memory  STRING   name of the memory
// $kind    STRING   kind of the clues
// $vector  VECTOR   the vector
// $limit   INTEGER  at most this many
//
// -> uid     STRING  the clue
// -> text    STRING  the clue itself
// -> cosine  FLOAT   -1..1

CYPHER 25
MATCH (clue:Clue)
SEARCH clue IN (
  VECTOR INDEX clue_embedding FOR $vector WHERE clue.memory = $memory AND clue.kind = $kind LIMIT $limit
) SCORE AS score
RETURN clue.uid AS uid, clue.text AS text, 2 * score - 1 AS cosine
ORDER BY cosine DESC, uid
