"""Embedders by name: at an OpenAI-compatible endpoint, by LangChain; and what they have in common."""

import base64
import importlib.util
import itertools
import json
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assomem.errors import ModelError, SettingsError
from assomem.models.doubles import HashingEmbedder
from assomem.models.embedder import open_embedder, usable
from assomem.models.endpoint import Endpoint
from assomem.models.gate import Gate
from assomem.models.openai_embedder import OpenAIVectors
from assomem.models.plain import PIECE_CHARACTERS, PlainEmbedder, Prefixes, Role, Row, character_pieces, prefixes_for
from assomem.models.scales import measure
from assomem.models.usage import Ledger, usage_file
from assomem.settings import read_settings

_NUMBERS = itertools.count()
SECRET = "sk-canary-key-4711"
PRIVATE = "CANARYWORD"

Answer = tuple[int, object, dict[str, str]]


@dataclass
class Served:
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    began: list[float] = field(default_factory=list[float])
    most_at_once: int = 0


def vectors(texts: Sequence[str], *, dimensions: int = 16, encoded: bool = False) -> dict[str, object]:
    """A reply with the hashing double's vectors, in another order than asked, not of unit length."""
    rows = HashingEmbedder(dimensions).embed_phrases(texts) * 3
    data: list[dict[str, object]] = [
        {
            "index": at,
            "embedding": base64.b64encode(row.tobytes()).decode() if encoded else [float(value) for value in row],
        }
        for at, row in enumerate(rows)
    ]
    return {"object": "list", "data": data[::-1], "usage": {"prompt_tokens": 7 * len(texts), "total_tokens": 0}}


@contextmanager
def endpoint(answer: Callable[[int, list[str]], Answer | None] | None = None) -> Generator[Served]:
    """An endpoint whose every reply is that of `answer(number of the call from 1, texts)`, None being vectors."""
    seen, counting, running = Served(), threading.Lock(), [0]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with counting:
                seen.requests.append(request)
                seen.began.append(time.monotonic())
                number = len(seen.requests)
                running[0] += 1
                seen.most_at_once = max(seen.most_at_once, running[0])
            texts = request["input"]
            status, body, headers = (answer and answer(number, texts)) or (200, vectors(texts), {})
            content = (body if isinstance(body, str) else json.dumps(body)).encode()
            with counting:
                running[0] -= 1
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving = threading.Thread(target=server.serve_forever, args=(0.01,))
    serving.start()
    seen.url = f"http://127.0.0.1:{server.server_port}/{next(_NUMBERS)}/v1"
    try:
        yield seen
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


def embedder(served: Served, *, batch_texts: int = 64, concurrency: int = 4, **further: Any) -> PlainEmbedder:
    source = OpenAIVectors(
        "test-embed",
        Endpoint(served.url, api_key=SECRET, concurrency=concurrency, pause_seconds=0.001),
        batch_texts=batch_texts,
        **further,
    )
    return PlainEmbedder("openai:test-embed", source, delta=0.9, gamma=0.8)


def test_an_endpoints_vectors_come_in_the_order_of_the_texts_and_of_unit_length() -> None:
    texts = [f"Mira: day {number} was quiet" for number in range(150)]
    with endpoint() as served:
        found = embedder(served).embed_utterances(texts)
    np.testing.assert_allclose([one.vector for one in found], HashingEmbedder(16).embed_phrases(texts), atol=1e-5)
    assert all(one.token_vectors is None and one.piece_tokens == (0,) for one in found)
    assert all(usable(one.vector, 16) and np.array_equal(one.vector, one.pieces[0]) for one in found)
    probe, *requests = served.requests
    assert len(probe["input"]) == 1
    assert sorted(len(request["input"]) for request in requests) == [22, 64, 64]
    assert all(request["encoding_format"] == "float" for request in requests)
    assert 1 <= served.most_at_once <= 4


def test_vectors_in_base64_are_read_too() -> None:
    with endpoint(lambda _, texts: (200, vectors(texts, encoded=True), {})) as served:
        found = embedder(served).embed_phrases(["night train"])
    np.testing.assert_allclose(found, HashingEmbedder(16).embed_phrases(["night train"]), atol=1e-5)


WAIT = 0.4


