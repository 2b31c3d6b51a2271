"""LangChain's models as ours, with the doubles that langchain-core ships."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from langchain_core.language_models import FakeListLLM, GenericFakeChatModel
from langchain_core.messages import AIMessage

from assomem import AssoMem
from assomem.errors import ModelError, SettingsError
from assomem.models.chat import Completion, open_chat_model
from assomem.models.doubles import HashingEmbedder, ScriptedChatModel
from assomem.models.embedder import open_embedder, usable
from assomem.models.langchain import (
    CHAT_PROVIDERS,
    EMBEDDING_PROVIDERS,
    LangChainChatModel,
    as_chat_model,
    as_embedder,
    provider_of,
)
from assomem.models.openai_chat import OpenAIChatModel
from assomem.models.usage import Ledger, usage_file
from assomem.settings import read_settings

PRIVATE = "CANARYWORD"


class RateLimitError(Exception):
    status_code = 429


class Fake(GenericFakeChatModel):
    """Keeps the limit of tokens of each call."""

    max_tokens: int = 0
    limits: list[int] = []  # noqa: RUF012  (a field of pydantic's)

    def _generate(self, *given: Any, **further: Any) -> Any:
        self.limits.append(self.max_tokens)
        return super()._generate(*given, **further)


def says(text: str, reason: str | None = None, **usage: int) -> AIMessage:
    told = {} if reason is None else {"finish_reason": reason}
    counted: Any = {**usage, "total_tokens": sum(usage.values())} if usage else None
    return AIMessage(text, response_metadata=told, usage_metadata=counted)


def model(*replies: AIMessage | Exception) -> LangChainChatModel:
    def given() -> Iterator[AIMessage]:
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
            yield reply

    return LangChainChatModel(Fake(messages=given()))


def test_a_model_of_langchains_answers_and_says_what_it_cost() -> None:
    chat = model(says(" <think>secret</think>Lisbon ", "stop", input_tokens=12, output_tokens=3))
    found = chat.complete("rules", "Where?", max_tokens=10, schema={"type": "object"})
    assert found == Completion("Lisbon", "stop", 12, 3)
    assert chat.name == "Fake"


@pytest.mark.parametrize("first", [says(""), says("In Lis", "length"), says("In Lis", "max_tokens")])
def test_an_empty_or_cut_answer_is_asked_for_once_more_with_more_room(first: AIMessage) -> None:
    fake = Fake(messages=iter([first, says("Lisbon")]))
    found = LangChainChatModel(fake).complete("rules", "Where?", max_tokens=10)
    assert found.text == "Lisbon"
    assert len(found.failed_tries) == 1
    assert fake.limits == [10, 40]
    with pytest.raises(ModelError, match="twice"):
        model(first, first).complete("rules", "Where?", max_tokens=10)


def test_a_stream_of_langchains_comes_in_pieces_and_ends_with_the_whole() -> None:
    *pieces, whole = model(says("In Lisbon in May")).stream("rules", "Where?", max_tokens=10)
    assert len(pieces) > 3
    assert isinstance(whole, Completion)
    assert "".join(map(str, pieces)) == whole.text == "In Lisbon in May"
    assert whole.finish_reason == "stop"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (RateLimitError(PRIVATE), "rate_limited"),
        (TimeoutError(PRIVATE), "timeout"),
        (ConnectionError(PRIVATE), "unreachable"),
        (ValueError(PRIVATE), "failed"),
    ],
)
def test_whatever_a_provider_raises_is_a_named_failure_without_its_words(error: Exception, kind: str) -> None:
    for call in (
        lambda: model(error).complete("rules", PRIVATE, max_tokens=10),
        lambda: list(model(error).stream("rules", PRIVATE, max_tokens=10)),
    ):
        with pytest.raises(ModelError) as caught:
            call()
        assert caught.value.kind == kind
        assert caught.value.tries == (kind,)
        assert PRIVATE not in str(caught.value)
        assert caught.value.__context__ is None


def test_embeddings_of_langchains_are_an_embedder() -> None:
    embedder = as_embedder(DeterministicFakeEmbedding(size=24))
    assert embedder.dimensions == 24
    assert embedder.fingerprint.startswith("langchain:DeterministicFakeEmbedding/24/")
    texts = [f"Mira: day {number}" for number in range(130)] + ["x " * 4000]
    found = embedder.embed_utterances(texts)
    assert all(usable(one.vector, 24) for one in found)
    assert len(found[-1].pieces) == 6
    assert usable(embedder.embed_question("Who?").vector, 24)
    assert np.allclose(np.linalg.norm(embedder.embed_phrases(["a", "b"]), axis=1), 1)


class Failing(Embeddings):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise RateLimitError(PRIVATE)

    def embed_query(self, text: str) -> list[float]:
        raise RateLimitError(PRIVATE)


def test_embeddings_that_fail_are_a_named_failure() -> None:
    with pytest.raises(ModelError) as caught:
        as_embedder(Failing()).embed_utterances([PRIVATE])
    assert caught.value.kind == "rate_limited"
    assert PRIVATE not in str(caught.value)


def test_models_of_ours_stay_as_they_are() -> None:
    chat, embedder = ScriptedChatModel([]), HashingEmbedder()
    assert as_chat_model(chat) is chat
    assert as_embedder(embedder) is embedder
    assert isinstance(as_chat_model(Fake(messages=iter(list[AIMessage]()))), LangChainChatModel)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("ollama:qwen2.5:3b", ("ollama", "qwen2.5:3b")),
        ("anthropic:claude-sonnet-4-5", ("anthropic", "claude-sonnet-4-5")),
        ("qwen2.5:3b", None),
        ("deepseek-r1:7b", None),
        ("openai:gpt-5", None),
        ("gpt-5", None),
        ("ollama:", None),
        ("ollama", None),
    ],
)
def test_only_a_known_provider_before_the_colon_is_langchains(name: str, found: tuple[str, str] | None) -> None:
    assert provider_of(name, CHAT_PROVIDERS) == found


@pytest.mark.parametrize(("name", "asked"), [("qwen2.5:3b", "qwen2.5:3b"), ("openai:gpt-5:x", "gpt-5:x")])
def test_any_other_name_is_a_model_at_the_endpoint_as_it_stands(name: str, asked: str) -> None:
    chat = open_chat_model(read_settings(chat_model=name, openai_base_url="http://127.0.0.1:9/v1"))
    assert isinstance(chat, OpenAIChatModel)
    assert chat.name == asked


def _found(name: str) -> str:
    return name


def _not_found(name: str) -> None:
    del name


def langchain_with(monkeypatch: pytest.MonkeyPatch, **functions: Any) -> None:
    """A package `langchain` that has the functions, in the place of what may be installed."""
    package = ModuleType("langchain")
    package.__spec__ = ModuleType("x").__spec__
    for name, function in functions.items():
        module = ModuleType(f"langchain.{name}")
        setattr(module, "init_chat_model" if name == "chat_models" else "init_embeddings", function)
        monkeypatch.setitem(sys.modules, f"langchain.{name}", module)
    monkeypatch.setitem(sys.modules, "langchain", package)
    monkeypatch.setattr("importlib.util.find_spec", _found)


def test_a_provider_is_opened_by_langchain(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, ...]] = []

    def init_chat(model: str, *, model_provider: str) -> Fake:
        asked.append((model_provider, model))
        return Fake(messages=iter([says("Lisbon")]))

    def init_embeddings(model: str, *, provider: str) -> Embeddings:
        asked.append((provider, model))
        return DeterministicFakeEmbedding(size=8)

    langchain_with(monkeypatch, chat_models=init_chat, embeddings=init_embeddings)
    chat = open_chat_model(read_settings(chat_model="ollama:qwen2.5:3b"))
    assert isinstance(chat, LangChainChatModel)
    assert chat.name == "ollama:qwen2.5:3b"
    assert chat.fingerprint == "langchain ollama:qwen2.5:3b"
    assert chat.complete("rules", "Where?", max_tokens=10).text == "Lisbon"
    embedder = open_embedder(read_settings(embedder="ollama:nomic-embed-text"))
    assert embedder.fingerprint.startswith("langchain:ollama:nomic-embed-text/8/")
    assert asked == [("ollama", "qwen2.5:3b"), ("ollama", "nomic-embed-text")]


@pytest.mark.parametrize(
    ("error", "advice"),
    [(ImportError("x"), "pip install langchain-google-genai"), (ValueError(PRIVATE), "key and address")],
)
def test_a_provider_that_is_not_installed_or_not_set_up_is_said_so(
    error: Exception, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def init(model: str, **further: str) -> None:
        raise error

    langchain_with(monkeypatch, chat_models=init)
    with pytest.raises(SettingsError, match=advice) as caught:
        open_chat_model(read_settings(chat_model="google_genai:gemini"))
    assert PRIVATE not in str(caught.value)


def test_without_langchain_a_provider_is_refused_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", _not_found)
    for given in ({"chat_model": "anthropic:claude"}, {"embedder": "cohere:embed"}):
        settings = read_settings(**given)
        with pytest.raises(SettingsError, match=r'pip install "assomem\[langchain\]"'):
            open_chat_model(settings) if "chat_model" in given else open_embedder(settings)


def test_the_providers_are_those_that_langchain_knows() -> None:
    assert {"anthropic", "ollama", "google_genai", "mistralai"} <= CHAT_PROVIDERS
    assert "openai" not in CHAT_PROVIDERS | EMBEDDING_PROVIDERS
    names: Sequence[str] = sorted(CHAT_PROVIDERS | EMBEDDING_PROVIDERS)
    assert all(name.isidentifier() for name in names)


@pytest.mark.parametrize("given", ["hello", object(), FakeListLLM(responses=["x"])])
def test_what_is_no_model_is_refused_when_it_is_given(given: Any) -> None:
    with pytest.raises(SettingsError, match="no chat model"):
        AssoMem("alice", settings=read_settings(), chat=given)
    with pytest.raises(SettingsError, match="no embedder"):
        AssoMem("alice", settings=read_settings(), embedder=given)


def test_calls_of_embeddings_given_as_an_object_are_in_the_ledger(tmp_path: Path) -> None:
    settings = read_settings(home=tmp_path)
    embedder = as_embedder(DeterministicFakeEmbedding(size=16), settings, "alice")
    embedder.embed_question("Where is the heron?")
    (total,) = Ledger(usage_file(settings)).totals("alice")
    assert total.purpose == "embed"
    assert total.calls >= 1
    assert total.input_tokens > 0
