"""The temporal signal: hand-computed cases, properties, and slow oracles written from the formulas in prose."""

import math
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assomem.errors import InputError
from assomem.signals.temporal import interval_embedding, meant_alignment, paper_alignment, said_alignment
from assomem.times import Interval

DAY = 86_400.0

patient = settings(deadline=None)
"""Other work on the machine must not decide a test."""

NOW = datetime(2025, 5, 14, 12, tzinfo=UTC)


def days(first: float | None, last: float | None, weight: float = 1.0, span: tuple[int, int] = (0, 4)) -> Interval:
    """The interval between two days counted from the epoch."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    start = None if first is None else epoch + timedelta(days=first)
    end = None if last is None else epoch + timedelta(days=last)
    return Interval(start, end, "then", "range", weight, span)


def seconds(*number_of_days: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array(number_of_days, dtype=np.float64) * DAY


numbers = st.floats(min_value=0, max_value=40_000)
pairs = st.tuples(numbers, numbers, st.booleans()).map(
    lambda drawn: (min(drawn[:2]) * DAY, math.inf if drawn[2] else max(drawn[:2]) * DAY)
)


@st.composite
def questions(draw: st.DrawFn) -> list[Interval]:
    found: list[Interval] = []
    for place in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, 40_000))
        length = draw(st.integers(1, 4_000))
        shape = draw(st.sampled_from(["closed", "from", "until"]))
        first, last = (None if shape == "until" else start), (None if shape == "from" else start + length)
        found.append(days(first, last, draw(st.sampled_from([1.0, 0.6, 0.4])), (place // 2, 9)))
    return found


# -- said


def test_said_inside_is_one_and_decays_three_times_slower_after_than_before() -> None:
    scores = said_alignment([days(100, 101)], seconds(100.5, 97, 104, 100))
    np.testing.assert_allclose(scores, [1, math.exp(-1), math.exp(-1 / 3), 1])


def test_a_month_forgives_half_its_length_and_a_year_no_more_than_sixty_days() -> None:
    np.testing.assert_allclose(said_alignment([days(100, 130)], seconds(85, 175)), [math.exp(-1), math.exp(-1)])
    np.testing.assert_allclose(said_alignment([days(1000, 1365)], seconds(970)), [math.exp(-1)])


def test_an_open_interval_holds_everything_on_its_open_side() -> None:
    np.testing.assert_allclose(said_alignment([days(100, None)], seconds(5000, 70)), [1, math.exp(-1)])
    np.testing.assert_allclose(said_alignment([days(None, 100)], seconds(5, 190)), [1, math.exp(-1)])


def test_undated_candidates_and_questions_without_a_time_score_zero() -> None:
    assert said_alignment([days(1, 2)], np.array([np.nan, 1.5 * DAY])).tolist() == [0.0, 1.0]
    assert said_alignment([], seconds(1, 2)).tolist() == [0.0, 0.0]
    assert said_alignment([days(1, 2)], np.array([], dtype=np.float64)).tolist() == []


def test_the_likeliest_reading_counts_fully_and_another_by_its_share_of_it() -> None:
    readings = [days(100, 101, 0.6, (0, 4)), days(500, 501, 0.4, (0, 4)), days(900, 901, 1.0, (9, 12))]
    np.testing.assert_allclose(said_alignment(readings, seconds(100.5, 500.5, 900.5)), [1, 0.4 / 0.6, 1])


def said_oracle(intervals: list[Interval], moment: float) -> float:
    best = 0.0
    for interval in intervals:
        a = -math.inf if interval.start is None else interval.start.timestamp()
        b = math.inf if interval.end is None else interval.end.timestamp()
        tau = max(3 * DAY, min(b - a, 60 * DAY) / 2)
        if moment < a:
            fit = math.exp(-(a - moment) / tau)
        elif moment >= b:
            fit = math.exp(-(moment - b) / (3 * tau))
        else:
            fit = 1.0
        top = max(other.weight for other in intervals if other.span == interval.span)
        best = max(best, fit * interval.weight / top)
    return best


@patient
@given(questions(), st.lists(numbers, max_size=5))
def test_said_agrees_with_the_formula_term_by_term(intervals: list[Interval], said: list[float]) -> None:
    scores = said_alignment(intervals, seconds(*said))
    np.testing.assert_allclose(scores, [said_oracle(intervals, day * DAY) for day in said], atol=1e-12)
    assert np.all((scores >= 0) & (scores <= 1))


@patient
@given(st.integers(0, 30_000), st.integers(1, 500), st.lists(st.floats(0, 3000), min_size=2, max_size=6))
def test_said_never_grows_with_the_gap(start: int, length: int, gaps: list[float]) -> None:
    gaps = sorted(gaps)
    interval = [days(start, start + length)]
    assert np.all(np.diff(said_alignment(interval, seconds(*[start - gap for gap in gaps]))) <= 1e-15)
    assert np.all(np.diff(said_alignment(interval, seconds(*[start + length + gap for gap in gaps]))) <= 1e-15)


# -- meant


def test_meant_overlap_is_one_and_half_when_the_talk_is_of_a_far_longer_time() -> None:
    day = [days(100, 101)]
    meant = [
        [(100 * DAY, 101 * DAY)],
        [(99 * DAY, 103 * DAY)],  # as long as 2 * 1 + 2 days: not overlong
        [(99 * DAY, 103.5 * DAY)],
        [(50 * DAY, math.inf)],
        [],
        [(101 * DAY, 102 * DAY)],  # touches, does not overlap
        [(103 * DAY, 104 * DAY)],
    ]
    expected = [1, 1, 0.5, 0.5, 0, 0.7, 0.7 * math.exp(-1)]
    np.testing.assert_allclose(meant_alignment(day, meant), expected)


def test_a_moment_that_was_meant_overlaps_the_interval_that_holds_it() -> None:
    assert meant_alignment([days(100, 101)], [[(100 * DAY, 100 * DAY)]]).tolist() == [1.0]


def test_the_best_of_several_meant_intervals_counts() -> None:
    meant = [[(5000 * DAY, 5001 * DAY), (100 * DAY, 101 * DAY)]]
    assert meant_alignment([days(100, 101)], meant).tolist() == [1.0]
    assert meant_alignment([], meant).tolist() == [0.0]


def meant_oracle(intervals: list[Interval], spans: list[tuple[float, float]]) -> float:
    best = 0.0
    for interval in intervals:
        a = -math.inf if interval.start is None else interval.start.timestamp()
        b = math.inf if interval.end is None else interval.end.timestamp()
        top = max(other.weight for other in intervals if other.span == interval.span)
        for start, end in spans:
            if start < b and (end > a or start >= a):
                fit = 0.5 if end - start > 2 * (b - a) + 2 * DAY else 1.0
            else:
                gap = a - end if end <= a else start - b
                fit = 0.7 * math.exp(-gap / max(2 * DAY, min(b - a, 60 * DAY) / 2))
            best = max(best, fit * interval.weight / top)
    return best


@patient
@given(questions(), st.lists(st.lists(pairs, max_size=3), max_size=5))
def test_meant_agrees_with_the_formula_pair_by_pair(
    intervals: list[Interval], meant: list[list[tuple[float, float]]]
) -> None:
    scores = meant_alignment(intervals, meant)
    np.testing.assert_allclose(scores, [meant_oracle(intervals, spans) for spans in meant], atol=1e-12)
    assert np.all((scores >= 0) & (scores <= 1))


# -- the paper's cosine


def embedding_oracle(start: float, end: float) -> list[float]:
    steps = 512
    cosines: list[float] = []
    sines: list[float] = []
    for step in range(steps):
        period = DAY * (400 * 365.25) ** (step / (steps - 1))
        wave = 2 * math.pi / period
        damping = math.exp(-(wave**2) * (end - start) ** 2 / 24)
        cosines.append(damping * math.cos(wave * (start + end) / 2))
        sines.append(damping * math.sin(wave * (start + end) / 2))
    length = math.sqrt(sum(value * value for value in cosines + sines))
    return [value / length for value in cosines + sines]


@patient
@given(numbers, st.floats(0, 4000))
def test_embedding_agrees_with_its_formula_and_has_length_one(first: float, length: float) -> None:
    vector = interval_embedding(first * DAY, (first + length) * DAY)
    np.testing.assert_allclose(vector, embedding_oracle(first * DAY, (first + length) * DAY), atol=1e-6)
    assert math.isclose(float(vector @ vector), 1.0)


@patient
@given(st.floats(-20_000, 60_000))
def test_the_cosine_falls_as_the_distance_doubles_from_a_day_to_twenty_years(first: float) -> None:
    def moved(by: float) -> float:
        return float(
            interval_embedding(first * DAY, (first + 1) * DAY)
            @ interval_embedding((first + by) * DAY, (first + by + 1) * DAY)
        )

    cosines = [moved(0), *(moved(2.0**step) for step in range(13))]
    assert math.isclose(cosines[0], 1.0)
    assert all(near > far for near, far in pairwise(cosines))


@patient
@given(st.floats(-20_000, 60_000))
def test_the_cosine_falls_as_the_granularity_differs_more(middle: float) -> None:
    day = interval_embedding((middle - 0.5) * DAY, (middle + 0.5) * DAY)
    lengths = [1, 2, 7, 30, 91, 365, 3652]
    cosines = [float(day @ interval_embedding((middle - w / 2) * DAY, (middle + w / 2) * DAY)) for w in lengths]
    assert all(near > far for near, far in pairwise(cosines))


@pytest.mark.parametrize(("start", "end"), [(math.nan, 1.0), (2.0, 1.0), (-math.inf, math.inf)])
def test_what_is_no_interval_is_refused(start: float, end: float) -> None:
    with pytest.raises(InputError, match="no interval"):
        interval_embedding(start, end)


def test_paper_alignment_is_one_for_equal_times_and_zero_without_any() -> None:
    times = [
        [(100 * DAY, 101 * DAY)],
        [],
        [(100.5 * DAY, 100.5 * DAY)],
        [(9000 * DAY, 9001 * DAY), (100 * DAY, 101 * DAY)],
    ]
    scores = paper_alignment([days(100, 101)], times)
    np.testing.assert_allclose(scores[[0, 3]], [1, 1])
    assert scores[1] == 0
    assert 0.8 < scores[2] < 1
    assert paper_alignment([], times).tolist() == [0, 0, 0, 0]
    assert paper_alignment([days(1, 2)], []).tolist() == []


@patient
@given(questions(), st.lists(st.lists(pairs, max_size=3), max_size=4))
def test_paper_alignment_is_the_best_clipped_cosine(
    intervals: list[Interval], times: list[list[tuple[float, float]]]
) -> None:
    expected: list[float] = []
    for spans in times:
        best = 0.0
        for interval in intervals:
            a = -math.inf if interval.start is None else interval.start.timestamp()
            b = math.inf if interval.end is None else interval.end.timestamp()
            top = max(other.weight for other in intervals if other.span == interval.span)
            for start, end in spans:
                cosine = float(interval_embedding(a, b) @ interval_embedding(start, end))
                best = max(best, min(1.0, cosine) * interval.weight / top)
        expected.append(best)
    scores = paper_alignment(intervals, times)
    np.testing.assert_allclose(scores, expected, atol=1e-9)
    assert np.all((scores >= 0) & (scores <= 1))


# -- all three


@patient
@given(questions(), st.lists(st.lists(pairs, max_size=2), min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_a_permutation_of_the_candidates_permutes_the_scores(
    intervals: list[Interval], times: list[list[tuple[float, float]]], random: Random
) -> None:
    order = list(range(len(times)))
    random.shuffle(order)
    said = np.array([spans[0][0] if spans else np.nan for spans in times])
    shuffled = [times[place] for place in order]
    np.testing.assert_array_equal(said_alignment(intervals, said[order]), said_alignment(intervals, said)[order])
    np.testing.assert_array_equal(meant_alignment(intervals, shuffled), meant_alignment(intervals, times)[order])
    np.testing.assert_allclose(
        paper_alignment(intervals, shuffled), paper_alignment(intervals, times)[order], atol=1e-12
    )
