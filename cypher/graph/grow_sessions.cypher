// Notes that sessions grew, or were given clues: what a language model has read waits to be read again.
//
// $memory  STRING     name of the memory
// $rows    LIST<MAP>  session_id, clue_state (pending, done), clue_source (words, given)

CYPHER 25
UNWIND $rows AS row
MATCH (session:Session {memory: $memory, session_id: row.session_id})
WITH session, row, row.clue_source = 'words' AND session.clue_source STARTS WITH 'model ' AS outdated
SET
  session.clue_state = CASE WHEN outdated THEN 'pending' ELSE row.clue_state END,
  session.clue_source = CASE WHEN outdated THEN session.clue_source ELSE row.clue_source END,
  session.clue_failure = null
