// Sessions of a memory, oldest first; those without a time last.
//
// $memory  STRING  name of the memory
//
// -> session_id  STRING          the session
// -> title       STRING          its title, or null
// -> started_at  ZONED DATETIME  when it began, or null
// -> utterances  INTEGER         utterances in it
// -> speakers    LIST<STRING>    who speaks, by name
// -> topics      LIST<STRING>    its topics
// -> clue_state  STRING          pending (a language model is to read it), done or failed
// -> clue_source   STRING  who found its clues: words, given, or a language model by name
// -> clue_failure  STRING  why a language model could not read it, or null

CYPHER 25
MATCH (session:Session {memory: $memory})
WHERE session.session_id IS NOT NULL
CALL (session) {
  MATCH (utterance:Utterance {memory: $memory, session_id: session.session_id})
  WHERE utterance.position >= 0
  OPTIONAL MATCH (utterance)-[:BELONGS]->(topic:Clue {memory: $memory, kind: 'topic'})
  RETURN
    count(DISTINCT utterance) AS utterances, collect(DISTINCT utterance.speaker) AS speakers,
    collect(DISTINCT topic.text) AS topics
}
RETURN
  session.session_id AS session_id, session.title AS title, session.started_at AS started_at,
  utterances, speakers, topics, session.clue_state AS clue_state,
  session.clue_source AS clue_source, session.clue_failure AS clue_failure
ORDER BY session.started_at IS NULL, session.started_at, session.number, session_id
