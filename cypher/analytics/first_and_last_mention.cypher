// First and last mention of each clue.
//
// $memory  STRING        name of the memory
// $kind    STRING = ''   clues of this kind alone; '' all but topics, which name whole sessions
// $limit   INTEGER = 20  rows at most
//
// -> kind        STRING          topic, phrase, person, place, ...
// -> clue        STRING          the clue
// -> first_at    ZONED DATETIME  when it was first mentioned
// -> last_at     ZONED DATETIME  when it was last mentioned
// -> days        INTEGER         days from the one to the other
// -> utterances  INTEGER         utterances that belong to it and carry a time

CYPHER 25
MATCH (node:Clue {memory: $memory})
WHERE node.kind IS NOT NULL AND CASE $kind WHEN '' THEN node.kind <> 'topic' ELSE node.kind = $kind END
MATCH (node)<-[:BELONGS]-(utterance:Utterance {memory: $memory})
WHERE utterance.said_at IS NOT NULL
WITH node, min(utterance.said_at) AS first_at, max(utterance.said_at) AS last_at, count(utterance) AS utterances
RETURN
  node.kind AS kind, node.text AS clue, first_at, last_at, duration.inDays(first_at, last_at).days AS days, utterances
ORDER BY days DESC, utterances DESC, node.uid
LIMIT $limit
