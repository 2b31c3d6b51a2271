// Speakers and their shares of what was said.
//
// $memory  STRING        name of the memory
// $limit   INTEGER = 20  rows at most
//
// -> speaker         STRING          who speaks
// -> utterances      INTEGER         what they said
// -> share           FLOAT           of all utterances, 0..1
// -> words           INTEGER         words in them
// -> share_of_words  FLOAT           of all words, 0..1
// -> sessions        INTEGER         sessions they speak in
// -> first_at        ZONED DATETIME  their first utterance, or null
// -> last_at         ZONED DATETIME  their last utterance, or null

CYPHER 25
MATCH (utterance:Utterance {memory: $memory})
WHERE utterance.ordinal >= 0
WITH utterance.speaker_key AS key, min(utterance.speaker) AS speaker, count(utterance) AS utterances,
  sum(size(split(trim(utterance.text), ' '))) AS words, count(DISTINCT utterance.session_id) AS sessions,
  min(utterance.said_at) AS first_at, max(utterance.said_at) AS last_at
WITH sum(utterances) AS total, sum(words) AS total_words, collect({
  key: key, speaker: speaker, utterances: utterances, words: words, sessions: sessions,
  first_at: first_at, last_at: last_at
}) AS speakers
UNWIND speakers AS one
RETURN
  one.speaker AS speaker, one.utterances AS utterances, toFloat(one.utterances) / total AS share, one.words AS words,
  toFloat(one.words) / total_words AS share_of_words, one.sessions AS sessions,
  one.first_at AS first_at, one.last_at AS last_at
ORDER BY utterances DESC, one.key
LIMIT $limit
