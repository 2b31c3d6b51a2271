// Version of the Graph Data Science plugin; fails where it is missing.
//
// -> version  STRING  2.26.0

CYPHER 25
RETURN gds.version() AS version
