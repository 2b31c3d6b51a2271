// Imports that were cut short: run the same import again, it stores what is missing.
//
// $memory  STRING  the memory checked; no other is read
//
// -> count  INTEGER  how many

CYPHER 25
MATCH (unfinished:Unfinished {memory: $memory})
WHERE unfinished.token IS NOT NULL
RETURN count(unfinished) AS count
