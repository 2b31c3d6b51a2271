// Token vectors of some utterances, for late interaction.
//
// $memory    STRING         the memory searched; no other is read
// $ordinals  LIST<INTEGER>  the utterances
//
// -> ordinal  INTEGER        the utterance's ordinal
// -> tokens   BYTES          one signed byte a number, 128 numbers a token; null where there are none
// -> pieces   LIST<INTEGER>  tokens of each piece

CYPHER 25
UNWIND $ordinals AS wanted
MATCH (utterance:Utterance {memory: $memory, ordinal: wanted})
RETURN utterance.ordinal AS ordinal, utterance.token_vectors AS tokens, utterance.piece_tokens AS pieces
ORDER BY ordinal
