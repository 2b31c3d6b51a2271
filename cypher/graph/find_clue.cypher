// The clues that a person may mean: by uid, or by the uid of a spelling.
//
// $memory  STRING        name of the memory
// $uids    LIST<STRING>  a uid as it was given; uids of its spelling as each kind
//
// -> uid       STRING        the clue
// -> kind      STRING        its kind
// -> text      STRING        the clue itself
// -> wordings  LIST<STRING>  spellings merged into it

CYPHER 25
UNWIND $uids AS uid
OPTIONAL MATCH (alias:Alias {memory: $memory, uid: uid})
WITH coalesce(alias.clue_uid, uid) AS clue_uid
MATCH (clue:Clue {memory: $memory, uid: clue_uid})
RETURN DISTINCT clue.uid AS uid, clue.kind AS kind, clue.text AS text, clue.wordings AS wordings
ORDER BY uid
