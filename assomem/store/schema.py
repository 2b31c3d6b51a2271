"""The schema: migrations kept as files, applied once each, in order, and recorded in the database."""

import re
from dataclasses import dataclass

from assomem.errors import QueryFileError, SchemaMismatch, StoreError
from assomem.store.query import Query, load, names
from assomem.store.store import Store

OLDEST_SERVER = (2026, 1)
"""SEARCH and filters inside vector indexes came with this release."""

_INDEX = re.compile(r"CREATE (?:CONSTRAINT|INDEX|VECTOR INDEX) (\w+) IF NOT EXISTS\s+FOR \((\w+):(\w+)\)([^{]*)")


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema: it makes one index or constraint."""

    version: int
    name: str
    query: Query
    label: str
    properties: tuple[str, ...]


def migrations() -> list[Migration]:
    """Every migration there is, oldest first.

    Raises:
        QueryFileError: a file's name or statement does not have the form of a migration.
    """
    found: list[Migration] = []
    for path in names("schema/migrations"):
        query = load(path)
        number, _, name = path.rsplit("/", 1)[1].partition("_")
        match = _INDEX.search(query.text)
        if match is None or match[1] != name or int(number) != len(found) + 1:
            raise QueryFileError(f"{path}: not a migration: number, name and statement must agree")
        properties = tuple(dict.fromkeys(re.findall(rf"\b{match[2]}\.(\w+)", match[4])))
        found.append(Migration(int(number), name, query, match[3], properties))
    return found


def prepare(store: Store) -> None:
    """Bring the database's schema up to date and wait until every index of ours is online.

    Cheap when nothing is to do. Safe to run from several processes at once: each step is idempotent.

    Raises:
        SchemaMismatch: the server is too old, the database was made by a newer version of this package, or an
            index of our name covers something else.
    """
    _check_server(store)
    wanted = migrations()
    applied = {row["version"] for row in store.read(load("schema/applied"))}
    if applied and max(applied) > len(wanted):
        raise SchemaMismatch(
            "schema/applied",
            f"this database has schema {max(applied)}, this package knows {len(wanted)}: install a newer assomem",
        )
    missing = [migration for migration in wanted if migration.version not in applied]
    for migration in missing:
        store.run_alone(migration.query)
    problems = _problems(store, wanted)
    if "POPULATING" in problems.values():
        store.read(load("schema/await"), seconds=300)
        problems = _problems(store, wanted)
    if problems:
        raise SchemaMismatch(
            "schema/indexes",
            "; ".join(f"index {name}: {problem}" for name, problem in problems.items())
            + ". Drop or rename what is in the way, then try again",
        )
    for migration in missing:
        store.write(load("schema/record"), version=migration.version, name=migration.name)


def server_version(store: Store) -> str:
    """The server's version and edition, such as `2026.01.4 community`."""
    row = store.read(load("schema/server"))[0]
    return f"{row['version']} {row['edition']}"


def gds_version(store: Store) -> str | None:
    """The version of the Graph Data Science plugin; None where it is missing."""
    try:
        return str(store.read(load("schema/gds"))[0]["version"])
    except StoreError as error:
        if "Unknown function" in str(error):
            return None
        raise


def _check_server(store: Store) -> None:
    version = server_version(store)
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    if numbers < OLDEST_SERVER:
        raise SchemaMismatch(
            "schema/server",
            f"Neo4j {version} is too old: this package needs 2026.01 or newer (SEARCH, in-index filters)",
        )


def _problems(store: Store, wanted: list[Migration]) -> dict[str, str]:
    """What is wrong with our indexes, by name. `IF NOT EXISTS` is silent about another index of that name."""
    there = {row["name"]: row for row in store.read(load("schema/indexes"))}
    problems: dict[str, str] = {}
    for migration in wanted:
        row = there.get(migration.name)
        if row is None:
            problems[migration.name] = "is missing"
        elif [migration.label] != row["labels"] or list(migration.properties) != row["properties"]:
            problems[migration.name] = f"covers {row['labels']} {row['properties']}"
        elif row["state"] != "ONLINE":
            problems[migration.name] = row["state"]
    return problems
