// What an answer shows of the chosen utterances besides their text.
//
// $memory    STRING         the memory searched; no other is read
// $ordinals  LIST<INTEGER>  the utterances
//
// -> ordinal  INTEGER         the utterance's ordinal
// -> uid      STRING          the utterance
// -> said_at  ZONED DATETIME  when it was said, or null
// -> clues    LIST<STRING>    texts of its clues, the most specific first

CYPHER 25
UNWIND $ordinals AS wanted
MATCH (utterance:Utterance {memory: $memory, ordinal: wanted})
RETURN
  utterance.ordinal AS ordinal, utterance.uid AS uid, utterance.said_at AS said_at,
  COLLECT {
    MATCH (utterance)-[:BELONGS]->(clue:Clue {memory: $memory})
    RETURN clue.text ORDER BY clue.support, clue.text, clue.uid
  } AS clues
ORDER BY ordinal
