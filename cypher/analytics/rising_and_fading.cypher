// Rising and fading clues: mentions in the later half of a memory's time against the earlier half.
//
// $memory  STRING        name of the memory
// $kind    STRING = ''   clues of this kind alone; '' all but topics, which name whole sessions
// $limit   INTEGER = 20  rows at most
//
// -> kind     STRING          topic, phrase, person, place, ...
// -> clue     STRING          the clue
// -> earlier  INTEGER         mentions in the earlier half of the time
// -> later    INTEGER         mentions in the later half
// -> change   INTEGER         later minus earlier: above 0 it rises, below 0 it fades
// -> last_at  ZONED DATETIME  last mention

CYPHER 25
MATCH (any:Utterance {memory: $memory})
WHERE any.said_at IS NOT NULL
WITH (min(any.instant) + max(any.instant)) / 2 AS middle
MATCH (node:Clue {memory: $memory})
WHERE node.kind IS NOT NULL AND CASE $kind WHEN '' THEN node.kind <> 'topic' ELSE node.kind = $kind END
MATCH (node)<-[:BELONGS]-(utterance:Utterance {memory: $memory})
WHERE utterance.said_at IS NOT NULL
WITH node, count(CASE WHEN utterance.instant <= middle THEN 1 END) AS earlier,
  count(CASE WHEN utterance.instant > middle THEN 1 END) AS later, max(utterance.said_at) AS last_at
WHERE earlier <> later
RETURN node.kind AS kind, node.text AS clue, earlier, later, later - earlier AS change, last_at
ORDER BY abs(change) DESC, later DESC, node.uid
LIMIT $limit
