// Clues by kind.

CYPHER 25
CREATE INDEX clue_kind IF NOT EXISTS
FOR (clue:Clue) ON (clue.memory, clue.kind)
