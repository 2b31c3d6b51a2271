// Rare clues that several candidates share, in one row.
//
// $memory    STRING         the memory searched; no other is read
// $ordinals  LIST<INTEGER>  the candidates
// $rarest    INTEGER        support of a clue at least, 2 or more
// $widest    INTEGER        support of a clue at most: a hub says nothing
//
// -> clues  LIST<LIST<ANY>>  [text, support, ordinals of the candidates that belong to it], by the clue's uid

CYPHER 25
UNWIND $ordinals AS wanted
MATCH (utterance:Utterance {memory: $memory, ordinal: wanted})-[:BELONGS]->(clue:Clue {memory: $memory})
USING INDEX utterance:Utterance(memory, ordinal)
WHERE $rarest <= clue.support <= $widest
WITH clue, collect(utterance.ordinal) AS holding
WHERE size(holding) > 1
WITH clue, holding
ORDER BY clue.uid
RETURN collect([clue.text, clue.support, holding]) AS clues
