"""What a reading tells about usefulness: conditional mutual information, the paper's and ours.

The paper (AssoMem, ICLR 2026, "Fusion"): scores are discretised into low, medium, high; from pairs (bin b, useful λ)

    CMI_d(q) = I(s_d^b; λ | q) = Σ_b Σ_λ p(b, λ | q) · log[ p(b, λ | q) / (p(b | q) · p(λ | q)) ]
    w_d(q)   = exp(CMI_d(q) / T) / Σ_d' exp(CMI_d'(q) / T)

At T = 1 those weights are nearly equal, since each CMI is far below 1; and a signal that decides few questions has
little information over all of them, while redundant ones are paid twice. `conditional_weights` is our form: the
information a reading adds to the others, where it says anything at all.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

HARD_CANDIDATES = 100
"""Learning looks at so many of the strongest candidates: the others are told apart by anything."""

QUANTILE_BINS = 6
STRATA = (3, 8, 20, 50)
"""Places by the other readings: 1-3, 4-8, 9-20, 21-50, the rest."""

ROUNDS = 4


class Labelled(Protocol):
    """A question whose evidence is known."""

    @property
    def reading_names(self) -> tuple[str, ...]:
        """Names of the r readings."""
        ...

    @property
    def readings(self) -> NDArray[np.float32]:
        """(n, r), one row for each candidate, each in 0..1."""
        ...

    @property
    def relevant(self) -> NDArray[np.bool_]:
        """(n,), which candidates are evidence."""
        ...


def mutual_information(bins: NDArray[np.int64], useful: NDArray[np.bool_]) -> float:
    """I(b; λ) in nats from pairs of bin and label: 0 for independent ones, at most the entropy of the label.

    Args:
        bins: a bin number for each pair.
        useful: the label of each.
    """
    if not len(bins):
        return 0.0
    names, index = np.unique(bins, return_inverse=True)
    table = np.zeros((len(names), 2))
    np.add.at(table, (index, useful.astype(int)), 1.0)
    joint = table / table.sum()
    alone = joint.sum(1, keepdims=True) * joint.sum(0, keepdims=True)
    there = joint > 0
    return float((joint[there] * np.log(joint[there] / alone[there])).sum())


def tertiles(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Low, medium, high as 0, 1, 2: the thirds of the scores; equal scores share a bin."""
    return np.digitize(scores, np.unique(np.quantile(scores, [1 / 3, 2 / 3]))).astype(np.int64)


def softmax_weights(information: Mapping[str, float], temperature: float) -> dict[str, float]:
    """The paper's weights: exp(CMI / T), normalised to sum 1. T above 0; small T lets the best take all."""
    values = np.array(list(information.values())) / temperature
    powers = np.exp(values - values.max())
    return dict(zip(information, (powers / powers.sum()).tolist(), strict=True))


def paper_weights(questions: Sequence[Labelled], temperature: float = 1.0) -> dict[str, float]:
    """The paper's rule over labelled questions of one type: tertiles, mutual information, softmax.

    Readings must already be normalised over each question's candidates.
    """
    names = questions[0].reading_names
    useful = np.concatenate([question.relevant for question in questions])
    information = {
        name: mutual_information(
            tertiles(np.concatenate([question.readings[:, place] for question in questions]).astype(np.float64)), useful
        )
        for place, name in enumerate(names)
    }
    return softmax_weights(information, temperature)


def conditional_weights(questions: Sequence[Labelled]) -> dict[str, float]:
    """Our rule: w_i ~ sqrt(Σ_c P(c) 2 I_c / (π_c (1 - π_c))) / σ(x̃_i), normalised to sum 1.

    x_i is the reading, centred over the question's hard candidates, in questions where it varies. The others, weighted,
    give r; x̃_i = x_i - β r is what they do not say; strata c are places by r; I_c the information of six quantile bins
    of x̃_i about usefulness within c (less the bias of counting, (bins - 1) / 2m), π_c the share useful. A Gaussian
    shift d carries I = π(1-π)d²/2 and deserves the weight d/σ: hence root and division. A reading whose useful
    candidates score lower gets 0. The first round is marginal, each later one moves half-way.
    """
    names = questions[0].reading_names
    centred, useful = _hard(questions)
    count = len(names)
    active = np.array([[(block[:, place] ** 2).mean() > 1e-6 for place in range(count)] for block in centred])
    weights = np.full(count, 1.0 / count)
    for number in range(ROUNDS):
        found = np.array(
            [
                _worth(place, centred, useful, active[:, place], None if number == 0 else weights)
                for place in range(count)
            ]
        )
        if found.sum() <= 0:
            break
        found = found / found.sum()
        weights = found if number == 0 else 0.5 * weights + 0.5 * found
    return dict(zip(names, weights.tolist(), strict=True))


def _hard(
    questions: Sequence[Labelled],
) -> tuple[list[NDArray[np.float64]], list[NDArray[np.bool_]]]:
    """Centred readings and labels of each question's strongest candidates by the equal mix, evidence included."""
    centred: list[NDArray[np.float64]] = []
    useful: list[NDArray[np.bool_]] = []
    for question in questions:
        if not question.relevant.any():
            continue
        best = hard_candidates(question)
        block = question.readings[best].astype(np.float64)
        centred.append(block - block.mean(axis=0))
        useful.append(question.relevant[best])
    return centred, useful


def hard_candidates(question: Labelled) -> NDArray[np.int64]:
    """Indices of the strongest candidates by the equal mix, all evidence among them."""
    strength = question.readings.mean(axis=1) + 10.0 * question.relevant
    return np.argsort(-strength, kind="stable")[:HARD_CANDIDATES]


def _worth(
    place: int,
    centred: Sequence[NDArray[np.float64]],
    useful: Sequence[NDArray[np.bool_]],
    active: NDArray[np.bool_],
    weights: NDArray[np.float64] | None,
) -> float:
    blocks: list[int] = np.flatnonzero(active).tolist()
    if len(blocks) < 5:
        return 0.0
    value = np.concatenate([centred[number][:, place] for number in blocks])
    label = np.concatenate([useful[number] for number in blocks])
    stratum = np.zeros(len(value), np.int64)
    if weights is not None:
        others = weights.copy()
        others[place] = 0.0
        rest = np.concatenate([centred[number] @ others for number in blocks])
        ranks = np.concatenate(
            [np.argsort(np.argsort(-(centred[number] @ others), kind="stable")) for number in blocks]
        )
        stratum = np.digitize(ranks, STRATA)
        slope = float(value @ rest) / max(float(rest @ rest), 1e-12)
        value = value - slope * rest
    spread = float(np.sqrt((value**2).mean()))
    if spread < 1e-9:
        return 0.0
    edges = np.unique(np.quantile(value, np.linspace(0, 1, QUANTILE_BINS + 1)[1:-1]))
    bins = np.digitize(value, edges)
    worth, direction = 0.0, 0.0
    for number in np.unique(stratum):
        inside = stratum == number
        share, useful_share = inside.mean(), label[inside].mean()
        if not 0 < useful_share < 1:
            continue
        bias = (QUANTILE_BINS - 1) / (2 * inside.sum())
        information = max(0.0, mutual_information(bins[inside], label[inside]) - bias)
        worth += share * 2 * information / (useful_share * (1 - useful_share))
        here = value[inside]
        direction += share * (here[label[inside]].mean() - here[~label[inside]].mean())
    return float(np.sqrt(worth)) / spread if direction > 0 else 0.0
