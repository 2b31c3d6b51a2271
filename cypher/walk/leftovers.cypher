// Projections of this package that no question uses any more.
//
// $prefix   STRING   name prefix of one memory's projections
// $seconds  INTEGER  older than this
//
// -> graph  STRING  name of the projection

CYPHER 25
CALL gds.graph.list() YIELD graphName, creationTime
WHERE graphName STARTS WITH $prefix AND creationTime < datetime() - duration({seconds: $seconds})
RETURN graphName AS graph
ORDER BY graph
