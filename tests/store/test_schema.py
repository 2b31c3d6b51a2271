"""The schema: one index a migration, each checked for what it covers, quiet on a database that has it."""

import logging
import re

import pytest

from assomem import AssoMem, Session, Settings, Utterance
from assomem.errors import SchemaMismatch
from assomem.models.doubles import HashingEmbedder
from assomem.server import Address
from assomem.store import Query, Store, load, prepare
from assomem.store.schema import migrations

RECORD = Query("tests/record", "CREATE (:Migration {version: 9999, name: 'of the future'})", frozenset(), ())
UNRECORD = Query("tests/unrecord", "MATCH (m:Migration {version: 9999}) DELETE m", frozenset(), ())
DROP = Query("tests/drop", "DROP INDEX unfinished_memory", frozenset(), ())
FOREIGN = Query("tests/foreign", "CREATE INDEX unfinished_memory FOR (n:TestForeign) ON (n.name)", frozenset(), ())
FORGET = Query("tests/forget", "MATCH (m:Migration {name: 'unfinished_memory'}) DELETE m", frozenset(), ())


def test_migrations_are_numbered_without_gaps_and_each_makes_one_index_of_its_name() -> None:
    found = migrations()
    assert [migration.version for migration in found] == list(range(1, len(found) + 1))
    for migration in found:
        assert len(re.findall(r"^CREATE ", migration.query.text, re.MULTILINE)) == 1
        assert "IF NOT EXISTS" in migration.query.text
        assert migration.label
        assert migration.properties


def test_every_index_is_online_and_every_migration_recorded(store: Store) -> None:
    there = {row["name"]: row for row in store.read(load("schema/indexes"))}
    for migration in migrations():
        assert there[migration.name]["state"] == "ONLINE"
        assert there[migration.name]["labels"] == [migration.label]
        assert tuple(there[migration.name]["properties"]) == migration.properties
    applied = [row["version"] for row in store.read(load("schema/applied"))]
    assert applied == list(range(1, len(migrations()) + 1))


def test_a_database_of_a_newer_version_is_refused_with_the_way_out(store: Store) -> None:
    store.write(RECORD)
    try:
        with pytest.raises(SchemaMismatch, match="install a newer assomem"):
            prepare(store)
    finally:
        store.write(UNRECORD)
    prepare(store)


def test_an_index_of_our_name_that_covers_something_else_is_named(store: Store) -> None:
    store.run_alone(DROP)
    store.run_alone(FOREIGN)
    store.write(FORGET)
    try:
        with pytest.raises(SchemaMismatch, match=r"unfinished_memory: covers \['TestForeign'\]"):
            prepare(store)
    finally:
        store.run_alone(DROP)
        prepare(store)
    test_every_index_is_online_and_every_migration_recorded(store)


def test_remembering_asking_and_forgetting_log_nothing_at_warning(
    settings: Settings, server: Address, memory_name: str, caplog: pytest.LogCaptureFixture
) -> None:
    del server
    with (
        caplog.at_level(logging.WARNING),
        AssoMem(memory_name, settings=settings, embedder=HashingEmbedder()) as memory,
    ):
        memory.remember(
            [Session("s", [Utterance("Mira", "The key is under the pot"), Utterance("Tove", "Which pot?")])]
        )
        memory.ask("Where is the key?")
        memory.search("Where is the key?", preset="paper")
        memory.doctor()
        memory.forget(session_id="s")
        memory.forget(everything=True)
    assert caplog.records == []
