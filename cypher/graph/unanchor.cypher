// Takes a session's utterances off the clues that new ones of a language model replace.
//
// $memory      STRING  name of the memory
// $session_id  STRING  the session
// $corrected   LIST<STRING>  names found in words of which the model says that they are names of something else
//
// -> uid      STRING   a clue that lost utterances
// -> aliased  BOOLEAN  whether a person merged others into it

CYPHER 25
MATCH (utterance:Utterance {memory: $memory, session_id: $session_id})-[belongs:BELONGS]->(clue:Clue {memory: $memory})
WHERE
  utterance.position >= 0
  // Other people and places found in words stay, and so does what was given.
  AND (
    belongs.source = 'model'
    OR (belongs.source = 'words' AND (clue.kind IN ['topic', 'phrase'] OR clue.uid IN $corrected))
  )
WITH clue, collect(belongs) AS lost
FOREACH (belongs IN lost | DELETE belongs)
WITH DISTINCT clue
RETURN
  clue.uid AS uid, EXISTS { MATCH (alias:Alias {memory: $memory, clue_uid: clue.uid}) } AS aliased
ORDER BY uid
