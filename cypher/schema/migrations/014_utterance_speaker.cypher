// Utterances by speaker.

CYPHER 25
CREATE INDEX utterance_speaker IF NOT EXISTS
FOR (utterance:Utterance) ON (utterance.memory, utterance.speaker_key)
