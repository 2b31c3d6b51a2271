"""LangChain's chat models and embeddings as ours: passed as objects, or opened as `PROVIDER:MODEL`.

LangChain retries by itself, and keeps to its own time limits; here calls wait their turn (`gate`) and every failure
becomes a `ModelError`. A schema is not passed on: the prompt asks for JSON in words.
"""

import importlib
import importlib.util
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from assomem.errors import ModelError, ModelFailure, SettingsError
from assomem.models.chat import ChatModel, Completion
from assomem.models.embedder import Embedder
from assomem.models.endpoint import refusal
from assomem.models.gate import Closed, Gate, gate_of
from assomem.models.plain import PlainEmbedder, Role, Row, character_pieces, prefixes_for
from assomem.models.replies import VisibleText, answer_in, whole_answer
from assomem.models.usage import Call, Ledger, usage_file
from assomem.settings import Settings

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

CHAT_PROVIDERS = frozenset(
    "anthropic anthropic_bedrock azure_ai azure_openai baseten bedrock bedrock_converse cohere deepseek fireworks "
    "google_anthropic_vertex google_genai google_vertexai groq huggingface ibm litellm mistralai nvidia ollama "
    "openrouter perplexity together upstage xai".split()
)
"""What may stand before a colon in ASSOMEM_CHAT_MODEL, besides `openai`, to have LangChain open the model."""

EMBEDDING_PROVIDERS = frozenset(
    "azure_ai azure_openai bedrock cohere google_genai google_vertexai huggingface mistralai ollama".split()
)
"""Likewise in ASSOMEM_EMBEDDER."""

_ROOM = ("max_tokens", "num_predict", "max_output_tokens", "max_new_tokens")
"""What LangChain's models call the limit of an answer's tokens."""

_WHOLE = frozenset({"stop", "end_turn", "stop_sequence", "eos", "eos_token", "complete"})
_CUT = frozenset({"length", "max_tokens", "model_length", "max_output_tokens"})

_BATCH_TEXTS = 64


def provider_of(name: str, providers: frozenset[str]) -> tuple[str, str] | None:
    """Provider and model of `PROVIDER:MODEL`; None when what stands before the colon is no provider."""
    provider, colon, model = name.partition(":")
    return (provider, model) if colon and model and provider in providers else None


def as_chat_model(given: "ChatModel | BaseChatModel") -> ChatModel:
    """A model as ours: one of LangChain's is wrapped, any other is ours already.

    Raises:
        SettingsError: it is no chat model.
    """
    if _of_langchain(given):
        from langchain_core.language_models import BaseChatModel

        if isinstance(given, BaseChatModel):
            return LangChainChatModel(given)
    elif all(callable(getattr(given, name, None)) for name in ("complete", "stream")):
        return cast("ChatModel", given)
    raise SettingsError(
        f"chat: {type(given).__name__} is no chat model; give a ChatModel of assomem.models, or a chat model of "
        "LangChain's (BaseChatModel, such as ChatOpenAI; its plain LLMs are not)"
    )


def as_embedder(
    given: "Embedder | Embeddings", settings: Settings | None = None, memory: str | None = None
) -> Embedder:
    """Likewise an embedder, with δ and γ of the settings, its calls noted for `memory`.

    What LangChain calls the model is in the fingerprint.

    Raises:
        SettingsError: it is no embedder.
    """
    if all(callable(getattr(given, name, None)) for name in ("embed_utterances", "embed_question")):
        return cast("Embedder", given)
    if not all(callable(getattr(given, name, None)) for name in ("embed_documents", "embed_query")):
        raise SettingsError(
            f"embedder: {type(given).__name__} is no embedder; give an Embedder of assomem.models, or embeddings "
            "of LangChain's"
        )
    name = _name_of(given)
    ledger = None if settings is None else Ledger(usage_file(settings))
    source = LangChainVectors(name, cast("Embeddings", given), ledger=ledger, memory=memory)
    if settings is None:
        return PlainEmbedder(name, source)
    return PlainEmbedder(name, source, lambda: prefixes_for("", settings), delta=settings.delta, gamma=settings.gamma)


def open_chat(provider: str, model: str, settings: Settings) -> ChatModel:
    """A chat model by LangChain's `init_chat_model`.

    Raises:
        SettingsError: LangChain, or its package for the provider, is not installed, or refuses the settings.
    """
    opened = _init("langchain.chat_models", "init_chat_model", provider, model, "chat_model")
    return LangChainChatModel(
        opened,
        name=f"{provider}:{model}",
        fingerprint=f"langchain {provider}:{model}",
        timeout_seconds=settings.chat_timeout_seconds,
        concurrency=settings.model_concurrency,
        max_wait_seconds=settings.max_wait_seconds,
    )


