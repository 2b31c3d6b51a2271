// The days on which most was said.
//
// $memory  STRING        name of the memory
// $limit   INTEGER = 20  rows at most
//
// -> day         DATE     the day, in the zone of each utterance
// -> weekday     INTEGER  1 Monday .. 7 Sunday
// -> utterances  INTEGER  utterances said that day
// -> words       INTEGER  words in them
// -> sessions    INTEGER  sessions they are in
// -> speakers    INTEGER  people who spoke

CYPHER 25
MATCH (utterance:Utterance {memory: $memory})
WHERE utterance.said_at IS NOT NULL
WITH date(utterance.said_at) AS day, count(utterance) AS utterances,
  sum(size(split(trim(utterance.text), ' '))) AS words, count(DISTINCT utterance.session_id) AS sessions,
  count(DISTINCT utterance.speaker_key) AS speakers
RETURN day, day.dayOfWeek AS weekday, utterances, words, sessions, speakers
ORDER BY utterances DESC, words DESC, day
LIMIT $limit
