// One posting list for each term and chunk of ordinals.

CYPHER 25
CREATE CONSTRAINT posting_term IF NOT EXISTS
FOR (posting:Posting) REQUIRE (posting.memory, posting.term, posting.chunk) IS UNIQUE
