// Pieces of long utterances by meaning, filtered inside the index.

CYPHER 25
CREATE VECTOR INDEX piece_embedding IF NOT EXISTS
FOR (piece:Piece) ON piece.embedding
WITH [piece.memory, piece.instant, piece.speaker_key, piece.session_id]
OPTIONS { indexConfig: { `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false } }
