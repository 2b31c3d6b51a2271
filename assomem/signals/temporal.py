"""Temporal alignment: how well the time a question means fits the time of an utterance, one number in 0..1 each.

AssoMem (ICLR 2026), "temporal alignment": s_temp = cos(e_temp(q), e_temp(u)), where TimeLlaMA embeds the time
expressions of question and utterance. `paper_alignment` keeps that formula; the embedding is ours, computed from the
dates themselves, because a language model does not place "last Tuesday" near its date. `said_alignment` and
`meant_alignment` are ours: gaps on the time line, forgiving outside the interval, where much of the evidence lies.

Times are POSIX seconds. No measure sees the clock: what is past depends on the question's intervals alone.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assomem.errors import InputError
from assomem.times import Interval

_DAY = 86_400.0
_LONGEST_DAYS = 60.0
"""Longer intervals do not forgive more."""

_SAID_LEAST_DAYS = 3.0
_MEANT_LEAST_DAYS = 2.0
"""Shortest decay: people count days loosely, in what they tell more than in when they told it."""

_LATER = 3.0
"""Evidence follows the event it is about more often than it precedes it: after the end the decay is slower."""

_OVERLONG = 0.5
"""An utterance about a far longer time ("in 2023" for a question about one day) fits half."""

_NEAR = 0.7
"""A time close to the question's fits less than one that touches it."""

_FREQUENCIES = 512
_SHORTEST_PERIOD_DAYS = 1.0
_LONGEST_PERIOD_DAYS = 400 * 365.25
_OPEN_REACH = 10 * 365.25 * _DAY
"""How far an open end lies from the other end when the interval is embedded."""


def said_alignment(intervals: Sequence[Interval], said_at: NDArray[np.float64]) -> NDArray[np.float64]:
    """How close each candidate was said to the time a question means, 0..1, in the order of `said_at`.

    The best over the intervals [a, b) of: 1 inside; exp(-gap/τ) before a; exp(-gap/3τ) from b on;
    τ = max(3 days, min(b - a, 60 days)/2). A reading counts with its weight, scaled so that the likeliest reading of
    its expression counts fully. Shape (n,) gives (n,); NaN (undated) gives 0, and so does a question without a time.
    """
    scores = np.zeros(len(said_at))
    dated = ~np.isnan(said_at)
    moments = said_at[dated]
    for start, end, weight in _weighted(intervals):
        decay = max(_SAID_LEAST_DAYS * _DAY, _forgiven(start, end) / 2)
        before, after = np.maximum(start - moments, 0.0), np.maximum(moments - end, 0.0)
        fit = np.exp(-before / decay - after / (_LATER * decay))
        scores[dated] = np.maximum(scores[dated], weight * fit)
    return scores


def meant_alignment(
    intervals: Sequence[Interval], meant: Sequence[Sequence[tuple[float, float]]]
) -> NDArray[np.float64]:
    """How close each candidate's talk comes to the time a question means, 0..1, in the order of `meant`.

    `meant` holds, for each candidate, the (start, end) its text talks about, -inf and inf for open ends. The best over
    pairs of those and of the question's intervals [a, b): 1 if they overlap, 0.5 if the candidate's is then longer
    than 2(b - a) + 2 days; else 0.7·exp(-gap/max(2 days, min(b - a, 60 days)/2)). Weights of readings as in
    `said_alignment`. Shape (n,); 0 for a candidate, or a question, that means no time.
    """
    scores = np.zeros(len(meant))
    owners, starts, ends = _flat(meant)
    for start, end, weight in _weighted(intervals):
        decay = max(_MEANT_LEAST_DAYS * _DAY, _forgiven(start, end) / 2)
        touches = (starts < end) & ((ends > start) | (starts >= start))
        overlong = ends - starts > 2 * (end - start) + 2 * _DAY
        gap = np.maximum(np.maximum(start - ends, starts - end), 0.0)
        fit = np.where(touches, np.where(overlong, _OVERLONG, 1.0), _NEAR * np.exp(-gap / decay))
        np.maximum.at(scores, owners, weight * fit)
    return scores


