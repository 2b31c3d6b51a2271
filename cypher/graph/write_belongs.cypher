// Anchors utterances to clues.
//
// $memory  STRING     name of the memory
// $rows    LIST<MAP>  utterance_uid, clue_uid, weight (0..1)

CYPHER 25
UNWIND $rows AS row
MATCH (utterance:Utterance {memory: $memory, uid: row.utterance_uid})
MATCH (clue:Clue {memory: $memory, uid: row.clue_uid})
MERGE (utterance)-[belongs:BELONGS]->(clue)
ON CREATE SET belongs.weight = row.weight
