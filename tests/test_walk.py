"""PageRank in GDS: compared with a closed form, with the same walk in this process, and by hand."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from numpy.typing import NDArray

from assomem import AssoMem, ReadyMadeClue, Session, Settings, Utterance, walk
from assomem.candidates import Candidates, Filters, Layouts, MemoryState, find
from assomem.dialogue import identity
from assomem.models.doubles import HashingEmbedder
from assomem.question import Question, understand
from assomem.server import Address
from assomem.store import Query, Store, load

STATE = MemoryState("test walk", "0test0walk0", 1, 64, 0, 0, 0)
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
PROJECTIONS = Query(
    "tests/projections", "CALL gds.graph.list() YIELD graphName RETURN graphName AS name", frozenset(), ("name",)
)


def in_gds(
    store: Store,
    edges: list[tuple[int, int, float]],
    seeds: dict[int, float],
    nodes: int,
    *,
    damping: float = 0.5,
    iterations: int = 20,
) -> NDArray[np.float64]:
    sources, targets, weights = ([edge[part] for edge in edges] for part in range(3))
    ranks, says = walk.pagerank(
        store, STATE, [int(one) for one in sources], [int(one) for one in targets], weights, seeds,
        nodes=nodes, damping=damping, iterations=iterations,
    )  # fmt: skip
    assert says is None
    return ranks


def closed_form(
    edges: list[tuple[int, int, float]], seeds: dict[int, float], nodes: int, damping: float
) -> NDArray[np.float64]:
    """(1 - d) (I - d M)^-1 t, M[i, j] the share of j's weight that goes to i."""
    moves = np.zeros((nodes, nodes))
    for source, target, weight in edges:
        moves[target, source] += weight
    leaving = moves.sum(axis=0)
    moves = np.divide(moves, leaving, out=np.zeros_like(moves), where=leaving > 0)
    teleport = np.zeros(nodes)
    for node, bias in seeds.items():
        teleport[node] = bias
    return np.asarray((1 - damping) * np.linalg.solve(np.eye(nodes) - damping * moves, teleport), np.float64)


