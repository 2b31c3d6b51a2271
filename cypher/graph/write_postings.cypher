// Stores posting lists; an empty one is deleted.
//
// $memory  STRING     name of the memory
// $rows    LIST<MAP>  term, chunk, entries (null when empty)

CYPHER 25
UNWIND $rows AS row
MERGE (posting:Posting {memory: $memory, term: row.term, chunk: row.chunk})
SET posting.entries = row.entries
WITH posting
WHERE posting.entries IS NULL
DELETE posting
