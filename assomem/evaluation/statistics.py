"""How sure a mean over questions is, by the bootstrap.

Efron & Tibshirani, An Introduction to the Bootstrap (1993): questions are drawn again with replacement, as many as
there are, and the mean is taken each time. Questions are treated as independent, although those of one dialogue are
not quite: intervals are a little too narrow. All functions give the same for the same seed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assomem.errors import InputError

RESAMPLES = 2000
"""Enough for the ends of a 95 % interval to move by less than a tenth of its width from seed to seed."""


@dataclass(frozen=True, slots=True)
class Difference:
    """How much better one method is than another on the same questions."""

    mean: float
    """Mean of the one minus mean of the other."""
    low: float
    high: float
    """Ends of the interval."""
    p: float
    """Two-sided: how often a difference this far from 0 would be seen if there were none; 1/resamples at least."""


def bootstrap_interval(
    values: NDArray[np.float64], *, confidence: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> tuple[float, float]:
    """The percentile interval of the mean of some values, (low, high).

    Args:
        values: (n,), one for each question, n >= 1.
        confidence: 0..1, the share of resampled means inside.
        resamples: how often the questions are drawn, 1 or more.
        seed: of the random numbers.

    Raises:
        InputError: there are no values.
    """
    low, high = bootstrap_intervals(values[:, None], confidence=confidence, resamples=resamples, seed=seed)[0]
    return float(low), float(high)


def bootstrap_intervals(
    values: NDArray[np.float64], *, confidence: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> NDArray[np.float64]:
    """The same for several measures of the same questions at once: (n, m) gives (m, 2), low and high.

    Raises:
        InputError: there are no values.
    """
    means = _resampled(values, resamples, seed)
    tail = (1 - confidence) / 2
    return np.quantile(means, [tail, 1 - tail], axis=0).T


def paired_difference(
    one: NDArray[np.float64],
    other: NDArray[np.float64],
    *,
    confidence: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Difference:
    """The paired bootstrap: each draw takes both methods' values of a question.

    p is twice the share of resampled differences on the far side of 0 (Efron & Tibshirani, section 15.4, read off the
    percentile interval), at most 1.

    Args:
        one: (n,), one for each question.
        other: (n,), of the same questions in the same order.
        confidence: as in `bootstrap_interval`.
        resamples: likewise.
        seed: likewise.

    Raises:
        InputError: there are no values, or not equally many.
    """
    if one.shape != other.shape:
        raise InputError(f"a paired comparison needs the same questions: {len(one)} and {len(other)} values were given")
    differences = _resampled((one - other)[:, None], resamples, seed)[:, 0]
    tail = (1 - confidence) / 2
    low, high = np.quantile(differences, [tail, 1 - tail])
    # A difference of rounding alone is none: both sides then hold every draw.
    beyond = min(int((differences <= 1e-12).sum()), int((differences >= -1e-12).sum()))
    p = min(1.0, max(2 * beyond, 1) / resamples)
    return Difference(float((one - other).mean()), float(low), float(high), p)


def _resampled(values: NDArray[np.float64], resamples: int, seed: int) -> NDArray[np.float64]:
    """Means of each draw, (resamples, m)."""
    count = len(values)
    if not count:
        raise InputError("no questions: there is nothing to draw from")
    draws = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), size=resamples)
    return draws @ values / count
