"""Every .cypher file: it loads, says what it does, runs on a real Neo4j, and reads and writes one memory alone."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, LiteralString, cast

import neo4j
import pytest

from assomem import AssoMem, Session, Settings, Utterance
from assomem.dialogue import identity
from assomem.graph.nearest import to_vector
from assomem.models.doubles import HashingEmbedder
from assomem.server import Address
from assomem.store import Query, Store, Transaction, load

ROOT = Path(__file__).parent.parent
NAMES = sorted(
    str(path.relative_to(ROOT / "cypher").with_suffix("")).replace("\\", "/")
    for path in (ROOT / "cypher").rglob("*.cypher")
)
STANDALONE = ("analytics/", "browser/", "invariants/", "schema/migrations/")
"""Folders whose files are run by name, or by the user."""
OF_NO_MEMORY = {"memories/list", "walk/rank", "walk/drop", "server/set_password"}
"""Besides schema/: what is about the database, or about lists and projections given by name."""
RUN_ELSEWHERE = {"server/set_password"}
"""It would lock everybody out of the test server; the tests of the managed server run it on one of their own."""
RUNNABLE = [name for name in NAMES if name not in RUN_ELSEWHERE]

EMBEDDER = HashingEmbedder(piece_words=12)
ALIAS = "of a spelling that was merged"
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
TALK = (
    ("Mira", "We bought three tulip bulbs at the market in Utrecht."),
    ("Tove", "Did you plant them on the balcony already?"),
    ("Mira", "Not yet, the soil is frozen; the tulip bulbs wait in the cellar."),
    ("Mira", " ".join(f"word{number}" for number in range(30)) + " and the key lies under the third pot"),
)
PARAMETERS: dict[str, Callable[["Facts"], dict[str, Any]]] = {
    "candidates/by_clue": lambda f: {
        "vector": f.vector, "clues": 10, "kind_from": "", "kind_to": "~", "from": -(2**62), "until": 2**62, "limit": 50,
    },
    "candidates/by_vector": lambda f: f.nearest,
    "candidates/details": lambda f: {"ordinals": f.ordinals, "vector": f.vector},
    "candidates/of_session": lambda f: {"session_id": f.session_ids[0]},
    "candidates/of_speaker": lambda f: {"speaker_key": "mira"},
    "candidates/ordinal": lambda f: {"uid": f.uids[-1]},
    "candidates/token_vectors": lambda f: {"ordinals": f.ordinals, "best": f.ordinals},
    "evaluation/is_temporary": lambda f: {},
    "evaluation/mark_temporary": lambda f: {},
    "evidence/chosen": lambda f: {"ordinals": f.ordinals},
    "evidence/context": lambda f: {"uids": f.uids},
    "forget/aliases": lambda f: {"uids": f.clue_uids},
    "forget/begin_all": lambda f: {},
    "forget/count_clues": lambda f: {},
    "forget/delete_session": lambda f: {"session_id": f.session_ids[0]},
    "forget/delete_utterances": lambda f: {"uids": f.uids},
    "forget/drop_aliases": lambda f: {"uids": [ALIAS, *f.clue_uids]},
    "forget/end_all": lambda f: {},
    "forget/lock_memory": lambda f: {},
    "forget/set_wordings": lambda f: {
        "rows": [{"uid": uid, "text": "left", "wordings": ["left"]} for uid in f.clue_uids]
    },
    "forget/wordings": lambda f: {"uids": f.clue_uids},
    "forget/some_nodes": lambda f: {"limit": 100_000},
    "forget/utterances": lambda f: {"uids": f.uids},
    "graph/anchored": lambda f: {"session_ids": f.session_ids},
    "graph/begin_import": lambda f: {"token": "token", "session_ids": f.session_ids},
    "graph/clue_states": lambda f: {},
    "graph/clue_vectors": lambda f: {"dimensions": 64},
    "graph/count_in": lambda f: {
        "utterances": 1, "dated": 1, "assistant": 1, "next_ordinal": 10_000, "next_session": 1_000,
    },
    "graph/count_support": lambda f: {"uids": f.clue_uids},
    "graph/end_import": lambda f: {"token": "token", "session_ids": f.session_ids},
    "graph/find_clue": lambda f: {"uids": [ALIAS, *f.clue_uids]},
    "graph/find_wording": lambda f: {"kinds": ["person", "place"], "text": "UTRECHT"},
    "graph/grow_sessions": lambda f: {
        "rows": [{"session_id": one, "clue_state": "done", "clue_source": "words"} for one in f.session_ids]
    },
    "graph/known_clues": lambda f: {"uids": [ALIAS, *f.clue_uids]},
    "graph/known_utterances": lambda f: {"utterance_ids": f.utterance_ids},
    "graph/make_memory": lambda f: {
        "key": "unused", "embedder": "unused", "embedder_name": "unused", "dimensions": 3,
    },    "graph/lock_memory": lambda f: {},

    "graph/mark_pending": lambda f: {"session_ids": f.session_ids},
    "graph/mark_unread": lambda f: {"session_id": f.session_ids[0], "clue_state": "failed", "why": "a reason"},
    "graph/merge_clues": lambda f: {"uid": f.clue_uids[0], "merged": f.clue_uids[1], "wordings": ["both"]},
    "graph/move_utterances": lambda f: {
        "rows": [{"uid": uid, "position": place} for place, uid in enumerate(f.uids, start=1000)]
    },
    "graph/nearest_clues": lambda f: {"kind": "topic", "vector": f.vector, "limit": 50},
    "graph/nearest_utterances": lambda f: {"vector": f.vector, "limit": 50},
    "graph/read_layout": lambda f: {"from": 0},
    "graph/read_layout_chunk": lambda f: {"chunk": 0},
    "graph/read_posting_chunk": lambda f: {"terms": f.terms, "chunk": 0},
    "graph/read_postings": lambda f: {"terms": f.terms},
    "graph/read_session": lambda f: {"session_id": f.session_ids[0]},
    "graph/session_order": lambda f: {"session_id": f.session_ids[0], "dimensions": 64},
    "graph/session_state": lambda f: {"session_id": f.session_ids[0]},
    "graph/session_tails": lambda f: {"session_ids": f.session_ids, "dimensions": 64},
    "graph/unanchor": lambda f: {"session_id": f.session_ids[0], "corrected": f.clue_uids[:1]},
    "graph/unlink_session": lambda f: {"session_id": f.session_ids[0]},
    "graph/utterance_vectors": lambda f: {"from": 0, "dimensions": 64},
    "graph/write_aliases": lambda f: {
        "merged": f.clue_uids[0], "clue_uid": f.clue_uids[1], "clue_kind": "person",
        "rows": [{"uid": f.clue_uids[0], "kind": "topic"}],
    },
    "graph/write_belongs": lambda f: {
        "rows": [
            {"utterance_uid": u, "clue_uid": c, "weight": 0.5, "source": "words"} for u in f.uids for c in f.clue_uids
        ]
    },
    "graph/write_clue_state": lambda f: {"session_id": f.session_ids[0], "clue_source": "model small 1234"},
    "graph/write_clues": lambda f: {
        "rows": [{"uid": uid, "kind": "topic", "text": "a wording", "vector": f.vector} for uid in f.clue_uids]
    },
    "graph/write_layout": lambda f: {"rows": [{"chunk": 0, "places": b"overwritten"}]},
    "graph/write_next": lambda f: {
        "rows": [{"from_uid": one, "to_uid": other, "cosine": 0.1} for one in f.uids for other in f.uids]
    },
    "graph/write_pieces": lambda f: {
        "rows": [{"uid": f"{uid}:77", "utterance_uid": uid, "vector": f.vector} for uid in f.uids]
    },
    "graph/write_postings": lambda f: {
        "rows": [{"term": f.terms[0], "chunk": 0, "entries": None}, {"term": f.terms[1], "chunk": 0, "entries": b"x"}]
    },
    "graph/write_sessions": lambda f: {
        "rows": [
            {
                "session_id": one, "uid": one, "number": 77, "title": "title", "started_at": NOON,
                "clue_state": "done", "clue_source": "words",
            }
            for one in (*f.session_ids, "another")
        ]
    },
    "graph/write_similar_clues": lambda f: {
        "rows": [{"from_uid": one, "to_uid": other, "score": 0.9} for one in f.clue_uids for other in f.clue_uids]
    },
    "graph/write_similar_utterances": lambda f: {
        "rows": [{"from_uid": one, "to_uid": other, "score": 0.9} for one in f.uids for other in f.uids]
    },
    "graph/write_utterances": lambda f: {
        "rows": [
            {
                "uid": "new", "utterance_id": "new", "session_id": f.session_ids[0], "ordinal": 10_000,
                "position": 1_000, "speaker": "Mira", "speaker_key": "mira", "text": "new", "said_at": NOON,
                "instant": 0, "means_from": None, "means_to": None, "vector": f.vector, "token_vectors": None,
                "piece_tokens": None,
            }
        ]
    },
    "memories/clue": lambda f: {"uid": f.clue_uids[0]},
    "memories/clues": lambda f: {"limit": 1000},
    "memories/embedder": lambda f: {},
    "memories/list": lambda f: {},
    "memories/sessions": lambda f: {},
    "memories/show_session": lambda f: {"session_id": f.session_ids[0]},
    "memories/show_utterance": lambda f: {"utterance_id": f.utterance_ids[0]},
    "memories/state": lambda f: {},
    "schema/applied": lambda f: {},
    "schema/await": lambda f: {"seconds": 60},
    "schema/gds": lambda f: {},
    "schema/indexes": lambda f: {},
    "schema/record": lambda f: {"version": 1, "name": "migration_version"},
    "schema/server": lambda f: {},
    "walk/drop": lambda f: {"graph": "assomem_there_is_none"},
    "walk/memory_edges": lambda f: {"vector": f.vector, "until": 2**62},
    "walk/rank": lambda f: {
        "graph": f"assomem_{f.key}_by_a_test", "sources": [0, 1], "targets": [1, 2], "weights": [1.0, 2.0],
        "seeds": [[0, 1.0]], "damping": 0.5, "iterations": 20,
    },
    "walk/shared_clues": lambda f: {"ordinals": f.ordinals, "rarest": 2, "widest": 1000},
}  # fmt: skip
"""For each query sensible parameters besides $memory."""


@dataclass(frozen=True)
class Facts:
    """What a memory holds, to choose parameters from."""

    memory: str
    key: str
    uids: list[str]
    clue_uids: list[str]
    ordinals: list[int]
    utterance_ids: list[str]
    session_ids: list[str]
    terms: list[str]

    @property
    def vector(self) -> neo4j.vector.Vector:
        return to_vector(EMBEDDER.embed_question("Where are the tulip bulbs?").vector)

    @property
    def nearest(self) -> dict[str, Any]:
        return {
            "vector": self.vector, "from": -(2**62), "until": 2**62, "speaker_from": "", "speaker_to": "~",
            "session_from": "", "session_to": "~", "limit": 200,
        }  # fmt: skip

    def joined(self, other: "Facts") -> "Facts":
        """This memory's name with everything that the other one holds as well: what must not be found with it."""
        return Facts(
            self.memory, self.key, self.uids + other.uids, self.clue_uids + other.clue_uids,
            sorted({*self.ordinals, *other.ordinals}), self.utterance_ids, self.session_ids, self.terms,
        )  # fmt: skip


