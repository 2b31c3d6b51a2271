// Drops a projection that a failed question may have left behind; no row when it is not there.
//
// $graph  STRING  name of the projection
//
// -> graph  STRING  its name

CYPHER 25
CALL gds.graph.drop($graph, false) YIELD graphName
RETURN graphName AS graph
