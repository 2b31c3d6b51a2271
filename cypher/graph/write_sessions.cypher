// Makes the sessions that are new; leaves the others as they are.
//
// $memory  STRING     name of the memory
// $rows    LIST<MAP>  session_id, uid, number, title, started_at, clue_state, clue_source

CYPHER 25
UNWIND $rows AS row
MERGE (session:Session {memory: $memory, session_id: row.session_id})
ON CREATE SET
  session.uid = row.uid, session.number = row.number, session.title = row.title,
  session.started_at = row.started_at, session.clue_state = row.clue_state, session.clue_source = row.clue_source
