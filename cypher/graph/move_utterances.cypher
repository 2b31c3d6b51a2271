// Gives utterances new positions in their session.
//
// $memory  STRING     name of the memory
// $rows    LIST<MAP>  uid, position

CYPHER 25
UNWIND $rows AS row
MATCH (utterance:Utterance {memory: $memory, uid: row.uid})
SET utterance.position = row.position
