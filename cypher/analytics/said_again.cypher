// What is said again: utterances similar to others, in other sessions.
//
// $memory  STRING        name of the memory
// $limit   INTEGER = 20  rows at most
//
// -> text           STRING          the utterance, its first 200 characters
// -> speaker        STRING          who said it
// -> said_at        ZONED DATETIME  when, or null
// -> other          STRING          the similar one, its first 200 characters
// -> other_speaker  STRING          who said that
// -> other_at       ZONED DATETIME  when, or null
// -> score          FLOAT           cosine of the two
// -> utterance_id   STRING          the utterance
// -> other_id       STRING          the other

CYPHER 25
MATCH (first:Utterance {memory: $memory})-[link:SIMILAR]->(second:Utterance {memory: $memory})
WHERE first.ordinal >= 0 AND first.session_id <> second.session_id
WITH link.score AS score,
  CASE WHEN first.instant <= second.instant THEN [first, second] ELSE [second, first] END AS pair
WITH score, pair[0] AS one, pair[1] AS other
RETURN
  left(one.text, 200) AS text, one.speaker AS speaker, one.said_at AS said_at, left(other.text, 200) AS other,
  other.speaker AS other_speaker, other.said_at AS other_at, score, one.utterance_id AS utterance_id,
  other.utterance_id AS other_id
ORDER BY score DESC, utterance_id, other_id
LIMIT $limit
