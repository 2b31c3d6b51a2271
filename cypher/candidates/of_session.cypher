// Number of one session, by which the layout names it; no row for an unknown session.
//
// $memory      STRING  the memory searched; no other is read
// $session_id  STRING  the session
//
// -> number  INTEGER  its number

CYPHER 25
MATCH (session:Session {memory: $memory, session_id: $session_id})
RETURN session.number AS number
