// Utterances by session and position.

CYPHER 25
CREATE INDEX utterance_place IF NOT EXISTS
FOR (utterance:Utterance) ON (utterance.memory, utterance.session_id, utterance.position)
