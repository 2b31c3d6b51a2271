// Personalised PageRank in GDS over a graph given as lists; projects, ranks and drops it.
//
// $graph       STRING             name of the projection, unique for the question; begins with the memory's key
// $sources     LIST<INTEGER>      start of each edge
// $targets     LIST<INTEGER>      end of each edge
// $weights     LIST<FLOAT>        weight of each edge, above 0
// $seeds       LIST<LIST<ANY>>    [node, bias] pairs; the biases sum to 1
// $damping     FLOAT              0..1
// $iterations  INTEGER            1 or more
//
// -> ranks  LIST<LIST<ANY>>  [node, score] pairs

CYPHER 25
UNWIND range(0, size($sources) - 1) AS edge
WITH gds.graph.project(
  $graph, $sources[edge], $targets[edge],
  {relationshipProperties: {weight: $weights[edge]}}, {readConcurrency: 1}
) AS projected
CALL gds.pageRank.stream(projected.graphName, {
  sourceNodes: $seeds, dampingFactor: $damping, maxIterations: $iterations, tolerance: 0.0,
  relationshipWeightProperty: 'weight', concurrency: 1, logProgress: false
})
YIELD nodeId, score
WITH projected, collect([nodeId, score]) AS ranks
CALL gds.graph.drop(projected.graphName, false) YIELD graphName
RETURN ranks
