// New clues month by month: how much comes up for the first time.
//
// $memory  STRING       name of the memory
// $kind    STRING = ''  clues of this kind alone; '' all but topics, which name whole sessions
//
// -> month        STRING        year and month, 2025-03
// -> new_clues    INTEGER       clues first mentioned in it
// -> known_clues  INTEGER       clues mentioned in it that were known before
// -> examples     LIST<STRING>  up to 8 of the new ones, those that matter most later first

CYPHER 25
MATCH (clue:Clue {memory: $memory})
WHERE clue.kind IS NOT NULL AND CASE $kind WHEN '' THEN clue.kind <> 'topic' ELSE clue.kind = $kind END
MATCH (clue)<-[:BELONGS]-(utterance:Utterance {memory: $memory})
WHERE utterance.said_at IS NOT NULL
WITH DISTINCT clue, substring(toString(date(utterance.said_at)), 0, 7) AS month
ORDER BY clue.support DESC, clue.uid
WITH clue, min(month) AS first, collect(month) AS months
ORDER BY clue.support DESC, clue.uid
UNWIND months AS month
WITH month, count(CASE WHEN month = first THEN 1 END) AS new_clues,
  count(CASE WHEN month > first THEN 1 END) AS known_clues,
  collect(CASE WHEN month = first THEN clue.text END) AS examples
RETURN month, new_clues, known_clues, examples[..8] AS examples
ORDER BY month
