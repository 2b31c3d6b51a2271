// Utterances by meaning, filtered inside the index.

CYPHER 25
CREATE VECTOR INDEX utterance_embedding IF NOT EXISTS
FOR (utterance:Utterance) ON utterance.embedding
WITH [utterance.memory, utterance.instant, utterance.speaker_key, utterance.session_id]
OPTIONS { indexConfig: { `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false } }
