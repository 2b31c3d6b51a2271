// Indexes of this database with what they cover.
//
// -> name        STRING        the index's name
// -> labels      LIST<STRING>  labels covered
// -> properties  LIST<STRING>  properties covered, filter properties included
// -> state       STRING        ONLINE, POPULATING or FAILED

CYPHER 25
SHOW INDEXES YIELD name, labelsOrTypes, properties, state
RETURN name, labelsOrTypes AS labels, properties, state
ORDER BY name
