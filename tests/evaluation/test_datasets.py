"""Labelled questions from our own folders and from the files of LongMemEval and LoCoMo (invented here)."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from assomem.errors import InputError
from assomem.evaluation.datasets import ASKED_OF_UNDATED, read_sets

Write = Callable[..., Path]


def test_a_folder_of_memories_is_a_set(talks: Path) -> None:
    (found,) = read_sets([talks])
    assert (found.name, found.named_members) == ("talks", True)
    assert [memory.name for memory in found.memories] == ["band", "garden"]
    garden = found.memories[1]
    assert garden.utterances == 12
    assert [clue.kind for clue in garden.clues] == ["topic", "fact"]
    assert garden.corrected == 1


def test_a_folder_with_a_memory_is_a_set_of_its_own_and_so_is_a_memory_among_sets(talks: Path, write: Write) -> None:
    (alone,) = read_sets([talks / "band"])
    assert (alone.name, [memory.name for memory in alone.memories]) == ("band", ["band"])
    write("single")
    (talks.parent / "other").mkdir()
    assert [one.name for one in read_sets([talks.parent])] == ["single", "talks"]
    assert [one.name for one in read_sets([talks, talks.parent / "single"])] == ["talks", "single"]


def test_questions_set_aside_are_counted_under_their_own_names(talks: Path) -> None:
    garden = read_sets([talks])[0].memories[1]
    assert [one.query_id for one in garden.asked] == ["q1", "q2", "q3", "q4"]
    assert garden.counts_aside() == {"adversarial": 1, "abstention": 1, "no_evidence": 1}
    assert garden.asked[3].evidence == ("g2:1", "g2:3")


def test_an_abstention_is_told_by_its_field_as_well(write: Write) -> None:
    folder = write("m", q1={"abstention": True}, q2={"abstention": False})
    assert read_sets([folder])[0].memories[0].counts_aside()["abstention"] == 1


def test_a_time_without_a_zone_is_utc_and_a_question_without_a_date_is_asked_the_day_after(write: Write) -> None:
    memory = read_sets([write("m", q2={"query_time": "2026-02-09T08:00:00"})])[0].memories[0]
    assert memory.sessions[0].utterances[0].said_at == datetime(2026, 2, 1, 20, tzinfo=UTC)
    assert [one.asked_at for one in memory.asked] == [
        datetime(2026, 2, 9, 20, tzinfo=UTC), datetime(2026, 2, 9, 8, tzinfo=UTC), datetime(2026, 2, 9, 20, tzinfo=UTC),
    ]  # fmt: skip


def test_a_memory_without_dates_is_asked_at_a_fixed_moment(write: Write) -> None:
    assert {one.asked_at for one in read_sets([write("m", dated=False)])[0].memories[0].asked} == {ASKED_OF_UNDATED}


def test_a_digest_changes_with_the_data_and_not_with_a_limit(talks: Path, write: Write) -> None:
    band, garden = read_sets([talks])[0].memories
    again = read_sets([talks])[0].memories[1]
    assert garden.digest == again.digest != band.digest
    assert garden.limited(2).digest == garden.digest
    assert read_sets([write("same")])[0].memories[0].digest == band.digest
    assert read_sets([write("changed", q3={"evidence": ["b2:1"]})])[0].memories[0].digest != band.digest


def test_a_limit_keeps_so_many_of_the_headline_and_all_that_is_set_aside(talks: Path) -> None:
    garden = read_sets([talks])[0].memories[1]
    assert len(garden.limited(2).asked) == 2
    assert set(garden.limited(2).asked) <= set(garden.limited(3).asked)
    assert garden.limited(2).counts_aside() == garden.counts_aside()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"evidence": "b1:3"}, "queries.jsonl, line 1: evidence must be a list"),
        ({"question": " "}, "queries.jsonl, line 1: question must be text"),
        ({"query_id": "q2"}, "'q2' stands for two questions"),
    ],
)
def test_a_question_that_cannot_be_used_is_named(write: Write, change: dict[str, Any], says: str) -> None:
    folder = write("m", q1=change)
    with pytest.raises(InputError, match=says):
        read_sets([folder])


def test_a_place_without_labelled_questions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no labelled questions"):
        read_sets([tmp_path])
    (tmp_path / "notes.json").write_text("[1, 2]")
    with pytest.raises(InputError, match="neither LongMemEval's file"):
        read_sets([tmp_path / "notes.json"])


def test_two_sets_of_one_name_are_refused(talks: Path) -> None:
    with pytest.raises(InputError, match="two sets have this name"):
        read_sets([talks, talks])


LONGMEMEVAL = [
    {
        "question_id": "aa11",
        "question_type": "single-session-user",
        "question": "What instrument do I practise?",
        "answer": 3,
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["late", "early", "empty"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/03 (Wed) 11:05", "2023/05/21 (Sun) 02:00"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "I practise the oboe.", "has_answer": True},
                {"role": "assistant", "content": "A fine instrument.", "has_answer": False},
            ],
            [{"role": "user", "content": "Good morning."}, {"role": "assistant", "content": " "}],
            [],
        ],
    },
    {
        "question_id": "bb22_abs",
        "question_type": "multi-session",
        "question": "How many dogs do I have?",
        "answer": "none named",
        "question_date": "2023/06/01 (Thu) 10:00",
        "haystack_session_ids": ["one"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21"],
        "haystack_sessions": [[{"role": "user", "content": "I have a cat.", "has_answer": True}]],
    },
]


def test_longmemeval_gives_a_memory_for_each_question_in_the_order_of_time(tmp_path: Path) -> None:
    (tmp_path / "longmemeval_s.json").write_text(json.dumps(LONGMEMEVAL))
    (found,) = read_sets([tmp_path / "longmemeval_s.json"])
    assert (found.name, found.named_members) == ("longmemeval_s", False)
    first, second = found.memories
    assert [session.session_id for session in first.sessions] == ["early", "late"]
    assert [one.utterance_id for one in first.sessions[1].utterances] == ["late:1", "late:2"]
    assert first.sessions[0].utterances[0].said_at == datetime(2023, 5, 3, 11, 5, tzinfo=UTC)
    (question,) = first.asked
    assert (question.evidence, question.query_type) == (("late:1",), "single-session-user")
    assert question.asked_at == datetime(2023, 5, 30, 23, 40, tzinfo=UTC)
    assert second.counts_aside()["abstention"] == 1


LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Lea", "speaker_b": "Tim",
            "session_10": [{"speaker": "Tim", "dia_id": "D10:1", "text": "We moved to Denby."}],
            "session_10_date_time": "12:05 am on 3 June, 2023",
            "session_2": [
                {"speaker": "Lea", "dia_id": "D2:1", "text": "I adopted a hedgehog.", "blip_caption": "a hedgehog"},
                {"speaker": "Tim", "dia_id": "D2:2", "text": "Lovely!"},
            ],
            "session_2_date_time": "1:56 pm on 8 May, 2023",
            "session_11_date_time": "1:00 pm on 9 June, 2023",
        },
        "qa": [
            {"question": "What did Lea adopt?", "answer": "a hedgehog", "evidence": ["D2:1"], "category": 4},
            {"question": "What changed?", "answer": "much", "evidence": ["D2:01; D10:1", "D:2:2"], "category": 1},
            {"question": "What did Tim adopt?", "adversarial_answer": "?", "evidence": ["D2:1"], "category": 5},
        ],
    }
]  # fmt: skip


def test_locomo_gives_a_memory_for_each_conversation_with_sessions_by_number(tmp_path: Path) -> None:
    (tmp_path / "locomo10.json").write_text(json.dumps(LOCOMO))
    (found,) = read_sets([tmp_path / "locomo10.json"])
    (memory,) = found.memories
    assert memory.name == "conv-1"
    assert [session.session_id for session in memory.sessions] == ["session_2", "session_10"]
    assert memory.sessions[0].utterances[0].said_at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert memory.sessions[1].utterances[0].said_at == datetime(2023, 6, 3, 0, 5, tzinfo=UTC)
    one, several = memory.asked
    assert (one.query_id, one.query_type, one.evidence) == ("conv-1:q0", "single-hop", ("D2:1",))
    assert (several.query_type, several.evidence) == ("multi-hop", ("D2:1", "D10:1", "D2:2"))
    assert memory.counts_aside()["adversarial"] == 1
    assert one.asked_at == datetime(2023, 6, 4, 0, 5, tzinfo=UTC)


def test_a_date_that_cannot_be_read_is_named_by_its_place(tmp_path: Path) -> None:
    record = {**LONGMEMEVAL[0], "question_date": "yesterday"}
    (tmp_path / "l.json").write_text(json.dumps([record]))
    with pytest.raises(InputError, match="entry 1: a date is not of the form"):
        read_sets([tmp_path / "l.json"])