Dump = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def driver(server: Address) -> Iterator[neo4j.Driver]:
    """A driver that is told everything, as Neo4j Browser's is."""
    with neo4j.GraphDatabase.driver(
        server.uri, auth=(server.username, server.password), notifications_min_severity="INFORMATION"
    ) as opened:
        yield opened


@pytest.fixture(scope="module")
def pair(server: Address, settings: Settings, store: Store) -> Iterator[tuple[AssoMem, AssoMem]]:
    """Two memories of the same sessions, written turn about; the second one holds more, first and last."""
    del server
    with (
        AssoMem("test cypher, one", settings=settings, embedder=EMBEDDER) as one,
        AssoMem("test cypher, two", settings=settings, embedder=EMBEDDER) as two,
    ):
        for memory in (one, two):
            if memory.memory in {row["memory"] for row in memory.memories()}:
                memory.forget(everything=True)  # what a killed run of this very test left
        two.remember([talk("before", "Zwetschge")])
        for day in range(6):
            for memory in (one, two):
                memory.remember([talk(f"s{day}", "", day)])
        two.remember([talk("after", "Zwetschge", 20)])
        for memory in (one, two):
            uids = [row["uid"] for row in memory.clues() if row["kind"] == "place"]
            for alias, uid in ((ALIAS, uids[0]), (f"{ALIAS} into a clue that is gone", "gone")):
                store.write(
                    load("graph/write_aliases"), memory=memory.memory, merged="none", clue_uid=uid, clue_kind="place",
                    rows=[{"uid": alias, "kind": "place"}],
                )  # fmt: skip
        yield one, two
        for memory in (one, two):
            memory.forget(everything=True)


