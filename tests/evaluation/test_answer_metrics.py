"""Measures of an answer against its reference: by hand, by their properties, and computed in a second way."""

import re
import string
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assomem.evaluation.answer_metrics import (
    contains,
    exact_match,
    normalised,
    token_f1,
    without_markers,
    word_support,
)

WORDS = st.lists(st.sampled_from(["Mira", "the", "sold", "a", "boat", "in", "May,", "2030."]), max_size=8).map(" ".join)


@pytest.mark.parametrize(
    ("answer", "reference", "f1"),
    [
        ("In May 2030.", "in May 2030", 1.0),
        ("She sold it in May.", "in May", 2 * 2 / 7),
        ("The boat", "a boat", 1.0),
        ("boat boat", "boat", 2 / 3),
        ("Oslo", "Bergen", 0.0),
        ("the", "a", 1.0),
        ("", "Bergen", 0.0),
        ("Not in memory.", "7 May", 0.0),
        ("In May [2][3].", "in May", 1.0),
        ("山田さん", "山田", 2 * 2 / 6),
    ],
)
def test_f1_is_that_computed_by_hand(answer: str, reference: str, f1: float) -> None:
    assert token_f1(answer, reference) == pytest.approx(f1)


@pytest.mark.parametrize(
    ("answer", "reference", "exact", "held"),
    [
        ("The lighthouse!", "lighthouse", 1, 1),
        ("At the lighthouse.", "lighthouse", 0, 1),
        ("2030-05-01 09:00 (Wednesday) Mira: We met at the light house. [1]", "lighthouse", 0, 0),
        ("forty-two", "fortytwo", 1, 1),
        ("“Halcyon”", "Halcyon", 1, 1),
        ("May 3", "3 May", 0, 0),
        ("anything", "?", 0, 0),
    ],
)
def test_exact_match_and_contains_are_those_computed_by_hand(
    answer: str, reference: str, exact: float, held: float
) -> None:
    assert (exact_match(answer, reference), contains(answer, reference)) == (exact, held)


def squad(text: str) -> list[str]:
    """The normalisation of SQuAD's script as it describes it, for texts in English letters."""
    plain = "".join(one for one in text.lower() if one not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", plain).split()


@given(WORDS, WORDS)
def test_the_normalisation_is_squads_and_f1_agrees_with_precision_and_recall(answer: str, reference: str) -> None:
    mine, wanted = squad(answer), squad(reference)
    assert normalised(answer) == mine
    shared = sum(min(count, Counter(wanted)[one]) for one, count in Counter(mine).items())
    if mine and wanted and shared:
        precision, recall = shared / len(mine), shared / len(wanted)
        assert token_f1(answer, reference) == pytest.approx(2 * precision * recall / (precision + recall))
    else:
        assert token_f1(answer, reference) == float(mine == wanted)


@given(st.text(max_size=40), st.text(max_size=40))
def test_measures_are_fractions_f1_is_symmetric_and_an_exact_match_is_best(answer: str, reference: str) -> None:
    assert 0 <= token_f1(answer, reference) <= 1
    assert token_f1(answer, reference) == token_f1(reference, answer)
    if exact_match(answer, reference):
        assert token_f1(answer, reference) == 1
    assert token_f1(answer, answer) == exact_match(answer, answer) == 1
    if normalised(reference):
        assert contains(f"{answer} {reference}", reference) == 1


def test_the_support_by_words_is_the_share_of_content_words_that_the_evidence_holds() -> None:
    evidence = ["2030-05-01 09:00 (Wednesday) Mira: I sold the green boat to Wilf."]
    assert word_support("Mira sold the boats. [1]", evidence) == 1
    # mira, sold, kite; not kite
    assert word_support("Mira sold the kite. [1]", evidence) == pytest.approx(2 / 3)
    assert word_support("Mira sold the boat.", []) == 0
    assert word_support("It is.", evidence) == 1
    assert word_support("It is.", []) == 0


@given(WORDS, st.lists(WORDS, max_size=3), WORDS)
def test_more_evidence_never_supports_less(statement: str, evidence: list[str], more: str) -> None:
    assert 0 <= word_support(statement, evidence) <= word_support(statement, [*evidence, more]) <= 1
    assert word_support(statement, [*evidence, statement]) == 1


def test_markers_are_left_out_and_other_brackets_are_not() -> None:
    assert without_markers("It was May [2, 3] or June【4】. [sic] [a1]") == "It was May or June. [sic] [a1]"
