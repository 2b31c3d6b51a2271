// Records that a migration has been applied; a second time changes nothing.
//
// $version  INTEGER  number of the migration
// $name     STRING   its file's name without number and suffix

CYPHER 25
MERGE (migration:Migration {version: $version})
ON CREATE SET migration.name = $name, migration.applied_at = datetime()
