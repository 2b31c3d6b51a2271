// How many clues a memory holds.
//
// $memory  STRING  name of the memory
//
// -> clues  INTEGER  clues

CYPHER 25
MATCH (clue:Clue {memory: $memory})
WHERE clue.kind IS NOT NULL
RETURN count(clue) AS clues