def talk(session_id: str, mark: str, day: int = 0) -> Session:
    return Session(
        session_id,
        [Utterance(speaker, f"{text} {mark}".strip(), NOON + timedelta(days=day)) for speaker, text in TALK],
    )


@pytest.fixture(scope="module")
def facts(pair: tuple[AssoMem, AssoMem], store: Store) -> tuple[Facts, Facts]:
    return known(store, pair[0].memory), known(store, pair[1].memory)


def known(store: Store, memory: str) -> Facts:
    def column(text: LiteralString) -> list[Any]:
        return [row[0] for row in store.read(Query("tests/facts", text, frozenset({"memory"}), ()), memory=memory)]

    utterances = "MATCH (u:Utterance {memory: $memory}) WHERE u.ordinal >= 0 RETURN "
    return Facts(
        memory,
        column("MATCH (m:Memory {name: $memory}) RETURN m.key")[0],
        column(utterances + "u.uid ORDER BY u.ordinal"),
        column("MATCH (c:Clue {memory: $memory}) RETURN c.uid ORDER BY c.uid"),
        column(utterances + "u.ordinal ORDER BY u.ordinal"),
        column(utterances + "u.utterance_id ORDER BY u.ordinal"),
        column("MATCH (s:Session {memory: $memory}) RETURN s.session_id ORDER BY s.number"),
        column("MATCH (p:Posting {memory: $memory}) RETURN DISTINCT p.term AS term ORDER BY term"),
    )


