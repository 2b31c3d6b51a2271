"""A question understood: its type, the time it means, its words; and what is no question."""

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from assomem.errors import InputError
from assomem.models.doubles import HashingEmbedder
from assomem.models.embedder import QuestionEmbedding
from assomem.question import QUESTION_TYPES, Question, question_types, understand

ASKED_AT = datetime(2025, 5, 14, 12, tzinfo=UTC)


class Blank(HashingEmbedder):
    """An embedder that gives the same vector for every question."""

    def __init__(self, vector: NDArray[np.float32]) -> None:
        super().__init__(dimensions=4)
        self._given = vector

    def embed_question(self, text: str) -> QuestionEmbedding:
        del text
        return QuestionEmbedding(self._given, None, ())


def understood(text: str, *, limit: int = 1000) -> Question:
    return understand(text, ASKED_AT, HashingEmbedder(), max_characters=limit)


@given(st.text(max_size=80) | st.sampled_from(["when did we both first like it now", "who, where, how many? " * 500]))
def test_types_are_probabilities_that_sum_to_one(text: str) -> None:
    types = question_types(text)
    assert tuple(types) == QUESTION_TYPES
    assert sum(types.values()) == pytest.approx(1, abs=1e-9)
    assert all(0 < share < 1 for share in types.values())


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("When did Mira move to Lisbon?", "temporal"),
        ("What year did they marry?", "temporal"),
        ("How long ago did we paint the fence?", "temporal"),
        ("Who fixed the boiler?", "person"),
        ("What is the name of his sister?", "person"),
        ("Where did we leave the keys?", "place"),
        ("Which restaurant did Tom choose?", "place"),
        ("What activities does Ann do with her children?", "multi-session"),
        ("What kinds of music do both of them play?", "multi-session"),
        ("What hobbies do they have in common?", "multi-session"),
        ("What is Ann's favourite tea?", "preference"),
        ("Can you recommend a film for tonight?", "preference"),
        ("What is my current address these days?", "knowledge-update"),
        ("How much did the bicycle cost?", "number"),
        ("How old is the cat?", "number"),
        ("What did the plumber say about the pipe?", "single-session"),
        ("", "single-session"),
        ("???", "single-session"),
    ],
)
def test_an_obvious_question_has_the_obvious_type(text: str, kind: str) -> None:
    types = question_types(text)
    assert max(types, key=lambda one: types[one]) == kind
    shouted = question_types(text.upper())
    assert shouted == types


def test_a_question_is_read_on_the_askers_clock() -> None:
    question = understood("Where did Sarah's dogs sleep yesterday?")
    assert (question.text, question.asked_at) == ("Where did Sarah's dogs sleep yesterday?", ASKED_AT)
    assert [interval.text for interval in question.intervals] == ["yesterday"]
    start = question.intervals[0].start
    assert start is not None
    assert start.isoformat() == "2025-05-13T00:00:00+00:00"
    assert question.terms[:3] == ("sarah", "dog", "sleep")
    assert question.embedding is not None


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u3000"])
def test_an_empty_question_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="question: is empty"):
        understood(text)


def test_a_question_above_the_limit_is_refused_naming_both_lengths() -> None:
    assert understood("x" * 1000).text == "x" * 1000
    with pytest.raises(InputError, match=r"question: has 1,001 characters, allowed are 1,000") as caught:
        understood("CANARY " * 143)
    assert "CANARY" not in str(caught.value)


def test_ten_thousand_words_are_a_question() -> None:
    question = understood("how many bicycles did Ann buy last week " * 1250, limit=100_000)
    assert len(question.terms) >= 5000


def test_a_time_of_asking_without_a_zone_is_refused() -> None:
    with pytest.raises(InputError, match="time zone"):
        understand("Where yesterday?", ASKED_AT.replace(tzinfo=None), HashingEmbedder(), max_characters=100)


@pytest.mark.parametrize(
    "vector",
    [np.zeros(4), np.full(4, np.nan), np.ones(5), np.array([np.inf, 0, 0, 0])],
    ids=["zeros", "nan", "wrong size", "infinite"],
)
def test_without_a_usable_vector_a_question_keeps_its_words_and_time(vector: NDArray[np.float64]) -> None:
    embedder = Blank(vector.astype(np.float32))
    question = understand("dogs yesterday", ASKED_AT, embedder, max_characters=100)
    assert question.embedding is None
    assert question.terms[0] == "dog"
    assert question.intervals


def test_a_question_of_signs_alone_has_no_words() -> None:
    assert understood(":-)").terms == ()
    assert understood("AND OR NOT + - \" ~ / \\ : ( ) [ ] { } * ? `'").terms == ()


def test_half_an_emoji_in_a_question_is_made_well_formed_as_in_an_utterance() -> None:
    assert understood("why \ud83d?").text == "why \ufffd?"
    assert understood("why \ud83d\ude00?").text == "why 😀?"
