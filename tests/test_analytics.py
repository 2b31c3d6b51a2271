"""Cypher analytics: every statement shows something sensible of the sample, and nothing of another memory."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from assomem import AnalyticsResult, AssoMem, Session, Settings, Utterance
from assomem.errors import InputError, UnknownMemory
from assomem.importers import read
from assomem.models.doubles import HashingEmbedder
from assomem.sample import sample_folder
from assomem.server import Address
from assomem.store import Query, Store, load, names

ROOT = Path(__file__).parents[1]
NAMES = [name.removeprefix("analytics/") for name in names("analytics")]
TYPES = {"STRING": str, "INTEGER": int, "FLOAT": float, "BOOLEAN": bool}
Row = dict[str, Any]

SENSIBLE: dict[str, Callable[[Row], bool]] = {
    "bridges": lambda row: row["clue"] == "Mr. Pellow" and row["topics"] == 5 and len(row["names"]) == 5,
    "busiest_days": lambda row: row["day"] == date(2025, 11, 16) and row["weekday"] == 7 and row["utterances"] == 18,
    "busiest_hours": lambda row: row["hour"] == 9 and row["utterances"] == 12 and 0.09 < row["share"] < 0.1,
    "clue_timeline": lambda row: (row["month"], row["clue"]) == ("2025-01", "Mr. Pellow") and row["utterances"] == 1,
    "communities": lambda row: {"Duarte", "Beatriz"} <= set(row["members"]) and row["clues"] > 2 and "," in row["name"],
    "complaints": lambda row: row["clue"] == "train" and row["sessions"] == 2 and row["speakers"] == ["Priya"],
    "connecting_clues": lambda row: row["clue"] == "Oskar" and row["score"] > 100 and row["sessions"] > 2,
    "contradictions": lambda row: (row["earlier_id"], row["later_id"]) == ("s08:12", "s10:18")
    and row["clue"] == "Friesian coast",
    "coverage": lambda row: (row["measure"], row["count"], row["share"]) == ("utterances with a time", 132, 1.0),
    "first_and_last_mention": lambda row: row["clue"] == "Mr. Pellow" and row["days"] == 309
    and row["first_at"].year == 2025,
    "forgotten_topics": lambda row: row["clue"] == "Mrs. Okafor" and row["silent_days"] > 120,
    "hubs": lambda row: row["clue"] == "Wilf" and row["links"] >= row["utterances"] == 8,
    "important_clues": lambda row: row["clue"] == "Mr. Pellow" and row["score"] > 1 and "Fennel Road" in row["beside"],
    "longest_sessions": lambda row: (row["session_id"], row["utterances"], len(row["speakers"])) == ("s10", 18, 4),
    "longest_silences": lambda row: (row["before"], row["after"]) == ("s09", "s10") and 57 < row["days"] < 58,
    "new_clues": lambda row: row["month"] == "2025-01" and row["new_clues"] > 10 and row["known_clues"] == 0,
    "open_loops": lambda row: "?" in row["question"] and row["nearest"] < 0.8 and row["utterance_id"],
    "overmerged_clues": lambda row: set(row["wordings"]) == {"eggs", "egg"} and 0 < row["cohesion"] < 1,
    "people": lambda row: {row["person"], row["other"]} == {"Beatriz", "Duarte"} and row["utterances"] >= 2,
    "places": lambda row: (row["place"], row["other"]) == ("Denby", "Marrow Cottage") and row["sessions"] == 2,
    "plans": lambda row: row["utterance_id"] == "s10:18" and row["means_from"].month == 6 and row["days_ahead"] > 200,
    "preferences": lambda row: row["utterance_id"] == "s07:2" and "coffee" in row["preference"],
    "questions": lambda row: row["speaker"] == "Nadia" and row["questions"] == row["replied"] == 14,
    "replies": lambda row: (row["speaker"], row["follower"], row["times"]) == ("Nadia", "Oskar", 14),
    "rising_and_fading": lambda row: row["clue"] == "eggs" and (row["earlier"], row["change"]) == (4, -4),
    "said_again": lambda row: (row["utterance_id"], row["other_id"]) == ("s03:2", "s10:14") and row["score"] > 0.9,
    "sessions_like": lambda row: row["compared_with"] == "s10" and "Duarte" in row["shared"],
    "shared_clues": lambda row: (row["speaker"], row["other"]) == ("Nadia", "Oskar") and 0 < row["alike"] < 1,
    "similar_clues": lambda row: {row["clue"], row["other"]} == {"Leonora", "Leonora Finch"} and row["score"] > 0.9,
    "similarity_density": lambda row: row["nodes"] == "utterances" and row["count"] == 132 and row["lowest"] > 0.85,
    "speakers": lambda row: row["speaker"] == "Nadia" and row["utterances"] == 37 and 0.28 < row["share"] < 0.29,
    "unanchored_utterances": lambda row: row["utterance_id"] == "s09:14" and len(row["topics"]) == 1,
    "who_talks_about_what": lambda row: (row["speaker"], row["clue"], row["share"]) == ("Nadia", "Mr. Pellow", 1.0),
}  # fmt: skip
"""For each statement what one of its rows on the sample must be."""


@pytest.fixture(scope="module")
def sample(server: Address, settings: Settings) -> Iterator[AssoMem]:
    """The sample with the shipped embedder, beside a memory of the same names."""
    del server
    with (sample_folder() / "memory.jsonl").open("rb") as stream:
        sessions = read(stream).sessions
    with (
        AssoMem("test analytics", settings=settings) as memory,
        AssoMem("test analytics, other", settings=settings, embedder=HashingEmbedder()) as other,
    ):
        memory.remember(sessions)
        other.remember(sessions[:3])
        yield memory
        memory.forget(everything=True)
        other.forget(everything=True)


@pytest.fixture(scope="module")
def small(server: Address, settings: Settings) -> Iterator[list[AssoMem]]:
    """A memory of one utterance without time or clue, and one of a single dated question."""
    del server
    with (
        AssoMem("test analytics, one", settings=settings, embedder=HashingEmbedder()) as undated,
        AssoMem("test analytics, question", settings=settings, embedder=HashingEmbedder()) as dated,
    ):
        undated.remember([Session("s", [Utterance("Mira", "Hm.")])])
        at = datetime.fromisoformat("2026-03-02T12:00:00+01:00")
        dated.remember([Session("s", [Utterance("Mira", "Does Tove live in Utrecht?", at)])])
        yield [undated, dated]
        undated.forget(everything=True)
        dated.forget(everything=True)


def rows(result: AnalyticsResult) -> list[Row]:
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows]


def projections(store: Store) -> list[str]:
    text = "CYPHER 25 CALL gds.graph.list() YIELD graphName RETURN graphName AS name"
    return [
        row["name"]
        for row in store.read(Query("tests/projections", text, frozenset(), ("name",)))
        if "_analytics_" in row["name"]
    ]


def test_there_are_at_least_25_statements_and_each_is_in_the_table() -> None:
    assert len(NAMES) >= 25
    assert sorted(SENSIBLE) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_statement_shows_something_sensible_of_the_sample(sample: AssoMem, store: Store, name: str) -> None:
    result = sample.analytics(name)
    assert result.columns == load(f"analytics/{name}").columns
    found = rows(result)
    assert any(SENSIBLE[name](row) for row in found), found
    assert projections(store) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_result_is_small_plain_and_the_same_each_time(sample: AssoMem, name: str) -> None:
    result = sample.analytics(name)
    assert json.loads(json.dumps(result.as_json()))["columns"] == list(result.columns)
    for row in result.rows:
        for value in row:
            assert value is None or isinstance(value, str | int | float | date | list)
            if isinstance(value, list):
                texts = cast(list[Any], value)
                assert len(texts) <= 12
                assert all(isinstance(one, str) for one in texts)
            if isinstance(value, str):
                assert len(value) <= 200
    if name not in {"communities"}:  # ties in Leiden may fall either way
        assert sample.analytics(name).rows == result.rows


@pytest.mark.parametrize("name", NAMES)
def test_a_statement_runs_on_a_memory_of_one_utterance_and_leaves_no_projection(
    small: list[AssoMem], store: Store, name: str
) -> None:
    for memory in small:
        assert memory.analytics(name).columns
    assert projections(store) == []


@pytest.mark.parametrize("name", NAMES)
def test_every_node_of_a_statement_is_of_its_memory(name: str) -> None:
    body = load(f"analytics/{name}").text.partition("CYPHER 25")[2]
    patterns = re.findall(r"\((?:\w+)?:\w+[^()]*\)", body)
    assert patterns
    for pattern in patterns:
        assert "{memory: $memory" in pattern or pattern == "(memory:Memory {name: $memory})"
    # What stands without a label was found with one before.
    assert "()" not in re.sub(r"CALL \(\)|randomUUID\(\)", "", body)


@pytest.mark.parametrize("name", NAMES)
def test_parameters_have_a_default_that_is_the_same_in_all_statements(name: str) -> None:
    everywhere = {
        one.name: (one.type, one.default)
        for other in NAMES
        for one in load(f"analytics/{other}").takes
        if one.name != "memory"
    }
    for one in load(f"analytics/{name}").takes:
        assert one.says
        if one.name != "memory":
            assert type(one.default) is TYPES[one.type]
            assert everywhere[one.name] == (one.type, one.default)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_ordered_ends_in_a_unique_key(name: str) -> None:
    body = load(f"analytics/{name}").text
    last = re.findall(r"ORDER BY (.+)", body)[-1]
    key = last.split(", ")[-1].removesuffix(" DESC")
    assert key.endswith((".uid", "key", "_id", ".key")) or key in {"month", "day", "hour", "measure", "nodes"} or (
        name == "communities" and key == "members[0].uid"
    ), last  # fmt: skip


def test_parameters_change_what_is_found(sample: AssoMem) -> None:
    assert len(sample.analytics("speakers", limit=2).rows) == 2
    assert {row["kind"] for row in rows(sample.analytics("hubs", kind="topic"))} == {"topic"}
    assert {row["compared_with"] for row in rows(sample.analytics("sessions_like", session_id="s06"))} == {"s06"}
    assert sample.analytics("sessions_like", session_id="nowhere").rows == ()
    assert {row["speaker"] for row in rows(sample.analytics("preferences", speaker="wilf"))} == {"Wilf"}
    assert len(sample.analytics("forgotten_topics", days=10_000).rows) == 0


def test_the_list_names_title_and_parameters(sample: AssoMem) -> None:
    listed = {row["name"]: row for row in sample.analytics()}
    assert list(listed) == NAMES
    assert listed["speakers"]["title"].endswith(".")
    assert listed["sessions_like"]["parameters"][0] == {
        "name": "session_id", "type": "STRING", "default": "", "says": "the session to compare with; '' the latest",
    }  # fmt: skip


def test_a_result_is_a_frame_of_pandas(sample: AssoMem) -> None:
    result = sample.analytics("busiest_days")
    frame = result.frame()
    assert list(frame.columns) == list(result.columns)
    assert frame.shape == (10, len(result.columns))
    assert list(sample.analytics("plans", limit=0).frame().columns) == list(load("analytics/plans").columns)


@pytest.mark.parametrize(
    ("name", "given", "says"),
    [
        ("speaker", {}, r"no statement 'speaker'; did you mean speakers"),
        ("important-clue", {}, r"did you mean important_clues"),
        ("zzz", {}, r"there are bridges, .*who_talks_about_what"),
        ("speakers", {"limits": 3}, r"no parameter 'limits'; it takes limit"),
        ("busiest_hours", {"limit": 3}, r"it takes none"),
        ("speakers", {"memory": "other"}, r"no parameter 'memory'"),
        ("speakers", {"limit": "3"}, r"limit must be a whole number from 0"),
        ("speakers", {"limit": True}, r"limit must be a whole number"),
        ("speakers", {"limit": -1}, r"limit must be a whole number"),
        ("hubs", {"kind": 3}, r"kind must be text, not '3'"),
    ],
)
def test_what_cannot_be_run_is_refused_with_what_can(
    sample: AssoMem, name: str, given: dict[str, object], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        sample.analytics(name, **given)


def test_an_unknown_memory_is_refused(settings: Settings, server: Address) -> None:
    del server
    with AssoMem("test analytics, nowhere", settings=settings) as memory, pytest.raises(UnknownMemory):
        memory.analytics("speakers")


def test_the_page_on_analytics_has_every_statement_with_its_parameters_and_title() -> None:
    page = (ROOT / "docs" / "analytics.md").read_text(encoding="utf-8")
    table = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*) \|$", page, re.MULTILINE)
    wanted = [
        (
            name,
            ", ".join(f"`{one.name}`" for one in query.takes if one.name != "memory"),
            query.title.replace("|", "\\|"),
        )
        for name in NAMES
        for query in [load(f"analytics/{name}")]
    ]
    assert sorted(table) == wanted


def test_the_page_on_analytics_sets_every_parameter_for_the_browser() -> None:
    page = (ROOT / "docs" / "analytics.md").read_text(encoding="utf-8")
    given = dict(re.findall(r"^    :param (\w+) => (.+);$", page, re.MULTILINE))
    assert given.pop("memory") == "'default'"
    defaults = {
        one.name: f"'{one.default}'" if one.type == "STRING" else str(one.default)
        for name in NAMES
        for one in load(f"analytics/{name}").takes
        if one.name != "memory"
    }
    assert given == defaults
