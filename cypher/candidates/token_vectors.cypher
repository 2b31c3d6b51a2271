// Token vectors of some utterances, for late interaction, in one row.
//
// $memory    STRING         the memory searched; no other is read
// $ordinals  LIST<INTEGER>  the utterances
//
// -> vectors  LIST<LIST<ANY>>  [ordinal, bytes, tokens of each piece]; one signed byte a number, 128 numbers a token

CYPHER 25
UNWIND $ordinals AS wanted
MATCH (utterance:Utterance {memory: $memory, ordinal: wanted})
WHERE utterance.token_vectors IS NOT NULL
RETURN collect([utterance.ordinal, utterance.token_vectors, utterance.piece_tokens]) AS vectors
