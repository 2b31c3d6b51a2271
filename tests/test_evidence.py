"""Evidence: its JSON is a contract, and what counts as convincing is a rule one can compute by hand."""

import json
import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assomem.evidence import (
    CLOSE_ENOUGH,
    MOST_OF_THE_QUESTION,
    SOME_OF_THE_QUESTION,
    Evidence,
    Explanation,
    SearchResult,
    convincing,
    explain_in_words,
)
from assomem.fusion import Contribution
from assomem.times import Interval

AT = datetime(2024, 5, 1, 9, 30, tzinfo=timezone(timedelta(hours=8)))

PARTS = (
    Contribution("relevance", "cosine", 1.0, 0.5, 0.5),
    Contribution("temporal", "said", 0.25, 0.2, 0.05),
    Contribution("importance", "clue walk", 0.0, 0.3, 0.0),
)


def piece(said_at: datetime | None = AT) -> Evidence:
    return Evidence(
        rank=1,
        uid="u1",
        utterance_id="D1:3",
        session_id="s",
        speaker="Zoë",
        said_at=said_at,
        text="I moved 🙂",
        score=0.55,
        signals={"relevance": 1.0, "importance": 0.0, "temporal": 0.25},
        clues=("move", "home"),
        contributions=PARTS,
    )


def result() -> SearchResult:
    return SearchResult(
        memory="alice",
        question="Where?",
        asked_at=AT,
        question_type={"place": 0.7, "person": 0.3},
        intervals=(
            Interval(datetime(2024, 4, 1, tzinfo=UTC), None, "since April", "open", 1.0, (0, 11)),
            Interval(None, datetime(2023, 1, 1, tzinfo=UTC), "before 2023", "open", 1.0, (12, 23)),
        ),
        weights={"relevance": 1 / 3, "importance": 1 / 3, "temporal": 1 / 3},
        evidence=(piece(),),
        convincing=True,
        degraded=("no plugin",),
        milliseconds={"total": 1.5},
    )


def test_a_piece_of_evidence_has_exactly_the_fields_of_the_contract() -> None:
    assert piece().as_json() == {
        "rank": 1,
        "uid": "u1",
        "utterance_id": "D1:3",
        "session_id": "s",
        "speaker": "Zoë",
        "said_at": "2024-05-01T09:30:00+08:00",
        "text": "I moved 🙂",
        "score": 0.55,
        "signals": {"relevance": 1.0, "importance": 0.0, "temporal": 0.25},
        "clues": ["move", "home"],
    }
    assert piece(None).as_json()["said_at"] is None


def test_a_search_has_exactly_the_fields_of_the_contract_and_is_json() -> None:
    given_json = result().as_json()
    assert list(given_json) == [
        "memory", "question", "asked_at", "question_type", "intervals", "weights", "evidence", "degraded",
        "milliseconds",
    ]  # fmt: skip
    assert given_json["asked_at"] == "2024-05-01T09:30:00+08:00"
    assert given_json["intervals"] == [
        {"from": "2024-04-01T00:00:00+00:00", "to": None, "text": "since April"},
        {"from": None, "to": "2023-01-01T00:00:00+00:00", "text": "before 2023"},
    ]
    assert given_json["evidence"] == [piece().as_json()]
    assert sum(given_json["weights"].values()) == pytest.approx(1, abs=1e-5)
    assert json.loads(json.dumps(given_json)) == given_json


def test_an_explanation_has_exactly_the_fields_of_the_contract_and_adds_up() -> None:
    explained = Explanation("Where?", "D1:3", None, 0.55, PARTS, "not in any list", "says").as_json()
    assert list(explained) == ["question", "utterance_id", "rank", "score", "contributions", "lost_at", "says"]
    assert explained["rank"] is None
    assert explained["contributions"][0] == {
        "signal": "relevance", "reading": "cosine", "value": 1.0, "weight": 0.5, "adds": 0.5,
    }  # fmt: skip
    assert sum(one["adds"] for one in explained["contributions"]) == pytest.approx(explained["score"])
    assert json.loads(json.dumps(explained)) == explained


