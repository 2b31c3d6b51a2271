// Sessions without utterances.
//
// $memory  STRING  the memory checked; no other is read
//
// -> count  INTEGER  how many

CYPHER 25
MATCH (session:Session {memory: $memory})
WHERE session.session_id IS NOT NULL AND NOT EXISTS { (session)<-[:IN]-(:Utterance {memory: $memory}) }
RETURN count(session) AS count
