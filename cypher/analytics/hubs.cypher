// Hubs: the clues with the most links, which say the least about each utterance.
//
// $memory  STRING        name of the memory
// $kind    STRING = ''   clues of this kind alone; '' all but topics, which name whole sessions
// $limit   INTEGER = 20  rows at most
//
// -> kind        STRING   topic, phrase, person, place, ...
// -> clue        STRING   the clue
// -> links       INTEGER  utterances that belong to it and clues similar to it
// -> utterances  INTEGER  the former
// -> share       FLOAT    of all utterances of the memory, 0..1
// -> sessions    INTEGER  sessions they are in

CYPHER 25
MATCH (memory:Memory {name: $memory})
MATCH (node:Clue {memory: $memory})
WHERE node.kind IS NOT NULL AND CASE $kind WHEN '' THEN node.kind <> 'topic' ELSE node.kind = $kind END
WITH memory, node, node.support + COUNT { (node)-[:SIMILAR]-(:Clue {memory: $memory}) } AS links
ORDER BY links DESC, node.support DESC, node.uid
LIMIT $limit
RETURN
  node.kind AS kind, node.text AS clue, links, node.support AS utterances,
  CASE WHEN memory.utterances > 0 THEN toFloat(node.support) / memory.utterances END AS share,
  COUNT {
    MATCH (node)<-[:BELONGS]-(:Utterance {memory: $memory})-[:IN]->(session:Session {memory: $memory})
    RETURN DISTINCT session
  } AS sessions
ORDER BY links DESC, utterances DESC, node.uid
