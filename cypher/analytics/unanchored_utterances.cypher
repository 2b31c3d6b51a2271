// Utterances that hang on no clue, or on a topic alone: only their words and meaning find them.
//
// $memory  STRING        name of the memory
// $limit   INTEGER = 20  rows at most, the longest utterances
//
// -> said_at       ZONED DATETIME  when it was said, or null
// -> speaker       STRING          who said it
// -> text          STRING          its first 200 characters
// -> topics        LIST<STRING>    topics it belongs to, up to 8; empty: it hangs on nothing
// -> session_id    STRING          the session
// -> utterance_id  STRING          the utterance

CYPHER 25
MATCH (utterance:Utterance {memory: $memory})
WHERE utterance.ordinal >= 0 AND NOT EXISTS {
  MATCH (utterance)-[:BELONGS]->(clue:Clue {memory: $memory})
  WHERE clue.kind <> 'topic'
}
WITH utterance, COLLECT {
  MATCH (utterance)-[:BELONGS]->(topic:Clue {memory: $memory, kind: 'topic'})
  RETURN topic.text ORDER BY topic.uid LIMIT 8
} AS topics
RETURN
  utterance.said_at AS said_at, utterance.speaker AS speaker, left(utterance.text, 200) AS text, topics,
  utterance.session_id AS session_id, utterance.utterance_id AS utterance_id
ORDER BY size(topics), size(utterance.text) DESC, utterance.uid
LIMIT $limit
