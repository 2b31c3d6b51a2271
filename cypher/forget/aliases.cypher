// What stands for clues that utterances were taken from, and for clues that are gone.
//
// $memory  STRING        name of the memory
// $uids    LIST<STRING>  the clues
//
// -> uid       STRING        the alias: hash of a kind and a spelling
// -> kind      STRING        that kind
// -> wordings  LIST<STRING>  spellings that its clue still has; empty when the clue is gone

CYPHER 25
MATCH (alias:Alias {memory: $memory})
WHERE alias.clue_uid IS NOT NULL
OPTIONAL MATCH (clue:Clue {memory: $memory, uid: alias.clue_uid})
WITH alias, clue
WHERE clue IS NULL OR clue.uid IN $uids
RETURN alias.uid AS uid, alias.kind AS kind, coalesce(clue.wordings, []) AS wordings
ORDER BY uid
