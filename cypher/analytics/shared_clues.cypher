// What speakers have in common: clues that two of them talk about.
//
// $memory  STRING        name of the memory
// $limit   INTEGER = 20  rows at most
//
// -> speaker   STRING        one of the two
// -> other     STRING        the other
// -> clues     INTEGER       clues besides topics that both talk about
// -> alike     FLOAT         of the clues of either, 0..1 (Jaccard)
// -> examples  LIST<STRING>  up to 8 of them, the rarest first

CYPHER 25
MATCH (utterance:Utterance {memory: $memory})-[:BELONGS]->(clue:Clue {memory: $memory})
WHERE utterance.ordinal >= 0 AND clue.kind <> 'topic'
WITH clue, utterance.speaker_key AS key, min(utterance.speaker) AS speaker
ORDER BY key
WITH clue, collect({key: key, speaker: speaker})[..64] AS speakers
WITH collect({clue: clue, speakers: speakers}) AS known
CALL (known) {
  UNWIND known AS one
  UNWIND one.speakers AS speaker
  WITH speaker.key AS key, count(*) AS clues
  RETURN collect({key: key, clues: clues}) AS totals
}
UNWIND known AS one
UNWIND one.speakers AS first
UNWIND one.speakers AS second
WITH totals, one.clue AS clue, first, second
WHERE first.key < second.key
ORDER BY clue.support, clue.uid
WITH totals, first.key AS key, second.key AS other_key, min(first.speaker) AS speaker, min(second.speaker) AS other,
  count(clue) AS clues, collect(clue.text)[..8] AS examples
WITH key, other_key, speaker, other, clues, examples,
  reduce(total = 0, one IN totals | total + CASE WHEN one.key IN [key, other_key] THEN one.clues ELSE 0 END) AS either
RETURN speaker, other, clues, toFloat(clues) / (either - clues) AS alike, examples
ORDER BY clues DESC, key, other_key
LIMIT $limit
