// Utterances that are in no session.
//
// $memory  STRING  the memory checked; no other is read
//
// -> count  INTEGER  how many

CYPHER 25
MATCH (utterance:Utterance {memory: $memory})
WHERE utterance.ordinal >= 0 AND NOT EXISTS { (utterance)-[:IN]->(:Session {memory: $memory}) }
RETURN count(utterance) AS count
