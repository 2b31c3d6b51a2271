"""Memories grown by distractors and by near-duplicates."""

from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from assomem import Settings
from assomem.errors import InputError
from assomem.evaluation.datasets import LabelledMemory, LabelledSet, read_sets
from assomem.evaluation.density import (
    as_json,
    checked_sizes,
    distractors,
    grown,
    near_duplicates,
    planned_study_steps,
    study,
    substituted,
)
from assomem.evaluation.run import Plan
from assomem.models.doubles import HashingEmbedder

Write = Callable[..., Path]


@pytest.fixture
def both(talks: Path) -> list[LabelledSet]:
    return read_sets([talks / "garden", talks / "band"])


def ids(memory: LabelledMemory) -> list[str | None]:
    return [one.utterance_id for session in memory.sessions for one in session.utterances]


def test_a_memory_grows_to_exactly_the_size_and_keeps_its_own(both: list[LabelledSet]) -> None:
    garden, band = (one.memories[0] for one in both)
    larger = grown(garden, 17, distractors(garden, [band]))
    assert larger.utterances == 17
    assert set(ids(garden)) < set(ids(larger))
    assert larger.questions == garden.questions
    assert larger.digest != garden.digest
    assert grown(garden, 12, distractors(garden, [band])).utterances == 12
    assert grown(garden, 100, distractors(garden, [band])).utterances == 20


def test_a_larger_memory_holds_the_smaller_one(both: list[LabelledSet]) -> None:
    garden, band = (one.memories[0] for one in both)
    sizes = [set(ids(grown(garden, size, distractors(garden, [band])))) for size in (13, 16, 19)]
    assert sizes[0] < sizes[1] < sizes[2]


def test_distractors_are_said_within_the_time_of_the_memory_and_in_order(both: list[LabelledSet]) -> None:
    garden, band = (one.memories[0] for one in both)
    larger = grown(garden, 20, distractors(garden, [band]))
    own = [one.said_at for session in garden.sessions for one in session.utterances if one.said_at]
    times = [one.said_at for session in larger.sessions for one in session.utterances if one.said_at]
    assert len(times) == 20
    assert min(own) == min(times)
    assert max(own) == max(times)
    starts = [session.utterances[0].said_at for session in larger.sessions]
    assert starts == sorted(starts, key=lambda at: at.timestamp() if at else 0)


def test_distractors_of_a_memory_without_times_have_none(both: list[LabelledSet], write: Write) -> None:
    undated = read_sets([write("undated", dated=False)])[0].memories[0]
    for session in distractors(undated, [both[0].memories[0]]):
        assert {one.said_at for one in session.utterances} == {None}


def test_names_numbers_and_dates_are_replaced_by_others() -> None:
    text = "Wilf paid 27 euros in March 2026, on a Saturday; 09:30 suited Wilfred."
    assert substituted(text, ("Wilf",), 1) == "Birte paid 28 euros in April 2027, on a Sunday; 10:31 suited Wilfred."
    assert substituted(text, ("Wilf",), 2).startswith("Casimir paid 29 euros in May 2028, on a Monday")
    assert "Wilf" not in substituted(text, ("Wilf",), 40).replace("Wilfred", "")
    for copy in range(1, 30):
        assert "March" not in substituted(text, (), copy)
        assert "Saturday" not in substituted(text, (), copy)


def test_a_name_is_never_replaced_by_itself() -> None:
    for copy in range(1, 45):
        assert substituted("Birte came.", ("Birte",), copy) != "Birte came."


def test_near_duplicates_go_on_without_end_and_are_new_each_time(both: list[LabelledSet]) -> None:
    garden = both[0].memories[0]
    sessions = list(islice(near_duplicates(garden), 9))
    texts = {one.text for session in sessions for one in session.utterances}
    assert len({session.session_id for session in sessions}) == 9
    assert not [text for text in texts if "Wilf" in text or "27 euros" in text]
    assert {"Dagny broke" in text or "broke the spade" in text for text in texts} == {True, False}
    speakers = {one.speaker for session in sessions for one in session.utterances}
    assert not speakers & {"Mira", "Tove"}


def test_a_study_measures_the_same_questions_at_every_size(both: list[LabelledSet], apart: Settings) -> None:
    plan = Plan(methods=("default", "flat"))
    done: list[int] = []
    notes: list[str] = []
    steps = study(
        both, both, (16, 24), plan, apart, embedder=HashingEmbedder(), progress=done.append, note=notes.append
    )
    assert sum(done) == planned_study_steps(both, both, (16, 24), plan)
    found = as_json(steps)
    assert set(found) == {"garden", "band"}
    assert list(found["garden"]) == ["distractors", "near-duplicates"]
    assert list(found["garden"]["distractors"]) == ["12", "16", "24"]
    for by_size in found["garden"].values():
        assert {one["flat"]["questions"] for one in by_size.values()} == {4}
        recalls = [one["flat"]["recall@6"] for one in by_size.values()]
        assert recalls[0] >= recalls[-1]
    assert any("there is enough for 20 utterances, not for 24" in one for one in notes)


def test_a_memory_that_is_larger_already_is_left_out_and_said_so(both: list[LabelledSet], apart: Settings) -> None:
    notes: list[str] = []
    steps = study(both, [], (10,), Plan(methods=("flat",)), apart, embedder=HashingEmbedder(), note=notes.append)
    assert "1 memories have more than 10" in notes[0]
    assert [[one.name for one in step.evaluation.sets] for step in steps] == [["band"], ["band"]]
    with pytest.raises(InputError, match="every memory has more than 5"):
        study(both, [], (5,), Plan(methods=("flat",)), apart, embedder=HashingEmbedder())


def test_sizes_are_sorted_and_checked() -> None:
    assert checked_sizes((3000, 1000, 3000)) == (1000, 3000)
    for wrong in ((), (0, 5)):
        with pytest.raises(InputError, match="density"):
            checked_sizes(wrong)
