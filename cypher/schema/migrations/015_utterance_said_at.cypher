// Utterances by the time they were said.

CYPHER 25
CREATE INDEX utterance_said_at IF NOT EXISTS
FOR (utterance:Utterance) ON (utterance.memory, utterance.said_at)
