// Which of these clues there are, and which of them a person merged into another.
//
// $memory  STRING        name of the memory
// $uids    LIST<STRING>  clues to look for
//
// -> uid       STRING   the clue looked for
// -> clue_uid  STRING   the clue that it is: itself, or the one it was merged into
// -> kind      STRING   kind of that one
// -> there     BOOLEAN  whether that one is stored

CYPHER 25
UNWIND $uids AS uid
OPTIONAL MATCH (alias:Alias {memory: $memory, uid: uid})
WITH uid, coalesce(alias.clue_uid, uid) AS clue_uid, alias.clue_kind AS clue_kind
OPTIONAL MATCH (clue:Clue {memory: $memory, uid: clue_uid})
WITH uid, clue_uid, coalesce(clue_kind, clue.kind) AS kind, clue IS NOT NULL AS there
WHERE kind IS NOT NULL
RETURN uid, clue_uid, kind, there
ORDER BY uid
