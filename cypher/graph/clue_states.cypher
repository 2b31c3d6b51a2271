// How far the clues of each session are, oldest session first.
//
// $memory  STRING  name of the memory
//
// -> session_id   STRING  the session
// -> clue_state   STRING  pending, done or failed
// -> clue_source  STRING  words, given, or the language model that read it; null in a memory of an early version

CYPHER 25
MATCH (session:Session {memory: $memory})
WHERE session.session_id IS NOT NULL
RETURN session.session_id AS session_id, session.clue_state AS clue_state, session.clue_source AS clue_source
ORDER BY session.started_at IS NULL, session.started_at, session.number, session_id
