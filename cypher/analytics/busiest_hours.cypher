// The hours of the day at which things are said, in the zone of each utterance.
//
// $memory  STRING  name of the memory
//
// -> hour        INTEGER  0 .. 23
// -> utterances  INTEGER  utterances said in that hour
// -> share       FLOAT    of all utterances with a time, 0..1
// -> sessions    INTEGER  sessions they are in
// -> speaker     STRING   who says most in that hour

CYPHER 25
MATCH (utterance:Utterance {memory: $memory})
WHERE utterance.said_at IS NOT NULL
WITH utterance.said_at.hour AS hour, utterance.speaker_key AS key, min(utterance.speaker) AS speaker,
  collect(utterance.session_id) AS sessions
ORDER BY size(sessions) DESC, key
WITH hour, collect(speaker)[0] AS speaker, collect({sessions: sessions}) AS of_speakers
UNWIND of_speakers AS of_speaker
UNWIND of_speaker.sessions AS session_id
WITH hour, speaker, count(session_id) AS utterances, count(DISTINCT session_id) AS sessions
WITH sum(utterances) AS total,
  collect({hour: hour, speaker: speaker, utterances: utterances, sessions: sessions}) AS hours
UNWIND hours AS one
RETURN
  one.hour AS hour, one.utterances AS utterances, toFloat(one.utterances) / total AS share,
  one.sessions AS sessions, one.speaker AS speaker
ORDER BY hour
