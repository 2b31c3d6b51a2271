// Spellings by the clue they stand for.

CYPHER 25
CREATE INDEX alias_clue IF NOT EXISTS
FOR (alias:Alias) ON (alias.memory, alias.clue_uid)
