// Clues that connect others: betweenness over clues that are mentioned together.
//
// $memory  STRING        name of the memory
// $limit   INTEGER = 20  rows at most
//
// -> kind        STRING   phrase, person, place, ...
// -> clue        STRING   the clue
// -> score       FLOAT    shortest paths between others that run through it, above 0; from 500 sampled clues
// -> utterances  INTEGER  utterances that belong to it
// -> sessions    INTEGER  sessions they are in

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
  CALL gds.betweenness.stream(projected.graphName, {
    samplingSize: CASE WHEN projected.nodeCount < 500 THEN projected.nodeCount ELSE 500 END, samplingSeed: 7,
    concurrency: 1, logProgress: false
  })
  YIELD nodeId, score
  RETURN collect({node: nodeId, score: score}) AS ranks
}
CALL gds.graph.drop(projected.graphName, false) YIELD graphName
UNWIND ranks AS rank
WITH gds.util.asNode(rank.node) AS node, rank.score AS score
WHERE score > 0
ORDER BY score DESC, node.uid
LIMIT $limit
RETURN
  node.kind AS kind, node.text AS clue, score, node.support AS utterances,
  COUNT {
    MATCH (node)<-[:BELONGS]-(:Utterance {memory: $memory})-[:IN]->(session:Session {memory: $memory})
    RETURN DISTINCT session
  } AS sessions
ORDER BY score DESC, node.uid
