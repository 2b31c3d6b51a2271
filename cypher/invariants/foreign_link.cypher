// Links from a node of this memory to one of another.
//
// $memory  STRING  the memory checked; no other is read
//
// -> count  INTEGER  how many

CYPHER 25
CALL () {
  MATCH (node:Utterance {memory: $memory}) WHERE node.ordinal >= 0 RETURN node
  UNION ALL
  MATCH (node:Clue {memory: $memory}) WHERE node.kind IS NOT NULL RETURN node
}
MATCH (node)-[link:BELONGS|SIMILAR|NEXT|IN]-(other)
WHERE other.memory <> $memory
RETURN count(DISTINCT link) AS count
