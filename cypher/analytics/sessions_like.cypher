// Sessions like one of them: what they share, rare clues counting most.
//
// $memory      STRING        name of the memory
// $session_id  STRING = ''   the session to compare with; '' the latest
// $limit       INTEGER = 20  rows at most
//
// -> session_id     STRING          a session like it
// -> title          STRING          its title, or null
// -> started_at     ZONED DATETIME  when it began, or null
// -> score          FLOAT           1 / ln(1 + utterances) of each shared clue, summed, and similar
// -> shared         LIST<STRING>    up to 8 shared clues, the rarest first
// -> similar        INTEGER         pairs of similar utterances
// -> compared_with  STRING          the session compared with

CYPHER 25
MATCH (any:Session {memory: $memory})
WHERE any.session_id IS NOT NULL AND ($session_id = '' OR any.session_id = $session_id)
WITH any
ORDER BY any.started_at IS NULL, any.started_at DESC, any.number DESC, any.uid
LIMIT 1
CALL (any) {
  MATCH (any)<-[:IN]-(:Utterance {memory: $memory})-[:BELONGS]->(clue:Clue {memory: $memory})
  WITH DISTINCT any, clue
  MATCH (clue)<-[:BELONGS]-(:Utterance {memory: $memory})-[:IN]->(like:Session {memory: $memory})
  WHERE like <> any
  WITH DISTINCT like, clue
  RETURN like, clue, 0 AS similar
  UNION ALL
  MATCH (any)<-[:IN]-(:Utterance {memory: $memory})-[link:SIMILAR]-(:Utterance {memory: $memory})-[:IN]->
    (like:Session {memory: $memory})
  WHERE like <> any
  RETURN like, null AS clue, count(link) AS similar
}
WITH any, like, clue, similar
ORDER BY clue.support, clue.uid
WITH any, like, collect(clue.text) AS shared, sum(similar) AS similar,
  sum(CASE WHEN clue IS NULL THEN 0.0 ELSE 1 / log(1 + clue.support) END) + sum(similar) AS score
RETURN
  like.session_id AS session_id, like.title AS title, like.started_at AS started_at, score,
  shared[..8] AS shared, similar, any.session_id AS compared_with
ORDER BY score DESC, like.uid
LIMIT $limit
