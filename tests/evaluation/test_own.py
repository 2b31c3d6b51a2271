"""Temporary memories: marked, filled, searched, deleted; memories of somebody are left alone (R67)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assomem import AssoMem, Settings
from assomem.errors import InputError
from assomem.evaluation.datasets import LabelledMemory, read_sets
from assomem.evaluation.own import TemporaryMemory, clues_of, temporary_memory
from assomem.models.doubles import HashingEmbedder
from assomem.store import Store, Transaction

Dump = Callable[[Store | Transaction, str], dict[str, dict[str, Any]]]


@pytest.fixture
def garden(talks: Path) -> LabelledMemory:
    return read_sets([talks])[0].memories[1]


def names(memory: AssoMem) -> set[str]:
    return {row["memory"] for row in memory.memories()}


def utterances(held: dict[str, dict[str, Any]]) -> int:
    return sum(name.startswith("Utterance ") and "->" not in name for name in held)


def test_a_temporary_memory_is_marked_from_its_first_moment_and_gone_at_the_end(
    garden: LabelledMemory, apart: Settings, store: Store, dump: Dump
) -> None:
    with temporary_memory(garden, apart, HashingEmbedder(), "built-in") as opened:
        assert opened.memory.startswith("evaluation ")
        assert opened.memory.endswith(" garden")
        held = dump(store, opened.memory)
        assert [node["temporary"] for name, node in held.items() if name == "Memory"] == [True]
        assert utterances(held) == 12
        ids, _, features = opened.ranked(garden.asked[0], 3, "default", garden.digest)
    assert len(ids) == 3
    assert features.utterance_ids[int(features.relevant.argmax())] == "g1:1"
    assert not dump(store, opened.memory)


def test_it_goes_also_when_a_question_fails(garden: LabelledMemory, apart: Settings, store: Store, dump: Dump) -> None:
    used: list[str] = []

    def fail() -> None:
        with temporary_memory(garden, apart, HashingEmbedder(), "none") as opened:
            used.append(opened.memory)
            raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        fail()
    assert not dump(store, used[0])


def test_what_a_killed_run_left_is_deleted_and_built_anew(
    garden: LabelledMemory, apart: Settings, store: Store, dump: Dump
) -> None:
    with temporary_memory(garden, apart, HashingEmbedder(), "built-in") as opened:
        name = opened.memory
    with TemporaryMemory(name, settings=apart, embedder=HashingEmbedder()) as left:
        left.begin()
        left.fill(garden.sessions[:1], {})
    with temporary_memory(garden, apart, HashingEmbedder(), "built-in") as opened:
        assert opened.memory == name
        assert utterances(dump(store, name)) == 12
    assert not dump(store, name)


def test_r67_an_unmarked_memory_is_refused_and_keeps_its_revision(
    memory: AssoMem, garden: LabelledMemory, apart: Settings, store: Store, dump: Dump
) -> None:
    memory.remember(garden.sessions)
    before = dump(store, memory.memory)
    with TemporaryMemory(memory.memory, settings=apart, embedder=HashingEmbedder()) as opened:
        for touch in (opened.begin, lambda: opened.fill(garden.sessions, {}), opened.end):
            with pytest.raises(InputError, match="was not made by an evaluation; it was not touched"):
                touch()
    assert dump(store, memory.memory) == before
    memory.forget(everything=True)


def test_a_memory_that_was_not_begun_is_not_filled(
    memory_name: str, garden: LabelledMemory, apart: Settings, memory: AssoMem
) -> None:
    with TemporaryMemory(memory_name, settings=apart, embedder=HashingEmbedder()) as opened:
        with pytest.raises(InputError, match="was not begun"):
            opened.fill(garden.sessions, {})
        opened.end()
    assert memory_name not in names(memory)


def test_the_same_data_is_not_measured_twice_at_once(garden: LabelledMemory, apart: Settings) -> None:
    with temporary_memory(garden, apart, HashingEmbedder(), "none"):
        again = temporary_memory(garden, apart, HashingEmbedder(), "none")
        with pytest.raises(InputError, match="another evaluation of this data"):
            again.__enter__()
        with temporary_memory(garden, apart, HashingEmbedder(), "built-in"):
            pass


def test_clues_are_none_or_ready_or_their_own(
    garden: LabelledMemory, apart: Settings, store: Store, dump: Dump
) -> None:
    def clues(mode: str) -> set[str]:
        with temporary_memory(garden, apart, HashingEmbedder(), mode) as opened:
            held = dump(store, opened.memory)
        return {name.removeprefix("Clue ") for name in held if name.startswith("Clue ") and "->" not in name}

    assert clues("none") == set()
    built_in = clues("built-in")
    assert {name.split()[0] for name in built_in} >= {"topic", "person"}
    ready = clues("ready")
    assert {"topic tulips and a spade", "fact Tove paid 27 euros for a spade"} <= ready
    # The third session has no ready-made clue: its own are extracted.
    assert ready & built_in
    assert set(clues_of(garden, "ready")) == {"g1", "g2"}
