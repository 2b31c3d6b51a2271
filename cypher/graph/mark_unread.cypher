// Notes why a language model could not read a session; one whose clues it has stored meanwhile stays as it is.
//
// $memory      STRING  name of the memory
// $session_id  STRING  the session
// $clue_state  STRING  failed: its replies could not be used; pending: there were none
// $why         STRING  in words

CYPHER 25
MATCH (session:Session {memory: $memory, session_id: $session_id})
WHERE session.clue_state <> 'done' OR coalesce(session.clue_source, 'words') = 'words'
SET session.clue_state = $clue_state, session.clue_failure = $why
