// Draws a memory: rare clues that bring sessions together, their utterances, and the sessions these are in.
//
// $memory  STRING  name of the memory
//
// -> path  PATH  session ← utterance → clue

CYPHER 25
MATCH (clue:Clue {memory: $memory})
WHERE clue.kind <> 'topic' AND 2 <= clue.support <= 12
WITH clue, COUNT {
  MATCH (clue)<-[:BELONGS]-(:Utterance {memory: $memory})-[:IN]->(session:Session {memory: $memory})
  RETURN DISTINCT session
} AS sessions
WHERE sessions > 1
ORDER BY sessions DESC, clue.support, clue.uid
LIMIT 8
MATCH path = (clue)<-[:BELONGS]-(utterance:Utterance {memory: $memory})-[:IN]->(session:Session {memory: $memory})
RETURN path
ORDER BY clue.uid, utterance.ordinal
LIMIT 80
