// Each migration is recorded once.

CYPHER 25
CREATE CONSTRAINT migration_version IF NOT EXISTS
FOR (migration:Migration) REQUIRE migration.version IS UNIQUE
