// Links from a node of this memory to one of another.
//
// $memory  STRING  the memory checked; no other is read
//
// -> count  INTEGER  how many

CYPHER 25
MATCH (node:Utterance|Clue {memory: $memory})-[link:BELONGS|SIMILAR|NEXT|IN]-(other)
WHERE other.memory <> $memory
RETURN count(DISTINCT link) AS count
