// Open loops: questions without a reply in their session, or whose replies are unusually far in meaning.
//
// $memory  STRING        name of the memory
// $limit   INTEGER = 20  rows at most
//
// -> said_at       ZONED DATETIME  when it was asked, or null
// -> speaker       STRING          who asked
// -> question      STRING          its first 200 characters
// -> nearest       FLOAT           cosine to the nearest reply of others in the next 3 utterances; null: none
// -> reply         STRING          that reply, its first 200 characters, or null
// -> session_id    STRING          the session
// -> utterance_id  STRING          the question

CYPHER 25
MATCH (asked:Utterance {memory: $memory})
WHERE asked.ordinal >= 0 AND coalesce(asked.asks, asked.text CONTAINS '?')
OPTIONAL MATCH (reply:Utterance {memory: $memory, session_id: asked.session_id})
WHERE asked.position < reply.position <= asked.position + 3 AND reply.speaker_key <> asked.speaker_key
WITH asked, reply, 2 * vector.similarity.cosine(asked.embedding, reply.embedding) - 1 AS nearness
ORDER BY coalesce(nearness, -1) DESC, reply.position
WITH asked, collect(reply)[0] AS reply, max(nearness) AS nearest
WITH collect({asked: asked, reply: reply, nearest: nearest}) AS loops, avg(nearest) - stDev(nearest) AS far
UNWIND loops AS loop
WITH loop.asked AS asked, loop.reply AS reply, loop.nearest AS nearest, far
WHERE reply IS NULL OR nearest < far
RETURN
  asked.said_at AS said_at, asked.speaker AS speaker, left(asked.text, 200) AS question,
  nearest, left(reply.text, 200) AS reply, asked.session_id AS session_id, asked.utterance_id AS utterance_id
ORDER BY nearest IS NOT NULL, nearest, asked.instant DESC, asked.uid
LIMIT $limit
