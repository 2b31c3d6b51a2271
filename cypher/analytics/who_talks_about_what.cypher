// Who talks about what: the clues of each speaker.
//
// $memory  STRING        name of the memory
// $kind    STRING = ''   clues of this kind alone; '' all but topics, which name whole sessions
// $each    INTEGER = 5   clues a speaker at most
// $limit   INTEGER = 20  speakers at most, those who say most
//
// -> speaker     STRING   who speaks, as first written
// -> kind        STRING   topic, phrase, person, place, ...
// -> clue        STRING   the clue
// -> utterances  INTEGER  utterances of the speaker that belong to it
// -> share       FLOAT    of all utterances that belong to it, 0..1

CYPHER 25
MATCH (utterance:Utterance {memory: $memory})
USING INDEX utterance:Utterance(memory, ordinal)
WHERE utterance.ordinal >= 0
WITH utterance.speaker_key AS key, min(utterance.speaker) AS speaker, count(utterance) AS said
ORDER BY said DESC, key
LIMIT $limit
CALL (key) {
  MATCH (utterance:Utterance {memory: $memory, speaker_key: key})-[:BELONGS]->(node:Clue {memory: $memory})
  USING INDEX utterance:Utterance(memory, speaker_key)
  WHERE CASE $kind WHEN '' THEN node.kind <> 'topic' ELSE node.kind = $kind END
  WITH node, count(utterance) AS utterances
  ORDER BY utterances DESC, node.uid
  LIMIT $each
  RETURN node, utterances
}
RETURN speaker, node.kind AS kind, node.text AS clue, utterances, toFloat(utterances) / node.support AS share
ORDER BY said DESC, key, utterances DESC, node.uid
