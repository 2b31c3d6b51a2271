// Clues that no utterance belongs to.
//
// $memory  STRING  the memory checked; no other is read
//
// -> count  INTEGER  how many

CYPHER 25
MATCH (clue:Clue {memory: $memory})
WHERE clue.kind IS NOT NULL AND NOT EXISTS { (clue)<-[:BELONGS]-(:Utterance {memory: $memory}) }
RETURN count(clue) AS count
