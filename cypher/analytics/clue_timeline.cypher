// The most mentioned clues, month by month.
//
// $memory  STRING        name of the memory
// $kind    STRING = ''   clues of this kind alone; '' all but topics, which name whole sessions
// $clues   INTEGER = 12  clues at most, those with the most utterances
//
// -> month       STRING   year and month, 2025-03
// -> kind        STRING   topic, phrase, person, place, ...
// -> clue        STRING   the clue
// -> utterances  INTEGER  utterances that belong to it in that month

CYPHER 25
MATCH (clue:Clue {memory: $memory})
WHERE clue.kind IS NOT NULL AND CASE $kind WHEN '' THEN clue.kind <> 'topic' ELSE clue.kind = $kind END
WITH clue
ORDER BY clue.support DESC, clue.uid
LIMIT $clues
MATCH (clue)<-[:BELONGS]-(utterance:Utterance {memory: $memory})
WHERE utterance.said_at IS NOT NULL
WITH clue, substring(toString(date(utterance.said_at)), 0, 7) AS month, count(utterance) AS utterances
ORDER BY month, utterances DESC, clue.uid
RETURN month, clue.kind AS kind, clue.text AS clue, utterances