def random_graph(seed: int, nodes: int, degree: int) -> tuple[list[tuple[int, int, float]], dict[int, float]]:
    """Directed, weighted, some nodes dangling; a fifth of the nodes are seeds with uneven biases."""
    random = np.random.default_rng(seed)
    edges = {
        (int(source), int(target)): float(random.uniform(0.05, 3.0))
        for source, target in random.integers(0, nodes, (nodes * degree, 2))
        if source % 7 and source != target
    }
    chosen = sorted({source for source, _ in edges})[:: max(1, nodes // 12)]
    biases = random.uniform(0.01, 1.0, len(chosen)) ** 3
    seeds = {node: float(bias) for node, bias in zip(chosen, biases / biases.sum(), strict=True)}
    return [(source, target, weight) for (source, target), weight in edges.items()], seeds


@pytest.mark.parametrize("damping", [0.5, 0.85])
def test_gds_gives_the_closed_form_to_a_billionth(store: Store, damping: float) -> None:
    edges, seeds = random_graph(1, 60, 4)
    ranks = in_gds(store, edges, seeds, 60, damping=damping, iterations=300)
    np.testing.assert_allclose(ranks, closed_form(edges, seeds, 60, damping), rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_gds_and_this_process_agree_on_random_graphs(store: Store, seed: int) -> None:
    nodes = 20 + 40 * seed
    edges, seeds = random_graph(seed, nodes, 3)
    sources, targets, weights = zip(*edges, strict=True)
    here = walk.power_iteration(sources, targets, weights, seeds, nodes=nodes, damping=0.5, iterations=20)
    np.testing.assert_allclose(in_gds(store, edges, seeds, nodes), here, rtol=0, atol=1e-6)


@pytest.mark.parametrize("iterations", [1, 2, 5])
def test_gds_and_this_process_count_iterations_alike(store: Store, iterations: int) -> None:
    edges, seeds = random_graph(3, 40, 3)
    sources, targets, weights = zip(*edges, strict=True)
    here = walk.power_iteration(sources, targets, weights, seeds, nodes=40, damping=0.85, iterations=iterations)
    there = in_gds(store, edges, seeds, 40, damping=0.85, iterations=iterations)
    np.testing.assert_allclose(there, here, rtol=0, atol=1e-12)


def test_a_hand_computed_walk(store: Store) -> None:
    # 0 is the seed; it gives a quarter to 1 and three quarters to 2; 1 gives all to 2, which keeps nothing.
    ranks = in_gds(store, [(0, 1, 1.0), (0, 2, 3.0), (1, 2, 5.0)], {0: 1.0}, 3)
    np.testing.assert_allclose(ranks, [0.5, 0.0625, 0.1875 + 0.03125], atol=1e-12)


def test_an_edge_is_walked_from_its_source_alone(store: Store) -> None:
    np.testing.assert_allclose(in_gds(store, [(0, 1, 1.0)], {1: 1.0}, 2), [0.0, 0.5])


def test_without_seeds_every_rank_is_zero(store: Store) -> None:
    assert not in_gds(store, [(0, 1, 1.0)], {}, 2).any()


def test_without_edges_a_seed_keeps_its_own_share(store: Store) -> None:
    np.testing.assert_allclose(in_gds(store, [], {1: 1.0}, 3), [0.0, 0.5, 0.0])


def test_isolated_and_dangling_nodes_do_no_harm(store: Store) -> None:
    np.testing.assert_allclose(in_gds(store, [(0, 1, 1.0)], {0: 1.0}, 4), [0.5, 0.25, 0.0, 0.0])


def test_an_isolated_seed_keeps_its_own_share(store: Store) -> None:
    np.testing.assert_allclose(in_gds(store, [(0, 1, 1.0)], {0: 0.5, 3: 0.5}, 4), [0.25, 0.125, 0.0, 0.25])


def test_a_failure_of_the_plugin_is_named_and_leaves_nothing_behind(store: Store) -> None:
    # Damping above 1 is refused by the plugin, after the projection was made.
    ranks, says = walk.pagerank(
        store, STATE, [0], [1], [1.0], {0: 1.0}, nodes=2, damping=1.5, iterations=1,
    )  # fmt: skip
    assert says is not None
    assert "computed by this program instead of GDS" in says
    np.testing.assert_allclose(ranks, [-0.5, 0.0])  # (1 - d) after the first iteration
    assert not left_over(store)


def left_over(store: Store) -> list[str]:
    return [row["name"] for row in store.read(PROJECTIONS) if row["name"].startswith(walk.projection_prefix(STATE))]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[tuple[int, int, float]], dict[int, float]]:
    nodes = draw(st.integers(2, 12))
    node = st.integers(0, nodes - 1)
    edges = draw(
        st.lists(st.tuples(node, node, st.floats(0.01, 100)), min_size=1, max_size=30, unique_by=lambda edge: edge[:2])
    )
    biases = draw(st.dictionaries(node, st.floats(0.001, 1), min_size=1))
    total = sum(biases.values())
    return nodes, edges, {one: bias / total for one, bias in biases.items()}


@given(graphs())
def test_a_walk_in_this_process_is_the_closed_form_and_makes_no_mass(
    graph: tuple[int, list[tuple[int, int, float]], dict[int, float]],
) -> None:
    nodes, edges, seeds = graph
    sources, targets, weights = zip(*edges, strict=True)
    ranks = walk.power_iteration(sources, targets, weights, seeds, nodes=nodes, damping=0.5, iterations=60)
    np.testing.assert_allclose(ranks, closed_form(edges, seeds, nodes, 0.5), atol=1e-12)
    assert (ranks >= 0).all()
    assert ranks.sum() <= 1 + 1e-12


@examples(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graphs())
def test_gds_agrees_with_the_closed_form_on_any_small_graph(
    store: Store, graph: tuple[int, list[tuple[int, int, float]], dict[int, float]]
) -> None:
    nodes, edges, seeds = graph
    ranks = in_gds(store, edges, seeds, nodes, iterations=60)
    np.testing.assert_allclose(ranks, closed_form(edges, seeds, nodes, 0.5), atol=1e-9)


@pytest.fixture(scope="module")
def associations(server: Address, settings: Settings, store: Store) -> Iterator[tuple[Store, MemoryState]]:
    """A memory of two speakers in three sessions with known clues."""
    del server
    name = "test walk, associations"
    with AssoMem(name, settings=settings, embedder=HashingEmbedder(gamma=0.5)) as memory:
        memory.remember(SESSIONS, clues=CLUES)
        row = store.read(load("memories/state"), memory=name)[0]
        yield store, replace(STATE, name=name, key=row["key"], revision=row["revision"], utterances=row["utterances"])
        memory.forget(everything=True)


SESSIONS = [
    Session(
        f"s{day}",
        [
            Utterance("Mira", f"The heron stood by pond number {day} again", NOON + timedelta(days=day)),
            Utterance("Tove", f"I mended the kayak, part {day}", NOON + timedelta(days=day, minutes=1)),
            Utterance("Mira", f"Somebody plays the cello upstairs, day {day}", NOON + timedelta(days=day, minutes=2)),
        ],
    )
    for day in range(3)
]
CLUES = [
    ReadyMadeClue("s0", "topic", "birds", ("s0:1", "s0:2")),
    ReadyMadeClue("s1", "topic", "birds", ("s1:1",)),
    ReadyMadeClue("s2", "topic", "music", ("s2:1", "s2:3")),
    ReadyMadeClue("s0", "event", "the concert", ("s0:3",)),
    ReadyMadeClue("s1", "event", "the concert", ("s1:3",)),
    ReadyMadeClue("s2", "topic", "heron", ("s2:1",)),
    ReadyMadeClue("s1", "topic", "heron", ("s1:1",)),
]


def asked(store: Store, state: MemoryState, text: str) -> tuple[Question, Candidates, Filters]:
    asked_at = NOON + timedelta(days=30)
    question = understand(text, asked_at, HashingEmbedder(gamma=0.5), max_characters=1000)
    filters = Filters(asked_at, asked_at)
    return question, find(store, state, question, filters, Layouts()), filters


def test_utterances_of_one_speaker_in_different_sessions_are_linked_by_clues_the_question_does_not_name(
    associations: tuple[Store, MemoryState],
) -> None:
    store, state = associations
    question, found, _ = asked(store, state, "Where did the heron stand by the pond, and who plays the cello?")
    pairs = {
        (found.utterance_ids[one], found.utterance_ids[other]): weight
        for one, other, weight in walk.shared_clues(store, state, question, found)
    }
    # "birds" and "the concert" have support 3 and 2 of 9; "heron" is in the question; nothing links Mira and Tove.
    assert pairs == {
        ("s0:1", "s1:1"): pytest.approx(np.log(1 + 9 / 4) ** 2),
        ("s0:3", "s1:3"): pytest.approx(np.log(1 + 9 / 3) ** 2),
    }


def test_the_papers_importance_is_the_pagerank_of_the_whole_memory(associations: tuple[Store, MemoryState]) -> None:
    store, state = associations
    question, found, filters = asked(store, state, "heron pond")
    ranks, says = walk.paper_importance(store, state, question, found, filters.until, damping=0.85, iterations=200)
    assert says is None
    np.testing.assert_allclose(ranks, dense(store, state, found, question, NOON + timedelta(days=30)), atol=1e-6)
    assert ranks.max() > 0


def test_the_papers_importance_knows_nothing_said_after_the_question(associations: tuple[Store, MemoryState]) -> None:
    store, state = associations
    question, found, _ = asked(store, state, "heron pond")
    until = NOON + timedelta(days=1)
    ranks, _ = walk.paper_importance(store, state, question, found, until, damping=0.85, iterations=200)
    expected = dense(store, state, found, question, until)
    np.testing.assert_allclose(ranks, expected, atol=1e-6)
    assert {one for one, rank in zip(found.session_ids, ranks, strict=True) if rank > 0} == {"s0"}


def dense(
    store: Store, state: MemoryState, found: Candidates, question: Question, until: datetime
) -> NDArray[np.float64]:
    """The same from the graph as it lies in the database, undirected, with a dense solver."""
    text = (
        "MATCH (n {memory: $memory}) WHERE n:Clue OR n:Utterance AND n.said_at < $until "
        "OPTIONAL MATCH (n)-[r:BELONGS|SIMILAR]-(m) WHERE m:Clue OR m.said_at < $until "
        "RETURN n.uid AS uid, n:Utterance AS spoken, n.embedding AS vector, "
        "collect([m.uid, coalesce(r.score, r.weight)]) AS links"
    )
    query = Query("tests/graph", text, frozenset({"memory", "until"}), ("uid", "spoken", "vector", "links"))
    rows = store.read(query, memory=state.name, until=until)
    place = {row["uid"]: index for index, row in enumerate(rows)}
    edges = [
        (place[row["uid"]], place[other], weight) for row in rows for other, weight in row["links"] if other is not None
    ]
    assert question.embedding is not None
    asked_for = question.embedding.vector.astype(float)
    similarity = {
        place[row["uid"]]: max(float(np.array(row["vector"]) @ asked_for / np.linalg.norm(row["vector"])), 0.0)
        for row in rows
        if row["spoken"]
    }
    total = sum(similarity.values())
    ranks = closed_form(edges, {node: value / total for node, value in similarity.items()}, len(rows), 0.85)
    uids = [identity(state.name, one) for one in found.utterance_ids]
    return np.array([ranks[place[uid]] if uid in place else 0.0 for uid in uids])


def test_no_projection_of_ours_is_left(store: Store) -> None:
    assert not left_over(store)
