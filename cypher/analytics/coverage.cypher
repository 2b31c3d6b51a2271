// Coverage: how much of a memory is dated, anchored and linked.
//
// $memory  STRING  name of the memory
//
// -> measure  STRING   what is counted
// -> count    INTEGER  how many
// -> share    FLOAT    of all utterances, sessions or clues, 0..1; null where there are none

CYPHER 25
CALL () {
  MATCH (utterance:Utterance {memory: $memory})
  WHERE utterance.ordinal >= 0
  WITH utterance, EXISTS { (utterance)-[:BELONGS]->(:Clue {memory: $memory}) } AS anchored,
    EXISTS { (utterance)-[:SIMILAR]-(:Utterance {memory: $memory}) } AS similar,
    EXISTS {
      MATCH (utterance)-[:BELONGS]->(clue:Clue {memory: $memory})
      WHERE clue.kind <> 'topic'
    } AS anchored_closely
  WITH count(utterance) AS total, count(utterance.said_at) AS dated, count(utterance.means_from) AS means,
    count(utterance.embedding) AS embedded, count(CASE WHEN anchored THEN 1 END) AS anchored,
    count(CASE WHEN anchored_closely THEN 1 END) AS closely, count(CASE WHEN similar THEN 1 END) AS similar
  UNWIND [
    ['utterances', total], ['utterances with a time', dated], ['utterances that talk of a time', means],
    ['utterances with a vector', embedded], ['utterances with a clue', anchored],
    ['utterances without a clue', total - anchored], ['utterances with a clue besides the topic', closely],
    ['utterances with a similar utterance', similar]
  ] AS pair
  RETURN 1 AS part, pair[0] AS measure, pair[1] AS count, total
  UNION ALL
  MATCH (session:Session {memory: $memory})
  WHERE session.session_id IS NOT NULL
  WITH count(session) AS total, count(session.started_at) AS dated,
    count(CASE WHEN session.clue_source <> 'words' THEN 1 END) AS read
  UNWIND [
    ['sessions', total], ['sessions with a time', dated], ['sessions whose clues are given or by a model', read]
  ] AS pair
  RETURN 2 AS part, pair[0] AS measure, pair[1] AS count, total
  UNION ALL
  MATCH (clue:Clue {memory: $memory})
  WHERE clue.kind IS NOT NULL
  WITH count(clue) AS total, count(CASE WHEN clue.support = 1 THEN 1 END) AS single,
    count(CASE WHEN size(clue.wordings) > 1 THEN 1 END) AS merged,
    count(CASE WHEN EXISTS { (clue)-[:SIMILAR]-(:Clue {memory: $memory}) } THEN 1 END) AS similar
  UNWIND [
    ['clues', total], ['clues of one utterance', single], ['clues of several wordings', merged],
    ['clues with a similar clue', similar]
  ] AS pair
  RETURN 3 AS part, pair[0] AS measure, pair[1] AS count, total
}
RETURN measure, count, CASE WHEN total > 0 THEN toFloat(count) / total END AS share
ORDER BY part, count DESC, measure
