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
    """A weighted directed graph with biased seeds, as a walk needs it. Nodes are numbers from 0, the sink the last."""

    sources: tuple[int, ...]
    targets: tuple[int, ...]
    weights: tuple[float, ...]
    seeds: Mapping[int, float]
    """Node → bias; the biases sum to 1. Empty: there is nowhere to start."""
    members: tuple[int, ...]
    """The candidate that each node stands for, the sink left out. Only those that a seed reaches are here."""
    degrees: tuple[float, ...]
    """Of each member: the weights of its pairs and `SINK_WEIGHT`."""
    scale: float
    """What the biases were divided by."""

    @property
    def nodes(self) -> int:
        """Number of nodes with the sink."""
        return len(self.members) + 1


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
    node after the last. `carried` turns r back into v. What no seed reaches gets nothing and is left out.

    Args:
        pairs: (one, other, weight above 0), each pair once.
        shares: p, one for each candidate, summing to 1 or all 0.
    """
    beside: dict[int, list[int]] = {}
    for one, other, _ in pairs:
        beside.setdefault(one, []).append(other)
        beside.setdefault(other, []).append(one)
    ahead = [seed for seed in np.flatnonzero(shares).tolist() if seed in beside]
    reached = set(ahead)
    while ahead:
        found = set(beside[ahead.pop()]) - reached
        reached |= found
        ahead += found
    members = sorted(reached)
    node = {member: place for place, member in enumerate(members)}
    links = [(node[one], node[other], weight) for one, other, weight in pairs if one in reached]
    degrees = np.full(len(members), SINK_WEIGHT)
    for one, other, weight in links:
        degrees[one] += weight
        degrees[other] += weight
    biases = np.sqrt(degrees) * shares[members]
    scale = float(biases.sum())
    sink = len(members)
    return Walk(
        sources=(*(one for one, _, _ in links), *(other for _, other, _ in links), *range(sink)),
        targets=(*(other for _, other, _ in links), *(one for one, _, _ in links), *[sink] * sink),
        weights=(*[weight for _, _, weight in links] * 2, *[SINK_WEIGHT] * sink),
        seeds={int(place): float(biases[place] / scale) for place in np.flatnonzero(biases)},
        members=tuple(members),
        degrees=tuple(degrees.tolist()),
        scale=scale,
    )


def carried(way: Walk, shares: NDArray[np.float64], ranks: NDArray[np.float64], damping: float) -> NDArray[np.float64]:
    """What the walk brought to each candidate beyond its own share as a seed, 0 or more.

    Args:
        way: the walk.
        shares: the shares it was made from.
        ranks: PageRank of its nodes, the sink last.
        damping: d of the walk, 0..1.
    """
    brought = np.zeros(len(shares))
    members = list(way.members)
    reached = ranks[: len(members)] / np.sqrt(way.degrees) * way.scale
    # Rounded: an untouched seed must come out as 0, not as the last bit of a sum.
    brought[members] = np.maximum(np.round(reached - (1 - damping) * shares[members], 12), 0.0)
    return brought
