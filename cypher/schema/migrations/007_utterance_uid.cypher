// An utterance's uid, the hash of memory and utterance id.

CYPHER 25
CREATE CONSTRAINT utterance_uid IF NOT EXISTS
FOR (utterance:Utterance) REQUIRE (utterance.memory, utterance.uid) IS UNIQUE