def test_being_told_to_wait_loses_nothing_and_no_worker_calls_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"Mira: day {number} was quiet" for number in range(1000)]
    closed: list[float] = []
    began: list[float] = []
    close_for, request = Gate.close_for, Endpoint.client.fget

    def close(gate: Gate, seconds: float) -> None:
        close_for(gate, seconds)
        closed.append(time.monotonic())

    def client(endpoint: Endpoint) -> object:  # every request begins with it
        began.append(time.monotonic())
        assert request is not None
        return request(endpoint)

    monkeypatch.setattr(Gate, "close_for", close)
    monkeypatch.setattr(Endpoint, "client", property(client))

    def answer(number: int, texts: list[str]) -> Answer | None:
        del texts
        time.sleep(0.005)
        return (429, {"error": {"message": SECRET}}, {"Retry-After": str(WAIT)}) if number % 10 == 0 else None

    with endpoint(answer) as served:
        found = embedder(served, batch_texts=10).embed_utterances(texts)
    assert len(found) == 1000
    assert all(usable(one.vector, 16) for one in found)
    assert len(began) == len(served.requests) <= 1.2 * 101
    assert len(closed) >= 10
    # What was let through just before may be sent a moment later, when the machine is busy.
    moment = WAIT / 2
    assert not [at for at in began for told in closed if told + moment < at < told + WAIT - 0.02]


@pytest.mark.parametrize(
    ("wait", "kinds"),
    [
        ("Wed, 21 Oct 2015 07:28:00 GMT", None),
        ("-5", None),
        ("0", None),
        ("soon", None),
        ("", None),
        ("nan", None),
        ("86400", "rate_limited"),
        ("1e300", "rate_limited"),
        ("inf", "rate_limited"),
        ("Wed, 21 Oct 2099 07:28:00 GMT", "rate_limited"),
    ],
)
def test_a_wait_that_is_over_is_none_and_an_absurd_one_is_a_failure_at_once(wait: str, kinds: str | None) -> None:
    with endpoint(lambda number, _: (429, {}, {"Retry-After": wait}) if number == 2 else None) as served:
        chat = embedder(served)
        assert chat.dimensions == 16
        started = time.monotonic()
        if kinds is None:
            assert usable(chat.embed_question("Who came?").vector, 16)
            assert len(served.requests) == 3
        else:
            for _ in range(2):  # nor does the next one call: the endpoint asked to be left alone
                with pytest.raises(ModelError) as caught:
                    chat.embed_question("Who came?")
                assert caught.value.kind == kinds
            assert len(served.requests) == 2
        assert time.monotonic() - started < 1.5


def test_a_date_in_the_near_future_is_waited_for() -> None:
    from email.utils import formatdate

    def answer(number: int, texts: list[str]) -> Answer | None:
        del texts
        return (503, {}, {"Retry-After": formatdate(time.time() + 2, usegmt=True)}) if number == 2 else None

    with endpoint(answer) as served:
        assert usable(embedder(served).embed_question("Who came?").vector, 16)
        assert 0.8 < served.began[2] - served.began[1] < 3


def test_no_more_calls_run_at_once_than_the_limit() -> None:
    def answer(number: int, texts: list[str]) -> Answer | None:
        del number, texts
        time.sleep(0.02)
        return None

    with endpoint(answer) as served:
        embedder(served, batch_texts=1, concurrency=2).embed_utterances([f"text {number}" for number in range(12)])
        assert served.most_at_once == 2


def test_a_text_that_is_refused_takes_no_other_along() -> None:
    def answer(number: int, texts: list[str]) -> Answer | None:
        del number
        return (400, {"error": {"message": PRIVATE}}, {}) if any("bad" in text for text in texts) else None

    texts = [f"text {number}" for number in range(9)] + ["bad"]
    with endpoint(answer) as served:
        found = embedder(served).embed_utterances(texts)
    assert [usable(one.vector, 16) for one in found] == [True] * 9 + [False]
    assert not found[-1].vector.any()


