// Makes the pieces of long utterances, each with a vector of its own.
//
// $memory  STRING     name of the memory
// $rows    LIST<MAP>  uid, utterance_uid, vector

CYPHER 25
UNWIND $rows AS row
MATCH (utterance:Utterance {memory: $memory, uid: row.utterance_uid})
CREATE (piece:Piece {
  uid: row.uid, memory: $memory, instant: utterance.instant,
  speaker_key: utterance.speaker_key, session_id: utterance.session_id
})-[:PIECE_OF]->(utterance)
WITH piece, row
CALL db.create.setNodeVectorProperty(piece, 'embedding', row.vector)