def parameters(query: Query, facts: Facts) -> dict[str, Any]:
    """Parameters for a query; a file that stands alone needs no entry in the table: it has defaults."""
    if query.name not in PARAMETERS and query.name.startswith(STANDALONE):
        given: dict[str, Any] = {one.name: one.default for one in query.takes if one.name != "memory"}
    else:
        given = PARAMETERS[query.name](facts)
    return given | ({"memory": facts.memory} if "memory" in query.parameters else {})


def test_there_are_queries() -> None:
    assert NAMES


def test_every_entry_of_the_table_is_a_file() -> None:
    assert sorted(PARAMETERS) == [name for name in NAMES if name in PARAMETERS]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_loads_and_says_what_it_does(name: str) -> None:
    first_line = load(name).text.splitlines()[0]
    assert re.fullmatch(r"// [A-Z].*\.", first_line), first_line


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_loaded_by_a_module_or_stands_alone(name: str) -> None:
    modules = (ROOT / "assomem").rglob("*.py")
    assert name.startswith(STANDALONE) or any(f'"{name}"' in path.read_text(encoding="utf-8") for path in modules)


def test_every_query_that_a_module_loads_is_a_file() -> None:
    loaded = {
        name
        for path in (ROOT / "assomem").rglob("*.py")
        for name in re.findall(r'\bload\("([a-z_/]+)"\)', path.read_text(encoding="utf-8"))
    }
    assert loaded
    assert loaded <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_about_one_memory(name: str) -> None:
    about_one = "memory" in load(name).parameters
    assert about_one != (name.startswith("schema/") or name in OF_NO_MEMORY)


