"""Weights from labelled questions, by two rules, each mixed with equal weights.

`learn_listwise` is a softmax over a question's candidates of SCALE · Σ w_i x_i, w ≥ 0, fitted to give its evidence the
probability (Cao et al., Learning to Rank: From Pairwise Approach to Listwise Approach, ICML 2007), drawn towards equal
weights. It ranks better than any rule by mutual information on talk of a kind it has seen, and no better on other
kinds: so a part of the result is always equal weights. `learn_by_information` is the conditional rule of
`information`: weaker, but each weight can be read off the data alone, and few questions suffice.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from assomem.fusion.fuse import SIGNAL_OF, SIGNALS, ReadingWeights
from assomem.fusion.information import Labelled, conditional_weights, hard_candidates

SCALE = 8.0
PULL = 0.01
"""Strength of the pull towards equal weights."""
LEARNT_SHARE = 0.9
"""Share of the learnt weights in the result; the rest is equal weights."""
STEPS = 400
TOTAL = 3.5
"""Sum of the weights that the fit begins with; with SCALE it sets how sharp the softmax is."""


def learn_listwise(questions: Sequence[Labelled], share: float = LEARNT_SHARE) -> ReadingWeights:
    """Weights for questions like these; all sum to 1. Questions without evidence among their candidates do not count.

    Args:
        questions: labelled questions, all with the same readings.
        share: of the learnt weights in the result, 0..1.

    Raises:
        ValueError: no question has evidence among its candidates.
    """
    usable = _usable(questions)
    weights = _fitted(usable)
    return _mixed(dict(zip(usable[0].reading_names, (weights / weights.sum()).tolist(), strict=True)), share)


def learn_by_information(questions: Sequence[Labelled], share: float = LEARNT_SHARE) -> ReadingWeights:
    """The same by conditional mutual information. Arguments and errors as for `learn_listwise`."""
    return _mixed(conditional_weights(_usable(questions)), share)


def _usable(questions: Sequence[Labelled]) -> list[Labelled]:
    usable = [question for question in questions if question.relevant.any()]
    if not usable:
        raise ValueError("no question has evidence among its candidates: there is nothing to learn from")
    return usable


def _mixed(weights: Mapping[str, float], share: float) -> ReadingWeights:
    """Weights that sum to 1 mixed with equal ones, by signal."""
    return {
        signal: {
            name: share * weight + (1 - share) / len(weights)
            for name, weight in weights.items()
            if SIGNAL_OF[name] == signal
        }
        for signal in SIGNALS
    }


def _fitted(questions: Sequence[Labelled]) -> NDArray[np.float64]:
    """The fitted weights, 0 or more each."""
    width = max(min(len(question.relevant), 100) for question in questions)
    count = len(questions[0].reading_names)
    values = np.zeros((len(questions), width, count), np.float32)
    share = np.zeros((len(questions), width), np.float32)
    absent = np.ones((len(questions), width), bool)
    for number, question in enumerate(questions):
        best = hard_candidates(question)[:width]
        values[number, : len(best)] = question.readings[best]
        share[number, : len(best)] = question.relevant[best] / question.relevant[best].sum()
        absent[number, : len(best)] = False
    equal = np.full(count, TOTAL / count)
    weights = equal.copy()
    moment, spread = np.zeros(count), np.zeros(count)
    for step in range(1, STEPS + 1):
        scores = SCALE * (values @ weights.astype(np.float32))
        scores[absent] = -1e9
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        odds /= odds.sum(axis=1, keepdims=True)
        slope = np.einsum("qc,qcr->r", odds - share, values) / len(questions)
        slope = SCALE * slope.astype(np.float64) + 2 * PULL * SCALE * (weights - equal)
        # Adam (Kingma & Ba, 2015), projected onto weights of 0 or more.
        moment = 0.9 * moment + 0.1 * slope
        spread = 0.999 * spread + 0.001 * slope**2
        rate = 0.03 * (1 - step / (STEPS + 1))
        weights = weights - rate * (moment / (1 - 0.9**step)) / (np.sqrt(spread / (1 - 0.999**step)) + 1e-8)
        weights = np.maximum(weights, 0.0)
    return weights