NO_VECTORS: list[tuple[Answer, str]] = [
    ((401, {"error": {"message": SECRET}}, {}), "key_refused"),
    ((404, {}, {}), "not_found"),
    ((400, {}, {}), "refused"),
    ((500, {}, {}), "server_error"),
    ((200, "<html>hello</html>", {}), "not_a_completion"),
    ((200, {"data": []}, {}), "not_a_completion"),
    ((200, {"data": [{"embedding": []}]}, {}), "not_a_completion"),
    ((200, {"data": [{"embedding": None}]}, {}), "not_a_completion"),
    ((200, {"data": [{"embedding": "?"}]}, {}), "not_a_completion"),
    ((200, {"data": [{"embedding": [0.0, 0.0]}]}, {}), "refused"),
]


@pytest.mark.parametrize(("answer", "kind"), NO_VECTORS)
def test_an_endpoint_that_gives_no_vectors_is_a_named_failure(answer: Answer, kind: str) -> None:
    with endpoint(lambda _, __: answer) as served, pytest.raises(ModelError) as caught:
        embedder(served).embed_utterances([PRIVATE])
    assert caught.value.kind == kind
    assert SECRET not in str(caught.value)
    assert PRIVATE not in str(caught.value)
    assert len(served.requests) == (4 if kind == "server_error" else 1)


def test_calls_for_vectors_are_counted_with_their_failures(tmp_path: Path) -> None:
    def answer(number: int, texts: list[str]) -> Answer | None:
        del texts
        return (429, {}, {}) if number == 2 else None

    with endpoint(answer) as served:
        settings = read_settings(
            embedder="openai:test-embed", openai_base_url=served.url, openai_api_key=SECRET, home=tmp_path
        )
        opened = open_embedder(settings, memory="ann")
        assert opened.name == "openai:test-embed"
        assert usable(opened.embed_question("Who came?").vector, 16)
    (total,) = Ledger(usage_file(settings)).totals("ann")
    assert (total.model, total.purpose, total.calls, total.input_tokens) == ("test-embed", "embed", 2, 14)
    assert total.failures == {"rate_limited": 1}


def test_two_models_of_one_size_have_different_fingerprints_and_so_have_two_sizes_of_one() -> None:
    def opened(served: Served, name: str, text_prefix: str = "") -> PlainEmbedder:
        return PlainEmbedder(name, OpenAIVectors(name, Endpoint(served.url)), lambda: Prefixes(text=text_prefix))

    with endpoint() as served:
        one, same, other = (opened(served, name).fingerprint for name in ("a", "a", "b"))
        prefixed = opened(served, "a", "passage: ").fingerprint
    with endpoint(lambda _, texts: (200, vectors(texts, dimensions=32), {})) as served:
        larger = opened(served, "a").fingerprint
    assert one == same
    assert len({one, other, prefixed, larger}) == 4
    assert "openai:a/16/" in one


class Listed:
    """A source that keeps its texts; a vector counts letters."""

    fingerprint = "listed"

    def __init__(self) -> None:
        self.asked: list[tuple[str, Role]] = []

    def pieces(self, text: str, prefix: str) -> list[tuple[str, int]]:
        del prefix
        return character_pieces(text)

    def vectors(self, texts: Sequence[str], role: Role) -> list[Row | None]:
        self.asked.extend((text, role) for text in texts)
        return [HashingEmbedder(8).embed_phrases([text])[0] for text in texts]


def test_a_long_text_is_embedded_in_pieces_whose_mean_it_is() -> None:
    source = Listed()
    text = "Mira: " + "We walked along the river. " * 120 + "The kittens came home."
    (one,) = PlainEmbedder("x", source, delta=1, gamma=1).embed_utterances([text])
    assert len(one.pieces) == len(one.piece_tokens) == 3
    assert one.token_vectors is None
    texts = [asked for asked, _ in source.asked[-3:]]
    assert "".join(texts) == text
    mean = np.array([len(piece) for piece in texts]) @ one.pieces
    np.testing.assert_allclose(one.vector, mean / np.linalg.norm(mean), atol=1e-6)


