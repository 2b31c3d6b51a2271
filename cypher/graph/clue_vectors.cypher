// The vectors of a memory's clues.
//
// $memory  STRING  name of the memory
// $dimensions  INTEGER  length of the vectors
//
// -> uid        STRING  the clue
// -> kind       STRING  its kind
// -> text    STRING  the clue itself
// -> embedding  VECTOR  its vector

CYPHER 25
MATCH (clue:Clue {memory: $memory})
WHERE clue.kind IS NOT NULL AND clue.embedding IS NOT NULL
RETURN clue.uid AS uid, clue.kind AS kind, clue.text AS text, vector(clue.embedding, $dimensions, FLOAT32) AS embedding
ORDER BY uid
