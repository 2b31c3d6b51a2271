// What a memory associates: the clues that bring the most sessions together, and what was said about each, in time.
//
// $memory  STRING  name of the memory
//
// -> clue      STRING        the clue
// -> kind      STRING        person, place, phrase, topic, ...
// -> sessions  INTEGER       sessions that it brings together, 2 or more
// -> said      LIST<STRING>  time, speaker and text of its utterances, oldest first, at most 10

CYPHER 25
MATCH (shared:Clue {memory: $memory})<-[:BELONGS]-(:Utterance {memory: $memory})-[:IN]->(session:Session {memory: $memory})
WITH shared, count(DISTINCT session) AS sessions
WHERE sessions > 1
ORDER BY sessions DESC, shared.support, shared.uid
LIMIT 25
RETURN
  shared.text AS clue, shared.kind AS kind, sessions,
  COLLECT {
    MATCH (shared)<-[:BELONGS]-(utterance:Utterance {memory: $memory})
    RETURN left(coalesce(toString(utterance.said_at), 'undated'), 16) + ' ' + utterance.speaker + ': ' + utterance.text
    ORDER BY utterance.instant, utterance.ordinal
    LIMIT 10
  } AS said
ORDER BY sessions DESC, shared.support, shared.uid
