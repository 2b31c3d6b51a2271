// Pairs of candidates of one speaker in different sessions that share rare clues.
//
// $memory    STRING         the memory searched; no other is read
// $ordinals  LIST<INTEGER>  the candidates
// $rarest    INTEGER        support of a clue at least, 2 or more
// $widest    INTEGER        support of a clue at most: a hub says nothing
// $total     FLOAT          utterances of the memory
//
// -> one     INTEGER        ordinal of one candidate
// -> other   INTEGER        ordinal of the other, larger
// -> clues   LIST<STRING>   the clues they share
// -> rarity  LIST<FLOAT>    squared inverse document frequency of each

CYPHER 25
UNWIND $ordinals AS wanted
MATCH (utterance:Utterance {memory: $memory, ordinal: wanted})-[:BELONGS]->(clue:Clue {memory: $memory})
USING INDEX utterance:Utterance(memory, ordinal)
WHERE $rarest <= clue.support <= $widest
WITH clue, collect(utterance) AS holding
WHERE size(holding) > 1
UNWIND holding AS one
UNWIND holding AS other
WITH clue, one, other
WHERE one.ordinal < other.ordinal AND one.speaker_key = other.speaker_key AND one.session_id <> other.session_id
WITH one.ordinal AS one, other.ordinal AS other, clue
ORDER BY clue.uid
RETURN one, other, collect(clue.text) AS clues, collect(log(1 + $total / (1 + clue.support)) ^ 2) AS rarity
ORDER BY one, other
