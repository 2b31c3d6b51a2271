"""Importance: what a walk over the graph from the question's strongest candidates brings to the others.

Pure arithmetic on either side of the walk: which edges with which weights, and what its result says.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SEEDS = 10
"""The walk starts from so many candidates: from all of them it would end near the global PageRank."""
SINK_WEIGHT = 10.0
"""Mass that every node loses besides its edges: a node with one weak edge must not hand all it has to it."""


@dataclass(frozen=True)
class Walk:
    """A weighted directed graph with biased seeds, as a walk needs it. Nodes are numbers from 0."""

    sources: tuple[int, ...]
    targets: tuple[int, ...]
    weights: tuple[float, ...]
    seeds: Mapping[int, float]
    """Node → bias; the biases sum to 1. Empty: there is nowhere to start."""
    nodes: int


def seed_shares(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares of the best candidates, summing to 1; all zeros when there is no difference to start from.

    The best `SEEDS` get what they exceed the score at rank 3 * SEEDS by.
    """
    shares = np.zeros(len(scores))
    if not len(scores):
        return shares
    order = np.argsort(-scores, kind="stable")
    floor = scores[order[min(3 * SEEDS, len(order) - 1)]]
    best = order[:SEEDS]
    shares[best] = np.maximum(scores[best] - floor, 0.0)
    return shares / shares.sum() if shares.sum() > 0 else shares


def symmetric_walk(pairs: Sequence[tuple[int, int, float]], shares: NDArray[np.float64]) -> Walk:
    """The walk v = (1 - d) p + d S v with S = D^-1/2 W D^-1/2, in the form that PageRank computes.

    W holds the pairs' weights in both directions, D their row sums plus `SINK_WEIGHT`. PageRank divides by the
    weight that leaves a node: r = (1 - d) D^1/2 p + d W D^-1 r, and r = D^1/2 v. The lost mass goes to a sink, the
    node after the last. `carried` turns r back into v.

    Args:
        pairs: (one, other, weight above 0), each pair once.
        shares: p, one for each candidate, summing to 1 or all 0.
    """
    count = len(shares)
    degree = _degree(pairs, count)
    sources = [one for one, _, _ in pairs] + [other for _, other, _ in pairs] + list(range(count))
    targets = [other for _, other, _ in pairs] + [one for one, _, _ in pairs] + [count] * count
    weights = [weight for _, _, weight in pairs] * 2 + [SINK_WEIGHT] * count
    biases = np.sqrt(degree) * shares
    total = biases.sum()
    seeds = {int(node): float(biases[node] / total) for node in np.flatnonzero(biases)} if total > 0 else {}
    return Walk(tuple(sources), tuple(targets), tuple(weights), seeds, count + 1)


def carried(
    pairs: Sequence[tuple[int, int, float]],
    shares: NDArray[np.float64],
    ranks: NDArray[np.float64],
    damping: float,
) -> NDArray[np.float64]:
    """What the walk brought to each candidate beyond its own share as a seed, 0 or more.

    Args:
        pairs: the pairs given to `symmetric_walk`.
        shares: the shares given to it.
        ranks: PageRank of its nodes, the sink last.
        damping: d of the walk, 0..1.
    """
    degree = _degree(pairs, len(shares))
    total = float((np.sqrt(degree) * shares).sum())
    reached = ranks[: len(shares)] / np.sqrt(degree) * total
    # Rounded: an untouched seed must come out as 0, not as the last bit of a sum.
    return np.maximum(np.round(reached - (1 - damping) * shares, 12), 0.0)


def _degree(pairs: Sequence[tuple[int, int, float]], count: int) -> NDArray[np.float64]:
    degree = np.full(count, SINK_WEIGHT)
    for one, other, weight in pairs:
        degree[one] += weight
        degree[other] += weight
    return degree
