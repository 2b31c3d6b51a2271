// Utterances anchored to the clues nearest to the question, best first, in one row.
//
// $memory     STRING   the memory searched; no other is read
// $vector     VECTOR   the question's vector
// $clues      INTEGER  at most this many clues, 1 or more
// $kind_from  STRING   kind of the clues from here ...
// $kind_to    STRING   ... to here, both included
// $from       INTEGER  said at this instant or later, seconds since 1970; the smallest integer lets undated ones in
// $until      INTEGER  said before this instant
// $limit      INTEGER  at most this many utterances, 1 or more
//
// -> ordinals  LIST<INTEGER>  by the cosine of the nearest clue they belong to, then by their own

CYPHER 25
MATCH (clue:Clue)
SEARCH clue IN (
  VECTOR INDEX clue_embedding FOR $vector
  WHERE clue.memory = $memory AND clue.kind >= $kind_from AND clue.kind <= $kind_to
  LIMIT $clues
) SCORE AS score
MATCH (clue)<-[:BELONGS]-(utterance:Utterance {memory: $memory})
WHERE utterance.instant >= $from AND utterance.instant < $until
WITH utterance, max(score) AS nearest
ORDER BY nearest DESC, coalesce(vector.similarity.cosine(utterance.embedding, $vector), 0.0) DESC, utterance.ordinal
LIMIT $limit
RETURN collect(utterance.ordinal) AS ordinals
