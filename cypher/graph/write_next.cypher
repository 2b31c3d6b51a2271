// Links utterances to the ones that follow them.
//
// $memory  STRING     name of the memory
// $rows    LIST<MAP>  from_uid, to_uid, cosine (of the two vectors, -1..1, or null)

CYPHER 25
UNWIND $rows AS row
MATCH (earlier:Utterance {memory: $memory, uid: row.from_uid})
MATCH (later:Utterance {memory: $memory, uid: row.to_uid})
MERGE (earlier)-[next:NEXT]->(later)
SET next.cosine = row.cosine
