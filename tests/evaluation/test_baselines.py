"""The baselines on the small memories, with the double embedder: cosine is the share of words in common."""

from pathlib import Path

import numpy as np
import pytest

from assomem.evaluation.baselines import BASELINES, fused, hybrid, session_utterance, topic_grouping
from assomem.evaluation.cross_encoder import by_pairs
from assomem.evaluation.datasets import LabelledMemory, read_sets
from assomem.evaluation.embeddings import KeptEmbedder
from assomem.evaluation.indexed import IndexedMemory
from assomem.evaluation.knowledge_graph import knowledge_graph
from assomem.models.doubles import HashingEmbedder
from assomem.postings import K1, B
from assomem.terms import terms


@pytest.fixture
def garden(talks: Path) -> LabelledMemory:
    return read_sets([talks])[0].memories[1]


def indexed(memory: LabelledMemory, folder: Path, clues: str = "ready") -> IndexedMemory:
    return IndexedMemory(memory, KeptEmbedder(HashingEmbedder(256), folder), clues)


@pytest.mark.parametrize("name", [*BASELINES, "knowledge-graph"])
@pytest.mark.parametrize("clues", ["none", "built-in", "ready"])
def test_every_baseline_finds_an_utterance_that_shares_most_words_and_names_none_twice(
    garden: LabelledMemory, tmp_path: Path, name: str, clues: str
) -> None:
    index = indexed(garden, tmp_path, clues)
    rank = (BASELINES | {"knowledge-graph": knowledge_graph})[name]
    for question, wanted in zip(garden.asked[:2], ("g1:1", "g2:4"), strict=True):
        found = rank(index, index.ask(question))
        # Ready-made clues lead elsewhere here: then it only comes later.
        near = len(found) if clues == "ready" else 4
        assert wanted in [index.ids[number] for number in found[:near]]
        assert len(set(found)) == len(found) <= len(index)


def test_flat_is_the_order_of_the_cosines(garden: LabelledMemory, tmp_path: Path) -> None:
    index = indexed(garden, tmp_path)
    embedder = HashingEmbedder(256)
    question = embedder.embed_question(garden.asked[0].text).vector
    said = [f"{one.speaker}: {one.text}" for session in garden.sessions for one in session.utterances]
    cosines = [float(question @ one.vector) for one in embedder.embed_utterances(said)]
    found = BASELINES["flat"](index, index.ask(garden.asked[0]))
    assert found == sorted(range(12), key=lambda number: -cosines[number])


def test_bm25_is_the_naive_one(garden: LabelledMemory, tmp_path: Path) -> None:
    index = indexed(garden, tmp_path)
    said = [terms(f"{one.speaker}: {one.text}") for session in garden.sessions for one in session.utterances]
    mean = sum(map(len, said)) / len(said)
    scores: list[float] = []
    for words in said:
        score = 0.0
        for term in set(terms(garden.asked[2].text)):
            holding = sum(term in other for other in said)
            idf = np.log(1 + (len(said) - holding + 0.5) / (holding + 0.5))
            times = words.count(term)
            score += idf * times * (K1 + 1) / (times + K1 * (1 - B + B * len(words) / mean))
        scores.append(score)
    found = BASELINES["bm25"](index, index.ask(garden.asked[2]))
    assert found == sorted((n for n in range(12) if scores[n] > 0), key=lambda number: -scores[number])


def test_fusion_by_hand() -> None:
    # 1: 1/61 + 1/62; 2: 1/62 + 1/61; 3: 1/63; 4: 1/63: ties go to the earlier one.
    assert fused([[1, 2, 3], [2, 1, 4]]) == [1, 2, 3, 4]
    assert fused([[5, 1], [7, 5]]) == [5, 7, 1]
    assert fused([]) == []


def test_topics_put_their_utterances_first(garden: LabelledMemory, tmp_path: Path) -> None:
    index = indexed(garden, tmp_path)
    inside = {number for clue in index.clues if clue.kind == "topic" for number in clue.members}
    found = topic_grouping(index, index.ask(garden.asked[2]))
    assert set(found[: len(inside)]) == inside
    assert len(found) == 12


def test_a_fact_brings_its_utterance_up(garden: LabelledMemory, tmp_path: Path) -> None:
    index = indexed(garden, tmp_path, "ready")
    without = indexed(garden, tmp_path, "none")
    question = garden.asked[1]
    place = [index.ids[number] for number in knowledge_graph(index, index.ask(question))].index("g2:4")
    plain = [index.ids[number] for number in knowledge_graph(without, without.ask(question))].index("g2:4")
    assert place <= plain


def test_a_session_stands_for_at_most_three_of_its_utterances(garden: LabelledMemory, tmp_path: Path) -> None:
    index = indexed(garden, tmp_path)
    found = session_utterance(index, index.ask(garden.asked[0]))
    assert sorted(found) == list(range(12))


def test_a_reranker_orders_the_hybrids_best(garden: LabelledMemory, tmp_path: Path) -> None:
    index = indexed(garden, tmp_path)
    asked = index.ask(garden.asked[0])
    shortest = by_pairs(lambda pairs: [-len(text) for _, text in pairs])(index, asked)
    assert sorted(shortest) == sorted(hybrid(index, asked))
    lengths = [len(f"{index.speakers[number]}: {index.texts[number]}") for number in shortest]
    assert lengths == sorted(lengths)