def test_prefixes_stand_before_every_piece_and_blank_texts_are_not_sent() -> None:
    source = Listed()
    prefixes = Prefixes("query: ", "passage: ", "phrase: ")
    opened = PlainEmbedder("x", source, lambda: prefixes, delta=1, gamma=1)
    first, blank = opened.embed_utterances(["Mira: hello", " \n"])
    assert usable(first.vector, 8)
    assert not blank.vector.any()
    opened.embed_question("Who?")
    opened.embed_phrases(["a trip"])
    assert opened.embed_phrases([]).shape == (0, 8)
    assert [asked for asked in source.asked if "How large" not in asked[0]] == [
        ("passage: Mira: hello", "text"),
        ("query: Who?", "question"),
        ("phrase: a trip", "text"),
    ]


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("intfloat/multilingual-e5-large", "query: "),
        ("e5-base-v2", "query: "),
        ("intfloat/e5-mistral-7b-instruct", ""),
        ("nomic-embed-text", "search_query: "),
        ("BAAI/bge-large-en-v1.5", ""),
        ("text-embedding-3-small", ""),
    ],
)
def test_a_models_family_decides_its_prefixes_unless_the_settings_do(name: str, question: str) -> None:
    assert prefixes_for(name, read_settings()).question == question
    given = read_settings(embedder_question_prefix="Q ", embedder_text_prefix="T ")
    assert prefixes_for(name, given) == Prefixes("Q ", "T ", "T ")
    assert prefixes_for(name, read_settings(), Prefixes("own ")).question == "own "


@given(st.text(max_size=400), st.integers(1, 50))
def test_pieces_hold_every_word_in_order_and_are_not_too_long(text: str, most: int) -> None:
    pieces = [piece for piece, _ in character_pieces(text, most)]
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(len(piece) <= most for piece in pieces) or not text.strip()


def test_a_text_is_cut_at_a_sentences_end_else_at_a_blank() -> None:
    assert [piece for piece, _ in character_pieces("We ran. Then we slept for long", 20)] == [
        "We ran. ",
        "Then we slept for ",
        "long",
    ]
    assert len(character_pieces("说到猫和狗。" * 200)) == 3
    assert len(character_pieces("x" * PIECE_CHARACTERS)) == 1


def test_scales_of_an_unknown_model_are_measured_once_and_given_ones_are_kept() -> None:
    source = Listed()
    opened = PlainEmbedder("x", source)
    assert opened.dimensions == 8
    assert not [asked for asked, _ in source.asked if "class" in asked]
    assert 0 <= opened.gamma <= 0.99
    assert opened.delta <= 0.99
    asked = len(source.asked)
    assert (opened.delta, opened.gamma) == measure(opened.embed_phrases)
    assert len(source.asked) == asked + 36
    assert (PlainEmbedder("x", source, delta=0.5, gamma=0.4).delta, opened.name) == (0.5, "x")


@pytest.mark.parametrize("name", ["e5", "bge"])
def test_measured_scales_meet_those_of_the_packaged_models(name: str, request: pytest.FixtureRequest) -> None:
    packaged = request.getfixturevalue(name)
    delta, gamma = measure(packaged.embed_phrases)
    assert abs(delta - packaged.delta) <= 0.01
    assert abs(gamma - packaged.gamma) <= 0.03


def test_the_settings_replace_the_scales_of_any_embedder(tmp_path: Path) -> None:
    packaged = open_embedder(read_settings(cache=tmp_path, delta=0.5, gamma=0.25))
    assert (packaged.delta, packaged.gamma) == (0.5, 0.25)
    assert packaged.fingerprint == open_embedder(read_settings(cache=tmp_path)).fingerprint


@pytest.mark.parametrize("name", ["BAAI/bge-large-en-v1.5", "sentence-transformers:all-MiniLM-L6-v2", "."])
def test_a_model_of_sentence_transformers_needs_its_extra_and_the_message_says_how(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, "sentence_transformers")
    with pytest.raises(SettingsError, match=r'pip install "assomem\[sentence-transformers\]"'):
        open_embedder(read_settings(embedder=name))


def without(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    find = importlib.util.find_spec

    def find_other(name: str, package: str | None = None) -> object:
        return None if name == module else find(name, package)

    monkeypatch.setattr("importlib.util.find_spec", find_other)


def test_a_name_of_no_embedder_is_refused_with_what_there_is() -> None:
    with pytest.raises(SettingsError, match=r"e5-small-v2.*openai:NAME.*folder.*sentence-transformers:NAME.*ollama"):
        open_embedder(read_settings(embedder="no-such-model"))


def test_an_embedder_at_openai_needs_a_key_or_an_endpoint() -> None:
    with pytest.raises(SettingsError, match="OPENAI_API_KEY"):
        open_embedder(read_settings(embedder="openai:text-embedding-3-small"))
