// The longest silences: days on which nothing was said, between one utterance and the next.
//
// $memory  STRING        name of the memory
// $limit   INTEGER = 20  rows at most
//
// -> from        ZONED DATETIME  the last utterance before the silence
// -> to          ZONED DATETIME  the first one after it
// -> days        FLOAT           days between the two
// -> before      STRING          session of the one
// -> after       STRING          session of the other
// -> last_words  STRING          what was said last, its first 200 characters

CYPHER 25
MATCH (utterance:Utterance {memory: $memory})
WHERE utterance.said_at IS NOT NULL
WITH utterance
ORDER BY utterance.instant, utterance.session_id, utterance.position, utterance.uid
WITH utterance.session_id AS session_id, collect(utterance) AS said
WITH session_id, said[0] AS first, said[-1] AS last
ORDER BY first.instant, first.uid
WITH collect({session_id: session_id, first: first, last: last}) AS sessions
UNWIND range(1, size(sessions) - 1) AS place
WITH sessions[place - 1] AS earlier, sessions[place] AS later
WHERE earlier.last.instant < later.first.instant
RETURN
  earlier.last.said_at AS from, later.first.said_at AS to,
  (later.first.instant - earlier.last.instant) / 86400.0 AS days,
  earlier.session_id AS before, later.session_id AS after, left(earlier.last.text, 200) AS last_words
ORDER BY days DESC, later.first.uid
LIMIT $limit
