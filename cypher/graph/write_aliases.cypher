// Has clues stand for others from now on: what is written for those lands on them.
//
// $memory     STRING     name of the memory
// $merged     STRING     the clue that was merged; what stood for it stands for the other now
// $clue_uid   STRING     the clue that it was merged into
// $clue_kind  STRING     its kind
// $rows       LIST<MAP>  uid (hash of the kind and a spelling), kind

CYPHER 25
CALL () {
  MATCH (earlier:Alias {memory: $memory, clue_uid: $merged})
  SET earlier.clue_uid = $clue_uid, earlier.clue_kind = $clue_kind
}
UNWIND $rows AS row
MERGE (alias:Alias {memory: $memory, uid: row.uid})
SET alias.kind = row.kind, alias.clue_uid = $clue_uid, alias.clue_kind = $clue_kind