@pytest.mark.parametrize(
    ("rank", "lost_at", "says"),
    [
        (2, None, "rank 2 with 0.550: cosine 0.500, said 0.050"),
        (12, "cut by the budget", "rank 12 with 0.550: cosine 0.500, said 0.050; cut by the budget"),
        (None, "on no list", "not a candidate (on no list); it would have scored 0.550: cosine 0.500, said 0.050"),
    ],
)
def test_an_explanation_in_words_names_the_place_and_what_added_most(
    rank: int | None, lost_at: str | None, says: str
) -> None:
    assert explain_in_words(rank, lost_at, PARTS, 0.55) == says


def test_an_explanation_without_any_reading_says_so() -> None:
    assert explain_in_words(3, None, PARTS[2:], 0.0) == "rank 3 with 0.000: nothing spoke for it"


# -- convincing


def test_without_closeness_three_tenths_of_the_question_by_inverse_document_frequency_convince() -> None:
    # Of 100 utterances "dog" is in 9, "walk" in 99, weighing ln(1 + 100/10) = 2.398 and ln(1 + 100/100) = 0.693.
    assert math.log(2) / math.log(22) < SOME_OF_THE_QUESTION < math.log(11) / math.log(22)
    held = {"dog": 9, "walk": 99}
    assert convincing(held, {"dog"}, 100, None)
    assert not convincing(held, {"walk"}, 100, None)
    assert not convincing(held, set(), 100, None)
    assert convincing(held, {"dog", "walk", "else"}, 100, None)


def test_with_a_poor_closeness_six_tenths_of_the_question_are_needed() -> None:
    # "dog" in 9 of 100 weighs 2.398, "lake" in 24 of 100 ln(1 + 100/25) = 1.609: 0.598 and 0.402 of both.
    held = {"dog": 9, "lake": 24}
    assert math.log(11) / math.log(55) < MOST_OF_THE_QUESTION
    assert not convincing(held, {"dog"}, 100, 0.1)
    assert convincing(held, {"dog"}, 100, None)
    assert convincing(held, {"dog", "lake"}, 100, 0.1)
    assert convincing(held, {"dog", "lake"}, 100, -1.0)


def test_a_good_closeness_alone_convinces() -> None:
    held = {"dog": 9, "walk": 99}
    assert convincing(held, set(), 100, CLOSE_ENOUGH)
    assert not convincing(held, set(), 100, CLOSE_ENOUGH - 0.001)
    assert convincing({}, set(), 100, 0.9)


def test_a_word_that_the_memory_does_not_know_weighs_most() -> None:
    # ln(1 + 100/1) = 4.615 for the unknown one: "lake" alone (1.609) is a quarter of the question.
    assert not convincing({"lake": 24, "submarine": 0}, {"lake"}, 100, None)


def test_a_question_without_words_convinces_by_meaning_alone() -> None:
    assert not convincing({}, set(), 5, None)
    assert not convincing({}, set(), 5, 0.2)


def test_an_empty_memory_never_convinces() -> None:
    assert not convincing({"dog": 0}, set(), 0, None)
    assert not convincing({}, set(), 0, None)


@given(
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 50), min_size=1),
    st.sets(st.sampled_from("abcdefgh")),
    st.sets(st.sampled_from("abcdefgh")),
    st.integers(50, 5000),
    st.none() | st.floats(-1, 1),
    st.floats(0, 2),
)
def test_more_of_the_question_or_a_greater_closeness_never_convinces_less(
    held: dict[str, int], best: set[str], more: set[str], total: int, closeness: float | None, closer: float
) -> None:
    assert convincing(held, best | more, total, closeness) >= convincing(held, best, total, closeness)
    assert convincing(held, set(held), total, closeness)
    if closeness is not None:
        assert convincing(held, best, total, closeness + closer) >= convincing(held, best, total, closeness)
