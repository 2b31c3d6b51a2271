// Forgotten topics: what was talked about, and has not come up for long.
//
// $memory    STRING        name of the memory
// $kind      STRING = ''   clues of this kind alone; '' all but topics, which name whole sessions
// $at_least  INTEGER = 2   utterances that belonged to it, or more
// $days      INTEGER = 60  days without a mention before the memory's last utterance, or more
// $limit     INTEGER = 20  rows at most
//
// -> kind         STRING          topic, phrase, person, place, ...
// -> clue         STRING          the clue
// -> last_at      ZONED DATETIME  when it was last mentioned
// -> silent_days  INTEGER         days from then to the memory's last utterance
// -> utterances   INTEGER         utterances that belong to it and carry a time
// -> last_words   STRING          the last mention, its first 200 characters

CYPHER 25
MATCH (latest:Utterance {memory: $memory})
WHERE latest.said_at IS NOT NULL
WITH max(latest.said_at) AS now
MATCH (node:Clue {memory: $memory})
WHERE node.kind IS NOT NULL AND CASE $kind WHEN '' THEN node.kind <> 'topic' ELSE node.kind = $kind END
MATCH (node)<-[:BELONGS]-(utterance:Utterance {memory: $memory})
WHERE utterance.said_at IS NOT NULL
WITH now, node, utterance
ORDER BY utterance.instant, utterance.uid
WITH now, node, collect(utterance) AS mentions
WITH node, mentions[-1] AS last, size(mentions) AS utterances,
  duration.inDays(mentions[-1].said_at, now).days AS silent_days
WHERE utterances >= $at_least AND silent_days >= $days
RETURN
  node.kind AS kind, node.text AS clue, last.said_at AS last_at, silent_days, utterances,
  left(last.text, 200) AS last_words
ORDER BY utterances DESC, silent_days DESC, node.uid
LIMIT $limit
