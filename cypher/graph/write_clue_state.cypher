// Notes that the clues of a session are there, and who read them.
//
// $memory       STRING  name of the memory
// $session_id   STRING  the session
// $clue_source  STRING  the language model that read it

CYPHER 25
MATCH (session:Session {memory: $memory, session_id: $session_id})
SET session.clue_state = 'done', session.clue_source = $clue_source, session.clue_failure = null
