// Clues by meaning, filtered inside the index.

CYPHER 25
CREATE VECTOR INDEX clue_embedding IF NOT EXISTS
FOR (clue:Clue) ON clue.embedding
WITH [clue.memory, clue.kind]
OPTIONS { indexConfig: { `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false } }
