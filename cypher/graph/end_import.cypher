// Takes the mark of an import away, and those of earlier ones that this one completed.
//
// $memory       STRING        name of the memory
// $token        STRING        token of this import
// $session_ids  LIST<STRING>  sessions it has stored

CYPHER 25
MATCH (unfinished:Unfinished {memory: $memory})
WHERE
  unfinished.token IS NOT NULL
  AND (unfinished.token = $token OR all(one IN unfinished.session_ids WHERE one IN $session_ids))
// Collected first: some plans would look at a mark again after its deletion.
WITH collect(DISTINCT unfinished) AS marks
FOREACH (mark IN marks | DELETE mark)
