"""Measures by hand, by property, and against naive ones."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assomem.errors import InputError
from assomem.evaluation.metrics import hit_at_k, mrr, ndcg_at_k, recall_all_at_k, recall_at_k

RANKING = ["a", "b", "c", "d", "e"]

rankings = st.lists(st.integers(0, 30).map(str), unique=True, max_size=20)
evidences = st.sets(st.integers(0, 30).map(str), min_size=1, max_size=6)
depths = st.integers(1, 25)

Measure = Callable[[list[str], set[str], int], float]
MEASURES: list[Measure] = [recall_at_k, recall_all_at_k, hit_at_k, ndcg_at_k]


def test_by_hand_a_ranking_with_two_of_three_pieces_of_evidence() -> None:
    evidence = ["b", "e", "elsewhere"]
    assert recall_at_k(RANKING, evidence, 1) == 0
    assert recall_at_k(RANKING, evidence, 2) == pytest.approx(1 / 3)
    assert recall_at_k(RANKING, evidence, 5) == pytest.approx(2 / 3)
    assert recall_all_at_k(RANKING, evidence, 5) == 0
    assert recall_all_at_k(RANKING, ["b", "e"], 5) == 1
    assert recall_all_at_k(RANKING, ["b", "e"], 4) == 0
    assert hit_at_k(RANKING, evidence, 1) == 0
    assert hit_at_k(RANKING, evidence, 2) == 1
    assert mrr(RANKING, evidence) == 0.5
    assert mrr(RANKING, ["elsewhere"]) == 0
    # (1/log2(3) + 1/log2(6)) / (1 + 1/log2(3) + 1/2)
    assert ndcg_at_k(RANKING, evidence, 5) == pytest.approx((0.6309298 + 0.3868528) / 2.1309298, abs=1e-6)


def test_an_ideal_of_more_evidence_than_places_fills_the_places() -> None:
    assert ndcg_at_k(["a", "b"], ["a", "b", "c"], 2) == 1


@pytest.mark.parametrize("measure", MEASURES)
def test_a_question_without_evidence_and_a_cut_at_nothing_are_refused(measure: Measure) -> None:
    with pytest.raises(InputError, match="evidence"):
        measure(RANKING, set(), 5)
    with pytest.raises(InputError, match="k: must be 1 or more"):
        measure(RANKING, {"a"}, 0)


@given(rankings, evidences, depths)
def test_every_measure_lies_between_0_and_1_and_grows_or_stays_with_more_evidence_first(
    ranking: list[str], evidence: set[str], k: int
) -> None:
    best = [*sorted(evidence), *(one for one in ranking if one not in evidence)]
    for measure in MEASURES:
        assert 0 <= measure(ranking, evidence, k) <= measure(best, evidence, k) <= 1
    assert 0 <= mrr(ranking, evidence) <= mrr(best, evidence) == 1


@given(rankings, evidences, depths)
def test_a_deeper_cut_never_loses_recall(ranking: list[str], evidence: set[str], k: int) -> None:
    for measure in (recall_at_k, recall_all_at_k, hit_at_k):
        assert measure(ranking, evidence, k) <= measure(ranking, evidence, k + 1)
    all_of_it, share, any_of_it = (m(ranking, evidence, k) for m in (recall_all_at_k, recall_at_k, hit_at_k))
    assert all_of_it <= share <= any_of_it


@given(rankings, evidences, depths)
def test_the_measures_equal_naive_ones(ranking: list[str], evidence: set[str], k: int) -> None:
    places = [place for place in range(len(ranking)) if ranking[place] in evidence]
    within = [place for place in places if place < k]
    assert recall_at_k(ranking, evidence, k) == len(within) / len(evidence)
    assert recall_all_at_k(ranking, evidence, k) == (1 if len(within) == len(evidence) else 0)
    assert hit_at_k(ranking, evidence, k) == (1 if within else 0)
    assert mrr(ranking, evidence) == (1 / (places[0] + 1) if places else 0)
    gains = [1 if place in within else 0 for place in range(k)]
    ideal = sorted([1] * len(evidence) + [0] * k, reverse=True)[:k]

    def discounted(gained: list[int]) -> float:
        return math.fsum(gain * math.log(2) / math.log(place + 2) for place, gain in enumerate(gained))

    assert ndcg_at_k(ranking, evidence, k) == pytest.approx(discounted(gains) / discounted(ideal))
