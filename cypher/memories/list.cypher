// The memories of this database by name. The one statement that reads more than one memory; it returns counts only.
//
// -> memory      STRING          name of the memory
// -> utterances  INTEGER         utterances stored
// -> sessions    INTEGER         sessions stored
// -> clues       INTEGER         clues stored
// -> embedder    STRING          name of the embedder it was built with
// -> created_at  ZONED DATETIME  when it was made

CYPHER 25
MATCH (memory:Memory)
RETURN
  memory.name AS memory, memory.utterances AS utterances,
  COUNT { MATCH (session:Session {memory: memory.name}) WHERE session.session_id IS NOT NULL } AS sessions,
  COUNT { MATCH (clue:Clue {memory: memory.name}) WHERE clue.kind IS NOT NULL } AS clues,
  memory.embedder_name AS embedder, memory.created_at AS created_at
ORDER BY memory
