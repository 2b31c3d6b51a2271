// The clues that have a spelling among their wordings.
//
// $memory  STRING        name of the memory
// $kinds   LIST<STRING>  kinds of clues to look among
// $text    STRING        the spelling; case does not count
//
// -> uid       STRING        the clue
// -> kind      STRING        its kind
// -> text      STRING        the clue itself
// -> wordings  LIST<STRING>  spellings merged into it

CYPHER 25
UNWIND $kinds AS kind
MATCH (clue:Clue {memory: $memory, kind: kind})
WHERE any(wording IN clue.wordings WHERE toLower(wording) = toLower($text))
RETURN DISTINCT clue.uid AS uid, clue.kind AS kind, clue.text AS text, clue.wordings AS wordings
ORDER BY uid
