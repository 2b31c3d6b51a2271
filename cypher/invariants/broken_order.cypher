// Utterances that follow another in their session without a NEXT link.
//
// $memory  STRING  the memory checked; no other is read
//
// -> count  INTEGER  how many

CYPHER 25
MATCH (utterance:Utterance {memory: $memory})
WHERE utterance.ordinal >= 0
WITH utterance.session_id AS session_id, count(utterance) AS utterances,
  sum(COUNT { (utterance)-[:NEXT]->(:Utterance {memory: $memory, session_id: utterance.session_id}) }) AS links
WITH sum(abs(utterances - 1 - links)) AS missing
RETURN missing AS count
