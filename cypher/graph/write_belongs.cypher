// Anchors utterances to clues.
//
// $memory  STRING     name of the memory
// $rows    LIST<MAP>  utterance_uid, clue_uid, weight (0..1), source (words, model, given)

CYPHER 25
UNWIND $rows AS row
MATCH (utterance:Utterance {memory: $memory, uid: row.utterance_uid})
MATCH (clue:Clue {memory: $memory, uid: row.clue_uid})
MERGE (utterance)-[belongs:BELONGS]->(clue)
ON CREATE SET belongs.weight = row.weight, belongs.source = row.source
// What was given stays given; what a model reads does not become a find of words again.
ON MATCH SET belongs.source = CASE
  WHEN belongs.source = 'given' OR row.source = 'words' THEN belongs.source
  ELSE row.source
END
