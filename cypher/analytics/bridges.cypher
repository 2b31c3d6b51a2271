// Bridges between topics: clues that are mentioned in sessions of several topics.
//
// $memory  STRING        name of the memory
// $limit   INTEGER = 20  rows at most
//
// -> kind        STRING        phrase, person, place, ...
// -> clue        STRING        the clue
// -> topics      INTEGER       topics it connects, 2 or more
// -> names       LIST<STRING>  up to 8 of them
// -> utterances  INTEGER       utterances that belong to it

CYPHER 25
MATCH (node:Clue {memory: $memory})
WHERE node.kind IS NOT NULL AND node.kind <> 'topic' AND node.support > 1
MATCH (node)<-[:BELONGS]-(:Utterance {memory: $memory})-[:BELONGS]->(topic:Clue {memory: $memory, kind: 'topic'})
WITH DISTINCT node, topic
ORDER BY topic.uid
WITH node, collect(topic.text) AS names
WHERE size(names) > 1
ORDER BY size(names) DESC, node.support, node.uid
LIMIT $limit
RETURN node.kind AS kind, node.text AS clue, size(names) AS topics, names[..8] AS names, node.support AS utterances
ORDER BY topics DESC, utterances, node.uid
