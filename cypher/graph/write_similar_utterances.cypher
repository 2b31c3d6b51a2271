// Links utterances whose vectors are close.
//
// $memory  STRING     name of the memory
// $rows    LIST<MAP>  from_uid, to_uid, score (cosine, -1..1)

CYPHER 25
UNWIND $rows AS row
MATCH (one:Utterance {memory: $memory, uid: row.from_uid})
MATCH (other:Utterance {memory: $memory, uid: row.to_uid})
MERGE (one)-[similar:SIMILAR]->(other)
ON CREATE SET similar.score = row.score
