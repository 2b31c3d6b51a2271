// An utterance's id is unique within its memory.

CYPHER 25
CREATE CONSTRAINT utterance_id IF NOT EXISTS
FOR (utterance:Utterance) REQUIRE (utterance.memory, utterance.utterance_id) IS UNIQUE
