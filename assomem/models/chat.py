"""Language models that answer in text: what they must do, and any OpenAI-compatible endpoint as one."""

import logging
import re
import threading
import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from assomem.errors import ModelError, SettingsError
from assomem.settings import Settings

if TYPE_CHECKING:
    import openai
    from openai.types.chat import ChatCompletion

_log = logging.getLogger(__name__)

_OPENAI = "https://api.openai.com/v1"

# Some endpoints send a model's reasoning as the beginning of the text. Nobody asked for it.
_THINKING = re.compile(r"\A\s*<(think|thinking|reasoning)>(?:.*?</\1>|.*)\s*", re.DOTALL | re.IGNORECASE)

_MORE_ROOM = 4
"""Factor on `max_tokens` for the second try: a model that reasons may have spent all of it before its first
word."""

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


class OpenAIChatModel:
    """A model behind OpenAI's chat completions: at OpenAI, or served by vLLM, Ollama, llama.cpp."""

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None,
        api_key: str | None,
        timeout_seconds: float,
        sends_finish_reason: bool = True,
        pauses_seconds: Sequence[float] = (0.5, 2.0),
    ) -> None:
        """Keep what a call needs; nothing is opened before the first.

        Args:
            name: the model's name at the endpoint.
            base_url: the endpoint; None is OpenAI's own.
            api_key: None for an endpoint that asks for none.
            timeout_seconds: for one `complete` in all, tries and pauses included.
            sends_finish_reason: False for an endpoint that never says why it stopped; otherwise an answer
                without a reason counts as cut off.
            pauses_seconds: before each further try when the endpoint is busy, failing or out of reach.
        """
        self._name = name
        self._base_url = base_url
        self._api_key = api_key
        self._timeout_seconds = timeout_seconds
        self._sends_finish_reason = sends_finish_reason
        self._pauses_seconds = tuple(pauses_seconds)
        self._opening = threading.Lock()
        self._opened: openai.OpenAI | None = None
        # Newer models of OpenAI's refuse the one name or a temperature; what a refusal teaches is kept.
        self._limit = "max_tokens"
        self._options: dict[str, Any] = {"temperature": 0}

    @property
    def name(self) -> str:
        """The model's name at the endpoint."""
        return self._name

    def complete(
        self, system: str, user: str, *, max_tokens: int, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        """A whole answer, not empty; an empty or cut-off one is asked for once more, with more room.

        Raises:
            ModelError: the endpoint is out of reach, refuses, takes too long, or answers twice with nothing
                or half.
        """
        deadline = time.monotonic() + self._timeout_seconds
        first = self._ask(system, user, max_tokens, deadline)
        if self._whole(first):
            return first
        _log.info("chat model %s: %s; asking once more with more room", self._name, self._lack(first))
        second = self._ask(system, user, max_tokens * _MORE_ROOM, deadline)
        if not self._whole(second):
            raise ModelError(f"chat model {self._name}: {self._lack(second)}, twice")
        return Completion(
            second.text,
            second.finish_reason,
            first.input_tokens + second.input_tokens,
            first.output_tokens + second.output_tokens,
        )

    def _whole(self, completion: Completion) -> bool:
        reason = completion.finish_reason
        if reason is None:
            return bool(completion.text) and not self._sends_finish_reason
        return bool(completion.text) and not completion.half

    def _lack(self, completion: Completion) -> str:
        if completion.finish_reason == "content_filter":
            return "the endpoint's content filter cut the answer off"
        if completion.half:
            return "the answer was cut off at the limit of tokens"
        if not completion.text:
            return "the answer was empty"
        return "the answer came without a reason for its end and may be half of one"

    def _ask(self, system: str, user: str, max_tokens: int, deadline: float) -> Completion:
        """One answer, as it comes; tries again while the endpoint is busy and time is left."""
        pauses = list(self._pauses_seconds)
        while True:
            answer = self._send(system, user, max_tokens, deadline - time.monotonic())
            if isinstance(answer, Completion):
                return answer
            if answer.learnt:
                continue
            pause = max(pauses.pop(0), answer.wait_seconds) if answer.passing and pauses else None
            if pause is None or time.monotonic() + pause >= deadline:
                raise ModelError(f"chat model {self._name}: {answer.says}")
            time.sleep(pause)

    def _send(self, system: str, user: str, max_tokens: int, seconds: float) -> "Completion | _Failure":
        """One request and what came of it.

        A failure is a value: the client's own error holds the request and the endpoint's words, which may
        quote the prompt or the key, and would hang on to an error raised while it is handled.
        """
        import openai
        from openai.types.chat import ChatCompletion

        too_slow = _Failure(
            f"no answer within {self._timeout_seconds:g} seconds; allow more with ASSOMEM_CHAT_TIMEOUT_SECONDS"
        )
        if seconds <= 0:
            return too_slow
        limit, options = self._limit, self._options
        create: Any = self._client().chat.completions.create
        try:
            answer: object = create(
                model=self._name,
                messages=[{"role": "system", "content": system}, {"role": "user", "content": user}],
                timeout=seconds,
                **{limit: max_tokens},
                **options,
            )
        except openai.BadRequestError as error:
            if error.param == limit == "max_tokens":
                self._limit = "max_completion_tokens"
                return _Failure("", learnt=True)
            if error.param in options:
                self._options = {name: value for name, value in options.items() if name != error.param}
                return _Failure("", learnt=True)
            return _Failure("the endpoint refused the request (HTTP 400): is its context too small for the prompt?")
        except openai.APIStatusError as error:
            return _status(error.status_code, error.response.headers.get("retry-after"))
        except openai.APITimeoutError:
            return too_slow
        except openai.APIConnectionError:
            return _Failure("could not be reached: is it running, and is OPENAI_BASE_URL right?", passing=True)
        except (openai.APIError, ValueError):
            return _Failure(_NOT_CHAT)
        if not isinstance(answer, ChatCompletion):  # a web page, for example
            return _Failure(_NOT_CHAT)
        return _read(answer)

    def _client(self) -> "openai.OpenAI":
        with self._opening:
            if self._opened is None:
                import openai

                # Everything is given, so that the client looks for nothing in the environment.
                self._opened = openai.OpenAI(
                    api_key=self._api_key or "none", base_url=self._base_url or _OPENAI, max_retries=0
                )
                weakref.finalize(self, self._opened.close)
            return self._opened


@dataclass(frozen=True)
class _Failure:
    """Why a request brought no answer."""

    says: str
    passing: bool = False
    """The same request may well succeed in a moment."""

    wait_seconds: float = 0.0
    """How long the endpoint asked to be left alone."""

    learnt: bool = False
    """The request was of a form the endpoint does not take; the next one is of another."""


_NOT_CHAT = "the endpoint's reply is not a chat completion: is OPENAI_BASE_URL right?"


def _read(answer: "ChatCompletion") -> Completion | _Failure:
    # An endpoint may leave out what the client's types promise.
    choices: list[Any] = list(answer.choices or [])
    message: Any = choices[0].message if choices else None
    if message is None:
        return _Failure(_NOT_CHAT)
    content: object = message.content
    text = _THINKING.sub("", content).strip() if isinstance(content, str) else ""
    used = answer.usage
    return Completion(
        text,
        choices[0].finish_reason,
        (used.prompt_tokens or 0) if used is not None else 0,
        (used.completion_tokens or 0) if used is not None else 0,
    )


def _status(status: int, retry_after: str | None) -> _Failure:
    match status:
        case 401 | 403:
            return _Failure(f"the endpoint refused the key (HTTP {status}): check OPENAI_API_KEY")
        case 404:
            return _Failure(
                "the endpoint knows no such model or path (HTTP 404): check ASSOMEM_CHAT_MODEL and OPENAI_BASE_URL"
            )
        case 413:
            return _Failure("the prompt is too long for the endpoint (HTTP 413): lower ASSOMEM_EVIDENCE_TOKENS")
        case 408 | 429:
            busy = f"the endpoint is busy, or the quota is used up (HTTP {status}): try again later"
            return _Failure(busy, passing=True, wait_seconds=_seconds(retry_after))
        case _ if status >= 500:
            failing = f"the endpoint failed (HTTP {status}): try again later"
            return _Failure(failing, passing=True, wait_seconds=_seconds(retry_after))
        case _:
            return _Failure(f"the endpoint refused the request (HTTP {status})")


def _seconds(retry_after: str | None) -> float:
    """The seconds of a Retry-After header; 0 without one, or when it is a date."""
    return float(retry_after) if retry_after is not None and retry_after.strip().isdecimal() else 0.0


def open_chat_model(settings: Settings) -> ChatModel | None:
    """The language model of the settings; None when none is named. Nothing is called before it is used.

    Raises:
        SettingsError: the endpoint's address is not one of the web, or OpenAI's own is used without a key.
    """
    if settings.chat_model is None:
        return None
    address, key = settings.openai_base_url, settings.openai_api_key
    if address is not None and not address.startswith(("http://", "https://")):
        raise SettingsError("settings: openai_base_url: must begin with http:// or https://; set OPENAI_BASE_URL")
    if address is None and key is None:
        raise SettingsError(
            "settings: chat_model is set, but neither a key nor an endpoint: set OPENAI_API_KEY, "
            "or OPENAI_BASE_URL to an endpoint that needs none"
        )
    return OpenAIChatModel(
        settings.chat_model,
        base_url=address,
        api_key=None if key is None else key.get_secret_value(),
        timeout_seconds=settings.chat_timeout_seconds,
    )
