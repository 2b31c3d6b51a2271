// Takes the NEXT links of one session away, before they are laid anew.
//
// $memory      STRING  name of the memory
// $session_id  STRING  the session

CYPHER 25
MATCH (utterance:Utterance {memory: $memory, session_id: $session_id})-[next:NEXT]->(:Utterance {memory: $memory})
USING INDEX utterance:Utterance(memory, session_id, position)
WHERE utterance.position >= 0
DELETE next
