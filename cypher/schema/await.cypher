// Waits until every index is online.
//
// $seconds  INTEGER  fails after so many seconds

CYPHER 25
CALL db.awaitIndexes($seconds)
