// Has sessions wait to be read by a language model again.
//
// $memory       STRING        name of the memory
// $session_ids  LIST<STRING>  the sessions

CYPHER 25
UNWIND $session_ids AS session_id
MATCH (session:Session {memory: $memory, session_id: session_id})
SET session.clue_state = 'pending', session.clue_failure = null
