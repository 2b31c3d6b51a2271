// Who asks, and who gets a reply.
//
// $memory  STRING        name of the memory
// $limit   INTEGER = 20  rows at most
//
// -> speaker    STRING          who asks
// -> questions  INTEGER         utterances that ask something
// -> share      FLOAT           of all that they said, 0..1
// -> replied    INTEGER         questions after which somebody else spoke, within 3 utterances
// -> latest_at  ZONED DATETIME  the latest question, or null
// -> latest     STRING          its first 200 characters

CYPHER 25
MATCH (utterance:Utterance {memory: $memory})
WHERE utterance.ordinal >= 0
WITH utterance, coalesce(utterance.asks, utterance.text CONTAINS '?') AS asks
ORDER BY utterance.instant, utterance.uid
WITH utterance.speaker_key AS key, min(utterance.speaker) AS speaker, count(utterance) AS said,
  collect(CASE WHEN asks THEN utterance END) AS asked
WHERE size(asked) > 0
CALL (asked) {
  UNWIND asked AS one
  WITH one
  WHERE EXISTS {
    MATCH (reply:Utterance {memory: $memory, session_id: one.session_id})
    WHERE one.position < reply.position <= one.position + 3 AND reply.speaker_key <> one.speaker_key
  }
  RETURN count(one) AS replied
}
RETURN
  speaker, size(asked) AS questions, toFloat(size(asked)) / said AS share, replied,
  asked[-1].said_at AS latest_at, left(asked[-1].text, 200) AS latest
ORDER BY questions DESC, key
LIMIT $limit
