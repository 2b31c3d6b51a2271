// Ordinal of one utterance; no row for an unknown one.
//
// $memory  STRING  the memory searched; no other is read
// $uid     STRING  the utterance
//
// -> ordinal  INTEGER  its ordinal

CYPHER 25
MATCH (utterance:Utterance {memory: $memory, uid: $uid})
RETURN utterance.ordinal AS ordinal
