// Migrations that this database has had, oldest first.
//
// -> version  INTEGER  number of the migration, from 1
// -> name     STRING   its file's name without number and suffix

CYPHER 25
MATCH (migration:Migration)
RETURN migration.version AS version, migration.name AS name
ORDER BY version
