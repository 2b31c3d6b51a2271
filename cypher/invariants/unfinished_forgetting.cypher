// Memories whose forgetting was cut short: forget them again, it goes on.
//
// $memory  STRING  the memory checked; no other is read
//
// -> count  INTEGER  how many

CYPHER 25
MATCH (memory:Memory {name: $memory})
WHERE memory.forgetting_since IS NOT NULL
RETURN count(memory) AS count
