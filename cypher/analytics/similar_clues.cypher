// Clues that may be one: pairs whose meaning is similar, candidates for clues merge.
//
// $memory  STRING        name of the memory
// $limit   INTEGER = 20  rows at most
//
// -> kind        STRING   kind of the one
// -> clue        STRING   the one, with more utterances
// -> other_kind  STRING   kind of the other
// -> other       STRING   the other
// -> score       FLOAT    cosine of the two
// -> together    INTEGER  utterances that belong to both
// -> utterances  INTEGER  utterances that belong to the one
// -> of_other    INTEGER  utterances that belong to the other

CYPHER 25
MATCH (first:Clue {memory: $memory})-[link:SIMILAR]->(second:Clue {memory: $memory})
WHERE first.kind IS NOT NULL
WITH link,
  CASE WHEN first.support >= second.support THEN [first, second] ELSE [second, first] END AS pair
WITH link, pair[0] AS one, pair[1] AS two
ORDER BY link.score DESC, one.uid, two.uid
LIMIT $limit
RETURN
  one.kind AS kind, one.text AS clue, two.kind AS other_kind, two.text AS other, link.score AS score,
  COUNT { (one)<-[:BELONGS]-(:Utterance {memory: $memory})-[:BELONGS]->(two) } AS together,
  one.support AS utterances, two.support AS of_other
ORDER BY score DESC, one.uid, two.uid
