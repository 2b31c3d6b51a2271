"""Reads: personalised PageRank in GDS, for the default importance and for the paper's.

The graph of a walk is projected from lists, ranked and dropped in one statement. Where GDS is missing, the same
numbers are computed here, slower on large graphs, and the result says so.
"""

import math
import secrets
from collections.abc import Sequence
from datetime import datetime
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from assomem.candidates import Candidates, MemoryState
from assomem.errors import StoreError, StoreUnavailable
from assomem.graph import speaker_key
from assomem.graph.nearest import to_vector
from assomem.question import Question
from assomem.store import Store, gds_version, load
from assomem.terms import terms

RAREST = 2
WIDEST_SHARE = 0.04
WIDEST_AT_LEAST = 6
"""A clue links utterances when at most max(WIDEST_AT_LEAST, WIDEST_SHARE * N) of the N belong to it."""


def shared_clues(
    store: Store, state: MemoryState, question: Question, candidates: Candidates
) -> list[tuple[int, int, float]]:
    """Pairs of candidates of one speaker in different sessions that share rare clues which the question does not name.

    Returns:
        (index of one, index of the other, weight): the sum of the squared inverse document frequencies.
    """
    rows = store.read(
        load("walk/shared_clues"),
        memory=state.name,
        ordinals=candidates.ordinals.tolist(),
        rarest=RAREST,
        widest=int(max(WIDEST_AT_LEAST, WIDEST_SHARE * state.utterances)),
    )
    asked = set(question.terms)
    index = {int(ordinal): place for place, ordinal in enumerate(candidates.ordinals)}
    speakers = [speaker_key(speaker) for speaker in candidates.speakers]
    pairs: dict[tuple[int, int], float] = {}
    shared: list[tuple[str, int, list[int]]] = rows[0]["clues"]
    for clue, support, ordinals in shared:
        if asked.issuperset(terms(clue)):
            continue
        rarity = math.log(1 + state.utterances / (1 + support)) ** 2
        for one, other in combinations(sorted(index[ordinal] for ordinal in ordinals), 2):
            if speakers[one] == speakers[other] and candidates.session_ids[one] != candidates.session_ids[other]:
                pairs[one, other] = pairs.get((one, other), 0.0) + rarity
    return [(one, other, weight) for (one, other), weight in sorted(pairs.items())]


def pagerank(
    store: Store,
    state: MemoryState,
    sources: Sequence[int],
    targets: Sequence[int],
    weights: Sequence[float],
    seeds: dict[int, float],
    *,
    nodes: int,
    damping: float,
    iterations: int,
) -> tuple[NDArray[np.float64], str | None]:
    """Personalised PageRank r = (1 - d) t + d M r of a graph given as lists; a node without edges out keeps nothing.

    Returns:
        The rank of every node, in 0..1, and what did not work as configured, or None.

    Raises:
        StoreUnavailable: Neo4j could not be reached.
    """
    if not seeds or not sources:
        start = np.zeros(nodes)
        start[list(seeds)] = [(1 - damping) * bias for bias in seeds.values()]
        return start, None
    graph = f"{projection_prefix(state)}{secrets.token_hex(8)}"
    # A seed without links would not be in the projection; a link to a sink keeps it there and brings nobody anything.
    alone = sorted(set(seeds).difference(sources, targets))
    try:
        rows = store.read(
            load("walk/rank"),
            graph=graph,
            sources=[*sources, *alone],
            targets=[*targets, *([nodes] * len(alone))],
            weights=[*weights, *([1.0] * len(alone))],
            seeds=[[node, bias] for node, bias in seeds.items()],
            damping=damping,
            iterations=iterations,
        )
    except StoreUnavailable:
        raise
    except StoreError as error:
        says = _why_not(store, graph, error)
        return power_iteration(
            sources, targets, weights, seeds, nodes=nodes, damping=damping, iterations=iterations
        ), says
    ranks = np.zeros(nodes)
    found: list[tuple[int, float]] = rows[0]["ranks"] if rows else []
    for node, rank in found:
        if node < nodes:
            ranks[node] = rank
    return ranks, None


def power_iteration(
    sources: Sequence[int],
    targets: Sequence[int],
    weights: Sequence[float],
    seeds: dict[int, float],
    *,
    nodes: int,
    damping: float,
    iterations: int,
) -> NDArray[np.float64]:
    """What `pagerank` computes, in this process."""
    source, target = np.array(sources, np.int64), np.array(targets, np.int64)
    weight = np.array(weights, np.float64)
    leaving = np.bincount(source, weight, nodes)
    share = weight / leaving[source]
    start = np.zeros(nodes)
    start[list(seeds)] = [(1 - damping) * bias for bias in seeds.values()]
    ranks = start.copy()
    for _ in range(iterations - 1):  # GDS counts the start as the first one
        ranks = start + damping * np.bincount(target, share * ranks[source], nodes)
    return ranks


def projection_prefix(state: MemoryState) -> str:
    """How the names of a memory's projections begin."""
    return f"assomem_{state.key}_"


def paper_importance(
    store: Store,
    state: MemoryState,
    question: Question,
    candidates: Candidates,
    until: datetime,
    *,
    damping: float,
    iterations: int,
) -> tuple[NDArray[np.float64], str | None]:
    """The paper's importance: PageRank over the whole memory with teleport t_u = sim(q, u), 0 for clues.

    Returns:
        r_u for each candidate, and what did not work as configured, or None.
    """
    if question.embedding is None:
        return np.zeros(len(candidates)), None
    rows = store.read(
        load("walk/memory_edges"),
        memory=state.name,
        vector=to_vector(question.embedding.vector),
        until=int(np.ceil(until.timestamp())),
    )
    number = {row["node"]: place for place, row in enumerate(rows)}
    sources: list[int] = []
    targets: list[int] = []
    weights: list[float] = []
    for row in rows:
        for other, weight in zip(row["others"], row["weights"], strict=True):
            here, there = number[row["node"]], number[other]
            sources += [here, there]
            targets += [there, here]
            weights += [weight, weight]
    similarity = {place: max(row["cosine"], 0.0) for place, row in enumerate(rows) if row["cosine"] is not None}
    total = sum(similarity.values())
    seeds = {place: value / total for place, value in similarity.items() if value > 0} if total > 0 else {}
    ranks, says = pagerank(
        store, state, sources, targets, weights, seeds,
        nodes=len(rows), damping=damping, iterations=iterations,
    )  # fmt: skip
    spoken = {row["ordinal"]: place for place, row in enumerate(rows) if row["ordinal"] is not None}
    places = [spoken.get(ordinal) for ordinal in candidates.ordinals.tolist()]
    return np.array([0.0 if place is None else ranks[place] for place in places]), says


def _why_not(store: Store, graph: str, error: StoreError) -> str:
    if gds_version(store) is None:
        return (
            "Neo4j has no Graph Data Science plugin: PageRank was computed by this program instead. "
            "Install the plugin (docker/compose.yaml shows how), or use the managed server: assomem up"
        )
    store.read(load("walk/drop"), graph=graph)
    return f"PageRank was computed by this program instead of GDS: {error}"
