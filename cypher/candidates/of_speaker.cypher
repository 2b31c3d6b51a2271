// Ordinals of everything one speaker said.
//
// $memory       STRING  the memory searched; no other is read
// $speaker_key  STRING  the spelling by which speakers are compared
//
// -> ordinals  LIST<INTEGER>  in ascending order

CYPHER 25
MATCH (utterance:Utterance {memory: $memory, speaker_key: $speaker_key})
WITH utterance.ordinal AS ordinal
ORDER BY ordinal
RETURN collect(ordinal) AS ordinals
