// Token vectors of some utterances and of the statements they are anchored to, for late interaction, in one row.
//
// $memory    STRING         the memory searched; no other is read
// $ordinals  LIST<INTEGER>  the utterances
// $best      LIST<INTEGER>  those of them whose statements are wanted
//
// -> vectors  LIST<LIST<ANY>>  [ordinal, bytes, tokens of each piece]; one signed byte a number, 128 numbers a token
// -> clues    LIST<LIST<ANY>>  [ordinals it anchors, bytes] of each clue that has token vectors

CYPHER 25
CALL () {
  UNWIND $ordinals AS wanted
  MATCH (utterance:Utterance {memory: $memory, ordinal: wanted})
  WHERE utterance.token_vectors IS NOT NULL
  RETURN collect([utterance.ordinal, utterance.token_vectors, utterance.piece_tokens]) AS vectors
}
CALL () {
  UNWIND $best AS wanted
  MATCH (:Utterance {memory: $memory, ordinal: wanted})-[:BELONGS]->(clue:Clue {memory: $memory})
  WHERE clue.token_vectors IS NOT NULL
  WITH clue, collect(wanted) AS anchored
  RETURN collect([anchored, clue.token_vectors]) AS clues
}
RETURN vectors, clues
