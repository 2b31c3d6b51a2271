// The longest sessions.
//
// $memory  STRING        name of the memory
// $limit   INTEGER = 20  rows at most
//
// -> session_id  STRING          the session
// -> title       STRING          its title, or null
// -> started_at  ZONED DATETIME  when it began, or null
// -> utterances  INTEGER         utterances in it
// -> words       INTEGER         words in them
// -> minutes     FLOAT           minutes from the first to the last of them, null without times
// -> speakers    LIST<STRING>    up to 12 who speak, by name
// -> topics      LIST<STRING>    up to 8 of its topics

CYPHER 25
MATCH (session:Session {memory: $memory})<-[:IN]-(utterance:Utterance {memory: $memory})
WHERE session.session_id IS NOT NULL
WITH session, utterance
ORDER BY utterance.speaker
WITH session, count(utterance) AS utterances, sum(size(split(trim(utterance.text), ' '))) AS words,
  duration.inSeconds(min(utterance.said_at), max(utterance.said_at)).seconds / 60.0 AS minutes,
  collect(DISTINCT utterance.speaker)[..12] AS speakers
ORDER BY utterances DESC, words DESC, session.uid
LIMIT $limit
RETURN
  session.session_id AS session_id, session.title AS title, session.started_at AS started_at, utterances, words,
  minutes, speakers,
  COLLECT {
    MATCH (session)<-[:IN]-(said:Utterance {memory: $memory})-[:BELONGS]->(topic:Clue {memory: $memory, kind: 'topic'})
    WITH topic, count(said) AS times
    RETURN topic.text ORDER BY times DESC, topic.uid LIMIT 8
  } AS topics
ORDER BY utterances DESC, words DESC, session.uid
