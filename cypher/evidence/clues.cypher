// Clues of some utterances, the most specific first.
//
// $memory    STRING         the memory searched; no other is read
// $ordinals  LIST<INTEGER>  the utterances
//
// -> ordinal  INTEGER       the utterance's ordinal
// -> clues    LIST<STRING>  texts of its clues

CYPHER 25
UNWIND $ordinals AS wanted
MATCH (utterance:Utterance {memory: $memory, ordinal: wanted})
RETURN
  utterance.ordinal AS ordinal,
  COLLECT {
    MATCH (utterance)-[:BELONGS]->(clue:Clue {memory: $memory})
    RETURN clue.text ORDER BY clue.support, clue.text, clue.uid
  } AS clues
ORDER BY ordinal