@pytest.mark.parametrize("name", RUNNABLE)
def test_a_file_runs_with_the_columns_it_declares_and_no_deprecation_notice(
    driver: neo4j.Driver, facts: tuple[Facts, Facts], name: str
) -> None:
    query = load(name)
    with driver.session(database="neo4j") as session, session.begin_transaction() as transaction:
        given = parameters(query, facts[0])
        query.check(given)
        result = transaction.run(query.text, given)
        keys = tuple(result.keys())
        rows = list(result)
        summary = result.consume()
        transaction.rollback()
    assert keys == query.columns
    # Whether analytics find something is in test_analytics.py, on a memory that has something to find.
    assert rows or not keys or name == "walk/drop" or name.startswith("analytics/")
    notices = [one for one in summary.gql_status_objects if one.is_notification]
    assert not [one for one in notices if one.classification == neo4j.NotificationClassification.DEPRECATION]
    assert not [one for one in notices if one.classification == neo4j.NotificationClassification.PERFORMANCE]


@pytest.mark.parametrize("name", RUNNABLE)
def test_a_plan_reads_through_indexes_and_not_everything(
    driver: neo4j.Driver, facts: tuple[Facts, Facts], name: str
) -> None:
    query = load(name)
    explained = query.text.replace("CYPHER 25", "CYPHER 25 EXPLAIN", 1)
    with driver.session(database="neo4j") as session:
        plan: Any = session.run(explained, parameters(query, facts[0])).consume().plan  # pyright: ignore[reportUnknownVariableType]
    scans = {operator for operator in operators(plan) if operator.endswith("Scan")}
    # The first two list what there is of a kind, and there are few. The third has a label scanned on a nearly empty
    # database, whatever indexes it names; it should not.
    listed = {
        name: {"NodeByLabelScan"} for name in ("memories/list", "schema/applied", "analytics/who_talks_about_what")
    }
    # On an almost empty database the planner may prefer to walk an index: it has nothing to lose there.
    assert scans - {"NodeIndexScan"} <= listed.get(name, set())


def operators(plan: dict[str, Any]) -> Iterator[str]:
    yield plan["operatorType"].partition("@")[0]
    for child in plan.get("children", []):
        yield from operators(child)


@pytest.fixture(scope="module")
def theirs(store: Store, facts: tuple[Facts, Facts], dump: Callable[[Store | Transaction, str], Dump]) -> Dump:
    """All that the other memory holds."""
    return dump(store, facts[1].memory)


class RolledBack(Exception):  # noqa: N818
    """Ends a transaction without keeping what it did."""


@pytest.mark.parametrize("name", [name for name in NAMES if "memory" in load(name).parameters])
def test_a_file_run_for_one_memory_returns_and_changes_nothing_of_another(
    store: Store,
    facts: tuple[Facts, Facts],
    theirs: Dump,
    dump: Callable[[Store | Transaction, str], Dump],
    name: str,
) -> None:
    mine, other = facts
    query = load(name)
    found: list[neo4j.Record] = []
    left: list[Dump] = []

    def work(transaction: Transaction) -> None:
        # Ids of the other memory are among the parameters: $memory alone must keep them out.
        found.extend(transaction.run(query, **parameters(query, mine.joined(other))))
        left.append(dump(transaction, other.memory))
        raise RolledBack

    with pytest.raises(RolledBack):
        store.transaction(work)
    assert left == [theirs]
    foreign = {*other.uids, *other.clue_uids, other.key, other.memory}
    foreign |= {identity(other.memory, one) for one in other.session_ids}
    values = {value for row in found for value in scalars(list(row.values()))}
    assert not foreign.intersection(values)
    assert not [one for one in values if isinstance(one, str) and "zwetschg" in one.lower()]
    only_theirs = set(other.ordinals) - set(mine.ordinals)
    assert only_theirs
    assert not only_theirs.intersection(row["ordinal"] for row in found if "ordinal" in query.columns)


def scalars(value: Any) -> Iterator[Any]:
    """Every single value inside a value, nodes and paths included."""
    if isinstance(value, neo4j.graph.Path):
        yield from scalars([*value.nodes, *value.relationships])
    elif isinstance(value, neo4j.graph.Entity):
        yield from scalars(list(value.values()))
    elif isinstance(value, dict):
        yield from scalars(list(cast(dict[str, Any], value).values()))
    elif isinstance(value, list):
        for one in cast(list[Any], value):
            yield from scalars(one)
    elif isinstance(value, str | int | float | bytes):
        yield value
