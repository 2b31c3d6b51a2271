"""Importance: the walk in the form PageRank computes, against the linear system it stands for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from assomem.signals.importance import SEEDS, SINK_WEIGHT, carried, seed_shares, symmetric_walk
from assomem.walk import power_iteration

Pairs = list[tuple[int, int, float]]


def walked(pairs: Pairs, shares: NDArray[np.float64], damping: float = 0.5) -> NDArray[np.float64]:
    """What the walk brings, with PageRank iterated until it no longer moves."""
    way = symmetric_walk(pairs, shares)
    ranks = power_iteration(
        way.sources, way.targets, way.weights, dict(way.seeds), nodes=way.nodes, damping=damping, iterations=400
    )
    return carried(way, shares, ranks, damping)


def solved(pairs: Pairs, shares: NDArray[np.float64], damping: float) -> NDArray[np.float64]:
    """v = (1 - d) p + d S v solved as it stands, without the seeds' own mass."""
    count = len(shares)
    links = np.zeros((count, count))
    for one, other, weight in pairs:
        links[one, other] += weight
        links[other, one] += weight
    degree = links.sum(axis=1) + SINK_WEIGHT
    similar = links / np.sqrt(np.outer(degree, degree))
    value = np.linalg.solve(np.eye(count) - damping * similar, (1 - damping) * shares)
    return value - (1 - damping) * shares


def shares_of(count: int, *seeds: int) -> NDArray[np.float64]:
    shares = np.zeros(count)
    shares[list(seeds)] = 1 / len(seeds)
    return shares


@st.composite
def graphs(draw: st.DrawFn) -> tuple[Pairs, NDArray[np.float64]]:
    count = draw(st.integers(2, 8))
    links = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(lambda link: link[0] < link[1])
    pairs = [
        (*link, draw(st.floats(0.01, 100))) for link in draw(st.lists(links, unique=True, min_size=1, max_size=12))
    ]
    raw = np.array(draw(st.lists(st.sampled_from([0.0, 0.0, 0.1, 1.0]), min_size=count, max_size=count)))
    return pairs, raw / raw.sum() if raw.sum() > 0 else raw


@given(graphs(), st.sampled_from([0.3, 0.5, 0.85]))
def test_the_walk_solves_the_symmetric_system(graph: tuple[Pairs, NDArray[np.float64]], damping: float) -> None:
    pairs, shares = graph
    found = walked(pairs, shares, damping)
    np.testing.assert_allclose(found, np.maximum(solved(pairs, shares, damping), 0), atol=1e-9)
    assert np.all(found >= 0)


@given(graphs())
def test_the_walk_is_a_graph_with_a_sink_and_seeds_that_sum_to_one(graph: tuple[Pairs, NDArray[np.float64]]) -> None:
    pairs, shares = graph
    way = symmetric_walk(pairs, shares)
    sink = len(way.members)
    assert way.nodes == sink + 1
    assert len(way.sources) == len(way.targets) == len(way.weights)
    assert all(0 <= node < way.nodes for node in (*way.sources, *way.targets))
    assert way.sources[-sink:] == tuple(range(sink))
    assert set(way.targets[len(way.targets) - sink :]) <= {sink}
    assert min(way.weights, default=1) > 0
    assert sink not in way.sources
    linked = {member for one, other, _ in pairs for member in (one, other)}
    assert {way.members[node] for node in way.seeds} == linked & set(np.flatnonzero(shares).tolist())
    assert sum(way.seeds.values()) == pytest.approx(1) or not way.seeds


def test_what_no_seed_reaches_is_no_part_of_the_walk() -> None:
    way = symmetric_walk([(1, 2, 3.0), (2, 4, 3.0), (5, 6, 3.0)], shares_of(8, 0, 1))
    assert way.members == (1, 2, 4)
    assert way.seeds == {0: 1.0}
    assert len(way.sources) == 2 * 2 + 3


def test_two_linked_candidates_by_hand() -> None:
    # Degrees 10 + 10 = 20, S = 10/20 = 1/2, d = 1/2: v0 = 1/2 + v1/4, v1 = v0/4: v0 = 8/15, v1 = 2/15.
    np.testing.assert_allclose(walked([(0, 1, 10.0)], shares_of(2, 0)), [8 / 15 - 1 / 2, 2 / 15])


def test_a_seed_without_neighbours_gets_nothing() -> None:
    found = walked([(1, 2, 3.0)], shares_of(4, 0, 1))
    assert found[0] == found[3] == 0
    assert found[2] > 0


def test_candidates_beyond_the_reach_of_every_seed_get_nothing() -> None:
    found = walked([(0, 1, 5.0), (2, 3, 5.0)], shares_of(4, 0))
    assert found[1] > 0
    assert found[2] == found[3] == 0


def test_without_pairs_or_without_seeds_all_are_zero() -> None:
    assert walked([], shares_of(3, 1)).tolist() == [0, 0, 0]
    assert walked([(0, 1, 5.0)], np.zeros(2)).tolist() == [0, 0]
    assert symmetric_walk([(0, 1, 5.0)], np.zeros(2)).seeds == {}
    assert symmetric_walk([], np.zeros(0)).nodes == 1
    assert walked([], np.zeros(0)).shape == (0,)


def test_a_hub_does_not_win_by_being_a_hub() -> None:
    # The hub 2 is linked to the seed like 1 is, and to thirty others besides.
    pairs: Pairs = [(0, 1, 5.0), (0, 2, 5.0), *[(2, other, 5.0) for other in range(3, 33)]]
    found = walked(pairs, shares_of(33, 0))
    assert found[1] > 2 * found[2]
    # Its neighbours, two steps from the seed, get less than the seed's own neighbour.
    assert found[1] > 10 * found[3:].max()


def test_a_stronger_link_brings_more() -> None:
    found = walked([(0, 1, 8.0), (0, 2, 2.0)], shares_of(3, 0))
    assert found[1] > found[2] > 0


# -- seeds


def test_seed_shares_by_hand() -> None:
    np.testing.assert_allclose(seed_shares(np.array([0.2, 0.8, 0.5])), [0, 0.6 / 0.9, 0.3 / 0.9])


def test_only_the_best_are_seeds_and_what_they_exceed_the_field_by_counts() -> None:
    scores = np.arange(100.0)  # the best are 99 .. 90, the score after thirty is 69
    shares = seed_shares(scores)
    assert np.flatnonzero(shares).tolist() == list(range(90, 100))
    np.testing.assert_allclose(shares[90:], np.arange(21.0, 31.0) / np.arange(21.0, 31.0).sum())


@pytest.mark.parametrize("scores", [[], [0.7], [0.4, 0.4, 0.4], [0.0, 0.0]])
def test_without_a_difference_there_is_nowhere_to_start(scores: list[float]) -> None:
    assert seed_shares(np.array(scores)).tolist() == [0.0] * len(scores)


@given(st.lists(st.floats(0, 1), max_size=50))
def test_shares_sum_to_one_or_are_all_zero(scores: list[float]) -> None:
    shares = seed_shares(np.array(scores))
    assert np.all(shares >= 0)
    assert np.count_nonzero(shares) <= SEEDS
    assert shares.sum() == pytest.approx(1) or not shares.any()
    for one, other in zip(*np.nonzero(shares[:, None] > shares[None, :]), strict=True):
        assert scores[one] >= scores[other]
