"""Intervals and comparisons of means."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assomem.errors import InputError
from assomem.evaluation.statistics import bootstrap_interval, bootstrap_intervals, paired_difference

shares = st.lists(st.floats(0, 1), min_size=1, max_size=40).map(lambda values: np.array(values))


def test_an_interval_is_close_to_the_normal_one_for_many_values() -> None:
    # Half zeros, half ones: standard error 0.5/sqrt(400) = 0.025, so 0.5 ± 0.049.
    low, high = bootstrap_interval(np.array([0.0, 1.0] * 200), resamples=20_000)
    assert low == pytest.approx(0.451, abs=0.005)
    assert high == pytest.approx(0.549, abs=0.005)


def test_an_interval_of_two_values_has_the_three_means_that_can_be_drawn() -> None:
    # The mean of two draws from {0, 1} is 0, 0.5 or 1 with 1/4, 1/2, 1/4: 95 % reach from end to end, 40 % do not.
    assert bootstrap_interval(np.array([0.0, 1.0])) == (0.0, 1.0)
    assert bootstrap_interval(np.array([0.0, 1.0]), confidence=0.4) == (0.5, 0.5)


def test_values_that_are_all_the_same_leave_no_doubt() -> None:
    assert bootstrap_interval(np.full(7, 0.25)) == (0.25, 0.25)


def test_the_same_seed_gives_the_same_interval_and_another_one_another() -> None:
    values = np.random.default_rng(1).random(50)
    assert bootstrap_interval(values, seed=3) == bootstrap_interval(values, seed=3)
    assert bootstrap_interval(values, seed=3) != bootstrap_interval(values, seed=4)


def test_no_values_are_refused() -> None:
    with pytest.raises(InputError, match="no questions"):
        bootstrap_interval(np.zeros(0))
    with pytest.raises(InputError, match="the same questions"):
        paired_difference(np.zeros(2), np.zeros(3))


@given(shares)
def test_an_interval_lies_within_the_values_and_widens_with_confidence(values: np.ndarray) -> None:
    low, high = bootstrap_interval(values, resamples=200)
    inner_low, inner_high = bootstrap_interval(values, resamples=200, confidence=0.5)
    assert values.min() - 1e-9 <= low <= inner_low <= inner_high <= high <= values.max() + 1e-9


@given(shares)
def test_several_measures_at_once_get_the_intervals_they_get_alone(values: np.ndarray) -> None:
    both = bootstrap_intervals(np.stack([values, 1 - values], axis=1), resamples=100)
    assert both[0].tolist() == pytest.approx(list(bootstrap_interval(values, resamples=100)))
    assert both[1].tolist() == pytest.approx(list(bootstrap_interval(1 - values, resamples=100)))


def test_a_naive_bootstrap_gives_nearly_the_same_interval() -> None:
    values = np.random.default_rng(5).random(30)
    drawn = np.random.default_rng(6)
    means = sorted(math.fsum(drawn.choice(values, 30)) / 30 for _ in range(5_000))
    low, high = bootstrap_interval(values, resamples=20_000)
    assert low == pytest.approx(means[125], abs=0.01)
    assert high == pytest.approx(means[4_875], abs=0.01)


def test_a_difference_that_every_question_shows_is_certain() -> None:
    base = np.random.default_rng(2).random(40)
    found = paired_difference(base + 0.1, base)
    assert (found.mean, found.low, found.high) == pytest.approx((0.1, 0.1, 0.1))
    assert found.p == pytest.approx(1 / 2000)


def test_equal_methods_do_not_differ() -> None:
    base = np.random.default_rng(2).random(40)
    found = paired_difference(base, base.copy())
    assert (found.mean, found.low, found.high, found.p) == (0, 0, 0, 1)


def test_p_is_twice_the_share_of_draws_beyond_nothing() -> None:
    # 20 questions, 10 better and 3 worse: the resampled difference is 0 or less with about 2.1 % (binomial signs).
    differences = np.array([1.0] * 10 + [-1.0] * 3 + [0.0] * 7)
    found = paired_difference(differences, np.zeros(20), resamples=20_000)
    rng = np.random.default_rng(9)
    beyond = np.mean([rng.choice(differences, 20).sum() <= 0 for _ in range(5_000)])
    assert found.p == pytest.approx(2 * beyond, abs=0.015)


@given(shares, st.integers(0, 2**32 - 1))
def test_a_comparison_the_other_way_round_is_the_same_with_the_other_sign(values: np.ndarray, seed: int) -> None:
    other = np.random.default_rng(seed).permutation(values)
    one_way, back = paired_difference(values, other, resamples=200), paired_difference(other, values, resamples=200)
    assert (one_way.mean, one_way.low, one_way.high) == pytest.approx((-back.mean, -back.high, -back.low))
    assert one_way.p == back.p
