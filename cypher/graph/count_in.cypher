// Ends a write: what it added, and where the next one goes on.
//
// $memory        STRING   name of the memory
// $utterances    INTEGER  utterances added; negative when some were forgotten
// $dated         INTEGER  of them with a time
// $assistant     INTEGER  of them said by an assistant to its user
// $next_ordinal  INTEGER  ordinal of the next utterance
// $next_session  INTEGER  number of the next session

CYPHER 25
MATCH (memory:Memory {name: $memory})
SET
  memory.utterances = memory.utterances + $utterances, memory.dated = memory.dated + $dated,
  memory.assistant = memory.assistant + $assistant,
  memory.next_ordinal = $next_ordinal, memory.next_session = $next_session
