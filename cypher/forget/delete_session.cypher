// Deletes a session that has no utterances any more.
//
// $memory      STRING  name of the memory
// $session_id  STRING  the session

CYPHER 25
MATCH (session:Session {memory: $memory, session_id: $session_id})
WHERE NOT EXISTS { (session)<-[:IN]-(:Utterance {memory: $memory}) }
DETACH DELETE session
