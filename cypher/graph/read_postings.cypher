// Posting lists of some terms of a memory.
//
// $memory  STRING        name of the memory
// $terms   LIST<STRING>  terms to look up
//
// -> term     STRING   the term
// -> chunk    INTEGER  chunk of ordinals, from 0
// -> entries  BYTES    the list

CYPHER 25
UNWIND $terms AS term
MATCH (posting:Posting {memory: $memory, term: term})
WHERE posting.chunk >= 0
RETURN posting.term AS term, posting.chunk AS chunk, posting.entries AS entries
ORDER BY term, chunk
