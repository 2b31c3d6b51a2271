// Plans and dates: utterances that talk of a time after they were said.
//
// $memory  STRING        name of the memory
// $limit   INTEGER = 20  rows at most, the farthest ahead of the end of the memory first
//
// -> said_at       ZONED DATETIME  when it was said
// -> means_from    ZONED DATETIME  start of the time it talks of
// -> means_to      ZONED DATETIME  its end
// -> days_ahead    INTEGER         days from the one to the other
// -> speaker       STRING          who said it
// -> text          STRING          its first 200 characters
// -> utterance_id  STRING          the utterance

CYPHER 25
MATCH (utterance:Utterance {memory: $memory})
WHERE utterance.said_at IS NOT NULL AND utterance.means_from IS NOT NULL
UNWIND range(0, size(utterance.means_from) - 1) AS place
WITH utterance, utterance.means_from[place] AS means_from, utterance.means_to[place] AS means_to
WHERE means_from > utterance.said_at
RETURN
  utterance.said_at AS said_at, means_from, means_to,
  duration.inDays(utterance.said_at, means_from).days AS days_ahead, utterance.speaker AS speaker,
  left(utterance.text, 200) AS text, utterance.utterance_id AS utterance_id
ORDER BY means_from DESC, means_to DESC, utterance.uid
LIMIT $limit
