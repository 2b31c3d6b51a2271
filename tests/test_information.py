"""Mutual information, and the weights that come of it."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from assomem.fusion import conditional_weights, learn_listwise, paper_weights
from assomem.fusion.information import hard_candidates, mutual_information, softmax_weights, tertiles


@dataclass(frozen=True)
class Question:
    """A labelled question."""

    reading_names: tuple[str, ...]
    readings: NDArray[np.float32]
    relevant: NDArray[np.bool_]


def invented(count: int, seed: int = 0) -> list[Question]:
    """Questions of 40 candidates: `words` tells 2 useful ones apart, `said` does in a fifth, `length` never."""
    chance = np.random.default_rng(seed)
    questions: list[Question] = []
    for number in range(count):
        relevant = np.zeros(40, bool)
        relevant[chance.choice(40, 2, replace=False)] = True
        words = np.clip(chance.normal(0.4, 0.15, 40) + 0.3 * relevant, 0, 1)
        said = np.where(relevant, 1.0, chance.random(40) < 0.1) * (number % 5 == 0)
        readings = np.stack([words, said, chance.random(40)], axis=1).astype(np.float32)
        questions.append(Question(("words", "said", "length"), readings, relevant))
    return questions


def test_information_of_a_table_worked_out_by_hand() -> None:
    # 8 pairs: bin 0 holds 3 useless and 1 useful one, bin 1 the reverse.
    bins = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    useful = np.array([0, 0, 0, 1, 0, 1, 1, 1], bool)
    by_hand = 2 * (3 / 8) * math.log((3 / 8) / (1 / 4)) + 2 * (1 / 8) * math.log((1 / 8) / (1 / 4))
    assert mutual_information(bins, useful) == pytest.approx(by_hand)


def test_independent_pairs_have_no_information_and_certain_ones_all_of_it() -> None:
    useful = np.array([0, 1, 0, 1], bool)
    assert mutual_information(np.array([0, 0, 1, 1]), useful) == pytest.approx(0)
    assert mutual_information(np.array([5, 7, 5, 7]), useful) == pytest.approx(math.log(2))
    assert mutual_information(np.array([], np.int64), np.array([], bool)) == 0


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=50))
def test_information_is_between_nothing_and_the_entropy_of_the_label(pairs: list[tuple[int, bool]]) -> None:
    bins = np.array([one for one, _ in pairs])
    useful = np.array([label for _, label in pairs], bool)
    share = useful.mean()
    entropy = -sum(p * math.log(p) for p in (share, 1 - share) if p > 0)
    assert -1e-12 <= mutual_information(bins, useful) <= entropy + 1e-12


def test_thirds_are_low_medium_and_high_and_equal_scores_share_one() -> None:
    assert tertiles(np.array([0.1, 0.2, 0.5, 0.6, 0.8, 0.9])).tolist() == [0, 0, 1, 1, 2, 2]
    assert len(set(tertiles(np.full(9, 0.3)).tolist())) == 1


def test_softmax_is_nearly_equal_at_temperature_one_and_sharp_at_a_small_one() -> None:
    information = {"cosine": 0.05, "pagerank": 0.01, "interval": 0.02}
    weights = softmax_weights(information, 1.0)
    total = math.exp(0.05) + math.exp(0.01) + math.exp(0.02)
    assert weights == pytest.approx({name: math.exp(value) / total for name, value in information.items()})
    assert max(weights.values()) - min(weights.values()) < 0.02
    assert softmax_weights(information, 0.001)["cosine"] > 0.999


def test_paper_rule_hardly_sees_a_reading_that_decides_few_questions_and_ours_does() -> None:
    questions = invented(200)
    paper = paper_weights(questions, temperature=0.01)
    ours = conditional_weights(questions)
    assert sum(paper.values()) == pytest.approx(1)
    assert sum(ours.values()) == pytest.approx(1)
    assert paper["words"] > paper["length"]
    assert ours["said"] > 0.1
    assert ours["said"] / ours["words"] > paper["said"] / paper["words"]
    assert ours["length"] < 0.1


def test_a_reading_that_is_higher_for_useless_candidates_weighs_nothing() -> None:
    turned: list[Question] = []
    for one in invented(100):
        readings = one.readings.copy()
        readings[:, 2] *= np.where(one.relevant, 0.3, 1.0)
        turned.append(Question(one.reading_names, readings, one.relevant))
    assert conditional_weights(turned)["length"] == pytest.approx(0, abs=1e-6)


def test_hard_candidates_hold_all_evidence() -> None:
    chance = np.random.default_rng(1)
    relevant = np.zeros(500, bool)
    relevant[[3, 77, 400]] = True
    question = Question(("words",), chance.random((500, 1)).astype(np.float32), relevant)
    best = hard_candidates(question)
    assert len(best) == 100
    assert {3, 77, 400} <= set(best.tolist())


def test_learnt_weights_sum_to_one_follow_the_evidence_and_keep_a_share_of_equal_ones() -> None:
    weights = learn_listwise(invented(200))
    flat = {name: weight for shares in weights.values() for name, weight in shares.items()}
    assert sum(flat.values()) == pytest.approx(1)
    assert flat["words"] > 2 * flat["length"]
    assert flat["said"] > flat["length"]
    assert min(flat.values()) >= 0.1 / 3 - 1e-9
    assert set(weights) == {"relevance", "importance", "temporal"}
    assert weights["importance"] == {}


def test_nothing_to_learn_from_is_said() -> None:
    empty = Question(("words",), np.zeros((3, 1), np.float32), np.zeros(3, bool))
    with pytest.raises(ValueError, match="nothing to learn from"):
        learn_listwise([empty])