def interval_embedding(start: float, end: float) -> NDArray[np.float64]:
    """The temporal embedding of the interval from `start` to `end`: a unit vector of shape (1024,).

    Waves with periods from a day to four centuries, evenly spaced in the logarithm, each read at the middle of the
    interval and damped where it is short against the interval's length w: e^(-ω²w²/24) (cos ωm, sin ωm). The cosine
    of two embeddings is 1 for equal intervals and falls with the logarithm of their distance and with the difference
    of their lengths: a day and its year are related, a day and the next day more. Far apart it ripples around 0.
    An open end (-inf or inf) is taken ten years from the other end.

    Raises:
        InputError: an end is NaN, both are infinite, or the end lies before the start.
    """
    if math.isnan(start) or math.isnan(end) or end < start or (math.isinf(start) and math.isinf(end)):
        raise InputError(
            f"no interval goes from {start} to {end}. Allowed are POSIX seconds with start <= end, "
            "one of them may be infinite."
        )
    return _embed(np.array([start]), np.array([end]))[0]


def paper_alignment(
    intervals: Sequence[Interval], times: Sequence[Sequence[tuple[float, float]]]
) -> NDArray[np.float64]:
    """The paper's s_temp = cos(e_temp(q), e_temp(u)), 0..1, in the order of `times`.

    `times` holds each candidate's (start, end) pairs: what it talks about, and (t, t) for when it was said. Of several
    pairs and several intervals of the question the best counts, with the reading's weight as in `said_alignment`;
    negative cosines count 0. Shape (n,); 0 for a candidate, or a question, without a time.
    """
    scores = np.zeros(len(times))
    owners, starts, ends = _flat(times)
    if not len(owners):
        return scores
    embedded = _embed(starts, ends)
    for start, end, weight in _weighted(intervals):
        cosines = embedded @ _embed(np.array([start]), np.array([end]))[0]
        np.maximum.at(scores, owners, weight * np.clip(cosines, 0.0, 1.0))
    return scores


def _weighted(intervals: Sequence[Interval]) -> list[tuple[float, float, float]]:
    """Start, end and weight of each reading; 1 for the likeliest of its expression."""
    likeliest: dict[tuple[int, int], float] = {}
    for interval in intervals:
        likeliest[interval.span] = max(likeliest.get(interval.span, 0.0), interval.weight)
    return [
        (
            -math.inf if interval.start is None else interval.start.timestamp(),
            math.inf if interval.end is None else interval.end.timestamp(),
            interval.weight / likeliest[interval.span],
        )
        for interval in intervals
        if interval.weight > 0
    ]


def _forgiven(start: float, end: float) -> float:
    return min(end - start, _LONGEST_DAYS * _DAY)


def _flat(
    times: Sequence[Sequence[tuple[float, float]]],
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
    """All pairs in one row: whose they are, their starts, their ends."""
    owners = np.repeat(np.arange(len(times)), [len(pairs) for pairs in times])
    starts = np.array([start for pairs in times for start, _ in pairs], dtype=np.float64)
    ends = np.array([end for pairs in times for _, end in pairs], dtype=np.float64)
    return owners, starts, ends


def _embed(starts: NDArray[np.float64], ends: NDArray[np.float64]) -> NDArray[np.float64]:
    """Embeddings of n intervals, shape (n, 1024), each of length 1."""
    starts = np.where(np.isneginf(starts), ends - _OPEN_REACH, starts)
    ends = np.where(np.isposinf(ends), starts + _OPEN_REACH, ends)
    periods = np.geomspace(_SHORTEST_PERIOD_DAYS * _DAY, _LONGEST_PERIOD_DAYS * _DAY, _FREQUENCIES)
    waves = 2 * np.pi / periods
    phases = np.outer((starts + ends) / 2, waves)
    # A Gaussian as wide as the interval (w/√12) instead of the interval itself: its damping never changes sign.
    damping = np.exp(-np.outer((ends - starts) ** 2, waves**2) / 24)
    features = np.hstack((damping * np.cos(phases), damping * np.sin(phases)))
    return features / np.linalg.norm(features, axis=1, keepdims=True)
