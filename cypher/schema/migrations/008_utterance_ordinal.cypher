// An utterance's ordinal, by which posting lists name it.

CYPHER 25
CREATE CONSTRAINT utterance_ordinal IF NOT EXISTS
FOR (utterance:Utterance) REQUIRE (utterance.memory, utterance.ordinal) IS UNIQUE
