import numpy as np
import pytest

from assomem.errors import ModelError
from assomem.models.chat import ChatModel, Completion
from assomem.models.doubles import Call, Fault, FaultyEmbedder, HashingEmbedder, ScriptedChatModel
from assomem.models.embedder import Embedder, usable


@pytest.mark.parametrize("dimensions", [1, 2, 64, 384, 768])
@pytest.mark.parametrize("tokens", [True, False])
def test_the_hashing_embedder_keeps_the_promises_of_an_embedder(dimensions: int, tokens: bool) -> None:
    embedder: Embedder = HashingEmbedder(dimensions, tokens=tokens)
    texts = ["Mira: we met in Lisbon", "", "🙂", "Mira: " + "a long day " * 100]
    for one in embedder.embed_utterances(texts):
        assert usable(one.vector, dimensions)
        assert all(usable(piece, dimensions) for piece in one.pieces)
        assert len(one.piece_tokens) == len(one.pieces)
        assert (one.token_vectors is not None) == tokens
        assert sum(one.piece_tokens) == (0 if one.token_vectors is None else len(one.token_vectors))
    assert embedder.embed_phrases(texts).shape == (4, dimensions)
    assert embedder.embed_phrases([]).shape == (0, dimensions)
    asked = embedder.embed_question("Where did we meet? " * 50)
    assert usable(asked.vector, dimensions)
    assert len(asked.token_words) == (62 if tokens else 0)


def test_the_same_words_have_cosine_one_and_other_words_nearly_none() -> None:
    embedder = HashingEmbedder(256)
    rows = embedder.embed_phrases(["Night train", "train night", "two kittens"])
    assert float(rows[0] @ rows[1]) == pytest.approx(1, abs=1e-6)
    assert abs(float(rows[0] @ rows[2])) < 0.2


def test_meanings_make_paraphrases() -> None:
    embedder = HashingEmbedder(64, meanings={"kitten": "cat", "tove": "mira"})
    rows = embedder.embed_phrases(["kitten", "cat", "Mira", "Tove"])
    assert np.array_equal(rows[0], rows[1])
    assert np.array_equal(rows[2], rows[3])
    assert embedder.fingerprint != HashingEmbedder(64).fingerprint


def test_the_hashing_embedder_gives_the_same_vectors_every_time() -> None:
    one, other = HashingEmbedder(8), HashingEmbedder(8)
    assert one.fingerprint == other.fingerprint
    assert np.array_equal(one.embed_phrases(["Lisbon"]), other.embed_phrases(["Lisbon"]))
    assert one.fingerprint != HashingEmbedder(16).fingerprint


@pytest.mark.parametrize("fault", ["zeros", "nan", "size"])
def test_a_fault_spoils_the_texts_that_hold_its_word_and_no_others(fault: Fault) -> None:
    embedder: Embedder = FaultyEmbedder(HashingEmbedder(16), {"broken": fault})
    good, bad = embedder.embed_utterances(["Mira: fine", "Mira: broken"])
    assert usable(good.vector, 16)
    assert not usable(bad.vector, 16)
    assert not usable(bad.pieces[0], 16)
    assert not usable(embedder.embed_question("broken?").vector, 16)
    rows = embedder.embed_phrases(["fine", "broken"])
    assert usable(rows[0], 16) == (fault != "size")
    assert not usable(rows[1], 16)


def test_the_fault_error_fails_the_call() -> None:
    embedder = FaultyEmbedder(HashingEmbedder(16), {"broken": "error"})
    assert len(embedder.embed_utterances(["fine"])) == 1
    with pytest.raises(ModelError):
        embedder.embed_utterances(["fine", "broken"])
    with pytest.raises(ModelError):
        embedder.embed_phrases(["broken"])
    with pytest.raises(ModelError):
        embedder.embed_question("broken")


def test_a_scripted_model_replies_in_order_and_keeps_what_it_was_asked() -> None:
    scripted = ScriptedChatModel(["one", Completion("two", "length", 1, 2), ModelError("three")])
    chat: ChatModel = scripted
    assert chat.complete("rules", "first", max_tokens=5).text == "one"
    assert chat.complete("rules", "second", max_tokens=5) == Completion("two", "length", 1, 2)
    with pytest.raises(ModelError, match="three"):
        chat.complete("rules", "third", max_tokens=5)
    with pytest.raises(ModelError, match="3 replies"):
        chat.complete("rules", "fourth", max_tokens=5)
    assert scripted.calls[1] == Call("rules", "second", 5)
    assert len(scripted.calls) == 4
