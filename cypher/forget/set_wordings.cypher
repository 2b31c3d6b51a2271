// Gives clues the wordings that are left; one without any loses its utterances.
//
// $memory  STRING     name of the memory
// $rows    LIST<MAP>  uid, text (null when nothing is left), wordings

CYPHER 25
UNWIND $rows AS row
MATCH (clue:Clue {memory: $memory, uid: row.uid})
OPTIONAL MATCH (clue)<-[belongs:BELONGS]-(:Utterance {memory: $memory})
WHERE row.text IS NULL
WITH clue, row, collect(belongs) AS lost
FOREACH (belongs IN lost | DELETE belongs)
SET clue.wordings = row.wordings, clue.text = coalesce(row.text, '')
