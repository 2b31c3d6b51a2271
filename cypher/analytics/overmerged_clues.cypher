// Clues that may have been merged too far: several wordings, or utterances far from the clue's meaning.
//
// $memory    STRING        name of the memory
// $kind      STRING = ''   clues of this kind alone; '' all but topics, which name whole sessions
// $at_least  INTEGER = 2   utterances that belong to it, or more
// $limit     INTEGER = 20  rows at most
//
// -> kind        STRING        topic, phrase, person, place, ...
// -> clue        STRING        the clue
// -> wordings    LIST<STRING>  up to 12 spellings merged into it
// -> utterances  INTEGER       utterances that belong to it
// -> cohesion    FLOAT         mean cosine of the clue and up to 100 of them, -1..1; null without vectors
// -> farthest    STRING        the utterance farthest from it, its first 200 characters, or null

CYPHER 25
MATCH (node:Clue {memory: $memory})
WHERE node.kind IS NOT NULL AND node.support >= $at_least
  AND CASE $kind WHEN '' THEN node.kind <> 'topic' ELSE node.kind = $kind END
CALL (node) {
  MATCH (node)<-[:BELONGS]-(utterance:Utterance {memory: $memory})
  WITH node, utterance
  LIMIT 100
  WITH utterance, 2 * vector.similarity.cosine(node.embedding, utterance.embedding) - 1 AS cosine
  WHERE cosine IS NOT NULL
  ORDER BY cosine, utterance.uid
  RETURN avg(cosine) AS cohesion, collect(utterance.text)[0] AS farthest
}
RETURN
  node.kind AS kind, node.text AS clue, node.wordings[..12] AS wordings, node.support AS utterances, cohesion,
  left(farthest, 200) AS farthest
ORDER BY size(node.wordings) DESC, cohesion, node.uid
LIMIT $limit
