// The graph of places: which are mentioned together.
//
// $memory  STRING        name of the memory
// $limit   INTEGER = 20  rows at most
//
// -> place       STRING          a place, the first of the two by name
// -> other       STRING          another place
// -> sessions    INTEGER         sessions that mention both
// -> utterances  INTEGER         utterances that mention both
// -> first_at    ZONED DATETIME  start of the first such session, or null
// -> last_at     ZONED DATETIME  start of the last such session, or null

CYPHER 25
MATCH (one:Clue {memory: $memory, kind: 'place'})<-[:BELONGS]-(said:Utterance {memory: $memory})
WITH said.session_id AS session_id, one, collect(said.uid) AS said
WITH session_id, collect({clue: one, said: said}) AS mentioned
MATCH (session:Session {memory: $memory, session_id: session_id})
UNWIND mentioned AS first
UNWIND mentioned AS further
WITH session, first, further
WHERE [first.clue.text, first.clue.uid] < [further.clue.text, further.clue.uid]
WITH first.clue AS one, further.clue AS second, count(session) AS sessions,
  sum(size([uid IN first.said WHERE uid IN further.said])) AS utterances,
  min(session.started_at) AS first_at, max(session.started_at) AS last_at
RETURN one.text AS place, second.text AS other, sessions, utterances, first_at, last_at
ORDER BY sessions DESC, utterances DESC, one.uid, second.uid
LIMIT $limit
