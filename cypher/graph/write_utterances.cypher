// Makes new utterances in their sessions.
//
// $memory  STRING     name of the memory
// $rows    LIST<MAP>  uid, utterance_id, session_id, ordinal, position, speaker, speaker_key, text, asks, said_at, instant, means_from, means_to, vector, token_vectors, piece_tokens

CYPHER 25
UNWIND $rows AS row
MATCH (session:Session {memory: $memory, session_id: row.session_id})
CREATE (utterance:Utterance {
  uid: row.uid, memory: $memory, session_id: row.session_id, utterance_id: row.utterance_id,
  ordinal: row.ordinal, position: row.position, speaker: row.speaker, speaker_key: row.speaker_key,
  text: row.text, asks: row.asks, said_at: row.said_at, instant: row.instant,
  means_from: row.means_from, means_to: row.means_to,
  token_vectors: row.token_vectors, piece_tokens: row.piece_tokens
})-[:IN]->(session)
WITH utterance, row
WHERE row.vector IS NOT NULL
CALL db.create.setNodeVectorProperty(utterance, 'embedding', row.vector)
