// Chunks of utterances without posting lists or layout: their words are not found.
//
// $memory  STRING  the memory checked; no other is read
//
// -> count  INTEGER  how many

CYPHER 25
MATCH (utterance:Utterance {memory: $memory})
WHERE utterance.ordinal >= 0
WITH DISTINCT utterance.ordinal / 4096 AS chunk
WHERE NOT EXISTS { MATCH (layout:Layout {memory: $memory, chunk: chunk}) }
RETURN count(chunk) AS count
