// Posting lists of some terms of a memory in one chunk of ordinals.
//
// $memory  STRING        name of the memory
// $terms   LIST<STRING>  terms to look up
// $chunk   INTEGER       chunk of ordinals, from 0
//
// -> term     STRING  the term
// -> entries  BYTES   the list

CYPHER 25
UNWIND $terms AS term
MATCH (posting:Posting {memory: $memory, term: term, chunk: $chunk})
RETURN posting.term AS term, posting.entries AS entries
ORDER BY term
