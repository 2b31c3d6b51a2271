// Where chosen utterances stand: their session's title and the turn before, for the prompt of an answer.
//
// $memory  STRING        the memory searched; no other is read
// $uids    LIST<STRING>  the utterances
//
// -> uid      STRING  the utterance
// -> title    STRING  title of its session, or null
// -> speaker  STRING  who spoke just before, or null at the beginning
// -> text     STRING  what was said then

CYPHER 25
UNWIND $uids AS wanted
MATCH (utterance:Utterance {uid: wanted, memory: $memory})-[:IN]->(session:Session {memory: $memory})
OPTIONAL MATCH (before:Utterance {memory: $memory})-[:NEXT]->(utterance)
RETURN utterance.uid AS uid, session.title AS title, before.speaker AS speaker, before.text AS text
ORDER BY uid
