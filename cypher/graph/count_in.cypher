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
// Read first: a SET that reads what it sets takes its locks anew, in an order that deadlocks with a second writer who
// waits to begin.
WITH
  memory, memory.utterances + $utterances AS utterances, memory.dated + $dated AS dated,
  memory.assistant + $assistant AS assistant
SET
  memory.utterances = utterances, memory.dated = dated, memory.assistant = assistant,
  memory.next_ordinal = $next_ordinal, memory.next_session = $next_session
