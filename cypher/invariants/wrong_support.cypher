// Clues whose support is not the number of utterances that belong to them.
//
// $memory  STRING  the memory checked; no other is read
//
// -> count  INTEGER  how many

CYPHER 25
MATCH (clue:Clue {memory: $memory})
WHERE clue.kind IS NOT NULL AND clue.support <> COUNT { (clue)<-[:BELONGS]-(:Utterance {memory: $memory}) }
RETURN count(clue) AS count
