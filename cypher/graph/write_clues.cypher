// Makes new clues and adds wordings to those that are there.
//
// $memory  STRING     name of the memory
// $rows    LIST<MAP>  uid, kind, text, vector and token_vectors (null when the clue is there already or has none)

CYPHER 25
UNWIND $rows AS row
MERGE (clue:Clue {memory: $memory, uid: row.uid})
ON CREATE SET
  clue.kind = row.kind, clue.text = row.text, clue.wordings = [row.text], clue.support = 0,
  clue.token_vectors = row.token_vectors
ON MATCH SET clue.wordings = CASE
  WHEN row.text IN clue.wordings OR size(clue.wordings) >= 20 THEN clue.wordings
  ELSE clue.wordings + row.text
END
WITH clue, row
WHERE row.vector IS NOT NULL AND clue.embedding IS NULL
CALL db.create.setNodeVectorProperty(clue, 'embedding', row.vector)