def open_vectors(provider: str, model: str, settings: Settings, memory: str | None) -> "LangChainVectors":
    """Embeddings by LangChain's `init_embeddings`, their calls noted for `memory`. Errors as for `open_chat`."""
    opened = _init("langchain.embeddings", "init_embeddings", provider, model, "embedder")
    return LangChainVectors(f"{provider}:{model}", opened, ledger=Ledger(usage_file(settings)), memory=memory)


class LangChainChatModel:
    """A `ChatModel` over a chat model of LangChain's."""

    def __init__(
        self,
        model: "BaseChatModel",
        *,
        name: str | None = None,
        fingerprint: str | None = None,
        timeout_seconds: float = 60.0,
        concurrency: int = 4,
        max_wait_seconds: float = 120.0,
    ) -> None:
        """Put it before a model.

        Args:
            model: of LangChain's.
            name: what the user calls it; default: what LangChain does.
            fingerprint: two models of the same give the same answers; None when that is not known.
            timeout_seconds: to wait for one's turn.
            concurrency: calls at once.
            max_wait_seconds: as in `Gate`.
        """
        self._model = model
        self._name = name or _name_of(model)
        self.fingerprint = fingerprint
        self._timeout_seconds = timeout_seconds
        self._gate = gate_of(f"langchain {self._name}", concurrency=concurrency, max_wait_seconds=max_wait_seconds)

    @property
    def name(self) -> str:
        """As given, or as LangChain names the model."""
        return self._name

    def complete(
        self, system: str, user: str, *, max_tokens: int, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        """A whole answer, not empty; an empty or cut-off one is asked for once more, with more room.

        Raises:
            ModelError: the model fails, or answers twice with nothing or half.
        """
        del schema
        tries: list[ModelFailure] = []

        def ask(room: int) -> Completion:
            with _turn(self._gate, self._timeout_seconds, f"chat model {self._name}"):
                failure: ModelError | None = None
                try:
                    message = _with_room(self._model, room).invoke(_messages(system, user))
                except Exception as error:  # noqa: BLE001  (every provider has errors of its own)
                    failure = _failure(f"chat model {self._name}", error, tries)
                else:
                    reading = _Reading()
                    reading.add(message)
                    return reading.completion(answer_in(str(message.text)))
            raise failure

        return whole_answer(ask, max_tokens, who=f"chat model {self._name}", tries=tries, sends_finish_reason=False)

    def stream(self, system: str, user: str, *, max_tokens: int) -> Iterator[str | Completion]:
        """The answer piece by piece, and last the whole; the pieces together are its text.

        Raises:
            ModelError: the model fails, before the first piece or after some.
        """
        visible, reading = VisibleText(), _Reading()
        chunks = _with_room(self._model, max_tokens).stream(_messages(system, user))
        while True:
            failure: ModelError | None = None
            chunk: BaseMessage | None = None
            try:
                chunk = next(chunks, None)
            except Exception as error:  # noqa: BLE001  (every provider has errors of its own)
                failure = _failure(f"chat model {self._name}", error, [])
            if failure is not None:
                raise failure
            if chunk is None:
                break
            reading.add(chunk)
            if shown := visible.add(str(chunk.text)):
                yield shown
        if shown := visible.end():
            yield shown
        yield reading.completion(visible.text)


class LangChainVectors:
    """A `VectorSource` over embeddings of LangChain's."""

    def __init__(
        self, name: str, embeddings: "Embeddings", *, ledger: Ledger | None = None, memory: str | None = None
    ) -> None:
        """Put it before embeddings; `name` is part of the fingerprint, calls are noted in `ledger` for `memory`."""
        self._name = name
        self._ledger = ledger
        self._memory = memory
        self._embeddings = embeddings
        self._gate = gate_of(f"langchain {name}", concurrency=4, max_wait_seconds=120.0)

    @property
    def fingerprint(self) -> str:
        """Adapter and name."""
        return f"langchain:{self._name}"

    def pieces(self, text: str, prefix: str) -> list[tuple[str, int]]:
        """By characters: LangChain does not tell a model's window."""
        del prefix
        return character_pieces(text)

    def vectors(self, texts: Sequence[str], role: Role) -> list[Row | None]:
        """A vector a text, a question by `embed_query`.

        Raises:
            ModelError: the model fails, or gives another number of vectors.
        """
        found: list[Row | None] = []
        for at in range(0, len(texts), _BATCH_TEXTS):
            batch = list(texts[at : at + _BATCH_TEXTS])
            failure: ModelError | None = None
            rows: list[list[float]] = []
            started = time.perf_counter()
            with _turn(self._gate, 600.0, f"embedder {self._name}"):
                try:
                    if role == "question":
                        rows = [self._embeddings.embed_query(text) for text in batch]
                    else:
                        rows = self._embeddings.embed_documents(batch)
                except Exception as error:  # noqa: BLE001  (every provider has errors of its own)
                    failure = _failure(f"embedder {self._name}", error, [])
            if self._ledger is not None:
                seconds = time.perf_counter() - started
                about = sum(map(len, batch)) // 4
                outcome = "ok" if failure is None else failure.kind
                self._ledger.note(Call(self._memory, "embed", self._name, about, 0, seconds, outcome, True, ()))
            if failure is not None:
                raise failure
            if len(rows) != len(batch):
                raise ModelError(f"embedder {self._name}: gave {len(rows)} vectors for {len(batch)} texts")
            found += [np.asarray(row, np.float32) for row in rows]
        return found


class _Reading:
    """What the messages of an answer say besides its text."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.input_tokens = self.output_tokens = 0

    def add(self, message: "BaseMessage") -> None:
        told: dict[str, Any] = message.response_metadata
        for key in ("finish_reason", "stop_reason", "done_reason"):
            if isinstance(told.get(key), str) and told[key]:
                self.reason = told[key]
        usage: Mapping[str, Any] = getattr(message, "usage_metadata", None) or {}
        self.input_tokens += usage.get("input_tokens") or 0
        self.output_tokens += usage.get("output_tokens") or 0

    def completion(self, text: str) -> Completion:
        word = (self.reason or "stop").lower()
        reason = "stop" if word in _WHOLE else "length" if word in _CUT else word
        return Completion(text, reason, self.input_tokens, self.output_tokens)


@contextmanager
def _turn(gate: Gate, seconds: float, who: str) -> Generator[None]:
    """One's turn at the gate, as an error of ours when it does not come."""
    try:
        with gate.turn(time.monotonic() + seconds):
            yield
    except Closed:
        raise ModelError(f"{who}: too many calls at once; try again later", kind="timeout") from None


def _messages(system: str, user: str) -> list[tuple[str, str]]:
    return [("system", system), ("human", user)]


def _with_room(model: "BaseChatModel", max_tokens: int) -> "BaseChatModel":
    """The model with its limit of tokens set, where it has one under a name that is known."""
    fields = type(model).model_fields
    name = next((name for name in _ROOM if name in fields), None)
    return model if name is None else model.model_copy(update={name: max_tokens})


def _failure(who: str, error: Exception, tries: list[ModelFailure]) -> ModelError:
    """An error of a provider as ours; its own words may quote the prompt or the key, and are left out."""
    status: object = getattr(error, "status_code", None)
    kind: ModelFailure = "failed"
    name = type(error).__name__
    if isinstance(status, int):
        kind = refusal(status, None, naming="", shortening="").kind
    elif isinstance(error, TimeoutError) or "timeout" in name.lower():
        kind = "timeout"
    elif isinstance(error, ConnectionError) or "connect" in name.lower():
        kind = "unreachable"
    tries.append(kind)
    told = f", HTTP {status}" if isinstance(status, int) else ""
    return ModelError(
        f"{who}: LangChain's model failed ({name}{told}); is it set up as it asks?", kind=kind, tries=tuple(tries)
    )


def _of_langchain(given: object) -> bool:
    """Whether an object is one of LangChain's, without loading LangChain to find out."""
    return any(base.__module__.partition(".")[0] == "langchain_core" for base in type(given).__mro__)


def _name_of(given: object) -> str:
    for attribute in ("model_name", "model", "model_id", "deployment_name"):
        name: object = getattr(given, attribute, None)
        if isinstance(name, str) and name:
            return f"{type(given).__name__} {name}"
    return type(given).__name__


def _init(module: str, function: str, provider: str, model: str, setting: str) -> Any:
    if importlib.util.find_spec("langchain") is None:
        raise SettingsError(
            f'settings: {setting}: {provider}:{model} needs LangChain: pip install "assomem[langchain]", and its '
            f"package for the provider, usually langchain-{provider.replace('_', '-')}"
        )
    init: Any = getattr(importlib.import_module(module), function)
    problem = ""
    try:
        return init(model, **{"model_provider" if setting == "chat_model" else "provider": provider})
    except ImportError:
        problem = f"needs LangChain's package for the provider: pip install langchain-{provider.replace('_', '-')}"
    except (ValueError, TypeError) as error:  # pydantic's included
        problem = f"is refused by LangChain ({type(error).__name__}): are the provider's key and address set?"
    raise SettingsError(f"settings: {setting}: {provider}:{model} {problem}")
