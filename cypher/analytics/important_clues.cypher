// The most important clues: PageRank over clues that are mentioned together.
//
// $memory  STRING        name of the memory
// $limit   INTEGER = 20  rows at most
//
// -> kind        STRING        phrase, person, place, ...
// -> clue        STRING        the clue
// -> score       FLOAT         PageRank; 1 is the average of a clue with average neighbours
// -> utterances  INTEGER       utterances that belong to it
// -> beside      LIST<STRING>  up to 5 clues it is most often mentioned with

CYPHER 25
MATCH (memory:Memory {name: $memory})
WITH 'assomem_' + memory.key + '_analytics_' + randomUUID() AS graph
MATCH (node:Clue {memory: $memory})
WHERE node.kind IS NOT NULL AND node.kind <> 'topic'
OPTIONAL MATCH (node)<-[:BELONGS]-(utterance:Utterance {memory: $memory})-[:BELONGS]->(other:Clue {memory: $memory})
WHERE other.kind <> 'topic' AND node.uid < other.uid
WITH graph, node, other, count(utterance) AS together
WITH gds.graph.project(
  graph, node, other,
  {relationshipProperties: {together: toFloat(together)}}, {undirectedRelationshipTypes: ['*'], readConcurrency: 1}
) AS projected
WITH projected
WHERE projected IS NOT NULL
CALL (projected) {
  CALL gds.pageRank.stream(projected.graphName, {
    relationshipWeightProperty: 'together', maxIterations: 40, concurrency: 1, logProgress: false
  })
  YIELD nodeId, score
  RETURN collect({node: nodeId, score: score}) AS ranks
}
CALL gds.graph.drop(projected.graphName, false) YIELD graphName
UNWIND ranks AS rank
WITH gds.util.asNode(rank.node) AS node, rank.score AS score
ORDER BY score DESC, node.uid
LIMIT $limit
RETURN
  node.kind AS kind, node.text AS clue, score, node.support AS utterances,
  COLLECT {
    MATCH (node)<-[:BELONGS]-(utterance:Utterance {memory: $memory})-[:BELONGS]->(other:Clue {memory: $memory})
    WHERE other.kind <> 'topic'
    WITH other, count(utterance) AS together
    RETURN other.text ORDER BY together DESC, other.uid LIMIT 5
  } AS beside
ORDER BY score DESC, node.uid
