// A piece of a long utterance, embedded by itself.

CYPHER 25
CREATE CONSTRAINT piece_uid IF NOT EXISTS
FOR (piece:Piece) REQUIRE (piece.memory, piece.uid) IS UNIQUE
