// One session as a language model reads it, in one row; none for an unknown session.
//
// $memory      STRING  name of the memory
// $session_id  STRING  the session
//
// -> title          STRING                its title, or null
// -> started_at     ZONED DATETIME        when it began, or null
// -> utterance_ids  LIST<STRING>          its utterances in order
// -> speakers       LIST<STRING>          who says each
// -> texts          LIST<STRING>          what each says
// -> said_at        LIST<ZONED DATETIME>  when each was said, or null

CYPHER 25
MATCH (session:Session {memory: $memory, session_id: $session_id})
CALL (session) {
  MATCH (utterance:Utterance {memory: $memory, session_id: session.session_id})
  WHERE utterance.position >= 0
  WITH utterance
  ORDER BY utterance.position, utterance.utterance_id
  RETURN collect(utterance) AS utterances
}
RETURN
  session.title AS title, session.started_at AS started_at,
  [utterance IN utterances | utterance.utterance_id] AS utterance_ids,
  [utterance IN utterances | utterance.speaker] AS speakers,
  [utterance IN utterances | utterance.text] AS texts,
  [utterance IN utterances | utterance.said_at] AS said_at
