"""Language models that answer in text: what they must do, and how one is opened by name."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from assomem.errors import ModelFailure
from assomem.settings import Settings

_HALF = frozenset({"length", "max_tokens", "content_filter"})
"""Reasons to stop that leave half an answer."""


@dataclass(frozen=True)
class Completion:
    """What a model said."""

    text: str
    """The answer alone, never the model's reasoning."""

    finish_reason: str | None
    """Why it stopped, in the endpoint's word: `stop` is a whole answer, `length` one that was cut off."""

    input_tokens: int
    output_tokens: int
    """As the endpoint counts them, over all tries; 0 when it does not say."""

    estimated: bool = False
    """The tokens were not counted but taken from the length of the texts, about four characters each."""

    failed_tries: tuple[ModelFailure, ...] = ()
    """How the requests failed that were made before this one was answered."""

    @property
    def half(self) -> bool:
        """Whether the answer was cut off."""
        return self.finish_reason in _HALF


class ChatModel(Protocol):
    """A language model. `complete` may be called from several threads at once."""

    @property
    def name(self) -> str:
        """What the user calls it."""
        ...

    def complete(
        self, system: str, user: str, *, max_tokens: int, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        """A whole answer, not empty, of at most about `max_tokens` tokens.

        Args:
            system: the rules.
            user: the material.
            max_tokens: of the answer.
            schema: a JSON schema (an object at its top) that the answer should follow. A model that cannot be held
                to one answers freely: the prompt must ask for JSON in words, and the caller check what comes.

        Raises:
            ModelError: there is none; says why, without the key or anything of the prompt.
        """
        ...

    def stream(self, system: str, user: str, *, max_tokens: int) -> Iterator[str | Completion]:
        """The answer piece by piece as it is written, and at the end the whole as one `Completion`.

        The completion may be empty or `half`; nothing is asked again. Reasoning is left out.

        Raises:
            ModelError: the endpoint fails, before the first piece or after some.
        """
        ...


def open_chat_model(settings: Settings) -> ChatModel | None:
    """The language model of the settings; None when none is named. Nothing is called before it is used.

    `openai:NAME` is at the OpenAI-compatible endpoint, `PROVIDER:NAME` is opened by LangChain where it knows the
    provider, and anything else is, as it stands, a model at the endpoint: Ollama's names hold colons.

    Raises:
        SettingsError: the endpoint's address is not one of the web, OpenAI's own is used without a key, or LangChain
            or its package for the provider is not installed.
    """
    name = settings.chat_model
    if name is None:
        return None
    from assomem.models.langchain import CHAT_PROVIDERS, open_chat, provider_of

    named = provider_of(name, CHAT_PROVIDERS)
    if named is not None:
        return open_chat(*named, settings)
    from assomem.models.endpoint import Endpoint
    from assomem.models.openai_chat import OpenAIChatModel

    return OpenAIChatModel(
        name.removeprefix("openai:"),
        Endpoint.of(settings),
        timeout_seconds=settings.chat_timeout_seconds,
        sends_finish_reason=settings.chat_sends_finish_reason,
    )
