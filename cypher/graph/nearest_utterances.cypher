// Utterances of a memory near to a vector, by the index: for memories too large to compare with all.
//
// $memory  STRING   name of the memory
// $vector  VECTOR   the vector
// $limit   INTEGER  at most this many
//
// -> uid     STRING  the utterance
// -> cosine  FLOAT   -1..1

CYPHER 25
MATCH (utterance:Utterance)
SEARCH utterance IN (
  VECTOR INDEX utterance_embedding FOR $vector WHERE utterance.memory = $memory LIMIT $limit
) SCORE AS score
RETURN utterance.uid AS uid, 2 * score - 1 AS cosine
ORDER BY cosine DESC, uid
