// Deletes utterances with their pieces and every link of theirs.
//
// $memory  STRING        name of the memory
// $uids    LIST<STRING>  the utterances

CYPHER 25
UNWIND $uids AS uid
MATCH (utterance:Utterance {memory: $memory, uid: uid})
OPTIONAL MATCH (piece:Piece {memory: $memory})-[:PIECE_OF]->(utterance)
WITH utterance, collect(piece) AS pieces
FOREACH (piece IN pieces | DETACH DELETE piece)
DETACH DELETE utterance
