"""An OpenAI-compatible endpoint: how it is reached, and what its refusals mean.

    call → gate → request → value or Failure → again, or ModelError

The client's own errors never leave this module: they hold the request and the endpoint's words, which may quote the
prompt or the key.
"""

import importlib
import json
import os
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from assomem.errors import ModelError, ModelFailure, SettingsError
from assomem.models.gate import Closed, Gate, asked_seconds, gate_of, pause_seconds
from assomem.settings import Settings

if TYPE_CHECKING:
    import openai

T = TypeVar("T")

OPENAI = "https://api.openai.com/v1"

TRIES = 4
"""Requests at most while the endpoint fails without saying when to come back."""

TOLD_TRIES = 20
"""Requests at most in all; one that was told when to come back has failed through no fault of its own."""

MOST_BYTES = 256_000_000
"""A longer reply is no answer."""


@dataclass(frozen=True)
class Failure:
    """Why a request brought no answer."""

    says: str
    kind: ModelFailure = "refused"
    passing: bool = False
    """The same request may well succeed in a moment."""

    wait_seconds: float | None = None
    """How long the endpoint asked to be left alone, by everybody."""

    learnt: bool = False
    """The request was of a form the endpoint does not take; the next one is of another."""


class Endpoint:
    """Where models are called; opened at the first call."""

    def __init__(
        self,
        base_url: str | None = None,
        *,
        api_key: str | None = None,
        organization: str | None = None,
        api_version: str | None = None,
        concurrency: int = 4,
        max_wait_seconds: float = 120.0,
        pause_seconds: float = 0.5,
    ) -> None:
        """Keep what a call needs.

        Args:
            base_url: its address; None is OpenAI's own.
            api_key: None for an endpoint that asks for none.
            organization: that calls are billed to.
            api_version: of Azure OpenAI, `base_url` being the address of a resource.
            concurrency: calls at once, of all who use this endpoint.
            max_wait_seconds: longer waits that the endpoint asks for are failures.
            pause_seconds: before the second try when the endpoint fails without asking for a wait; doubled for each
                further one.
        """
        self.address = (base_url or OPENAI).rstrip("/")
        self._api_key = api_key
        self._organization = organization
        self._api_version = api_version
        self._pause_seconds = pause_seconds
        self.gate: Gate = gate_of(self.address, concurrency=concurrency, max_wait_seconds=max_wait_seconds)
        self._opening = threading.Lock()
        self._opened: openai.OpenAI | None = None
        self._opened_in = 0

    @classmethod
    def of(cls, settings: Settings) -> "Endpoint":
        """The endpoint of the settings.

        Raises:
            SettingsError: its address is not one of the web, or OpenAI's own is used without a key.
        """
        address, key = settings.openai_base_url, settings.openai_api_key
        if address is not None and not address.startswith(("http://", "https://")):
            raise SettingsError("settings: openai_base_url: must begin with http:// or https://; set OPENAI_BASE_URL")
        if address is None and settings.openai_api_version is not None:
            raise SettingsError(
                "settings: openai_api_version is set, which is for Azure OpenAI, but no address of a resource: set "
                "OPENAI_BASE_URL to https://NAME.openai.azure.com, or unset OPENAI_API_VERSION"
            )
        if address is None and key is None:
            raise SettingsError(
                "settings: a model at OpenAI is named, but neither a key nor an endpoint: set OPENAI_API_KEY, "
                "or OPENAI_BASE_URL to an endpoint that needs none"
            )
        return cls(
            address,
            api_key=None if key is None else key.get_secret_value(),
            organization=settings.openai_organization,
            api_version=settings.openai_api_version,
            concurrency=settings.model_concurrency,
            max_wait_seconds=settings.max_wait_seconds,
        )

    def call(
        self,
        send: Callable[[float], T | Failure],
        *,
        deadline: float,
        who: str,
        tries: list[ModelFailure],
        slow: Failure,
    ) -> T:
        """What `send` gives, asked again while the endpoint is busy or failing and there is time.

        Args:
            send: makes one request within the given seconds.
            deadline: of `time.monotonic()`.
            who: names the model in errors.
            tries: how each failed request failed is added.
            slow: what to say when the time is over.

        Raises:
            ModelError: none of the requests was answered.
        """
        sent = 0
        while True:
            answer = self._take_turn(send, deadline, slow)
            if not isinstance(answer, Failure):
                return answer
            tries.append(answer.kind)
            if answer.learnt:
                continue
            sent += 1
            if not answer.passing or sent >= (TRIES if answer.wait_seconds is None else TOLD_TRIES):
                break
            if answer.wait_seconds is not None:
                if (
                    answer.wait_seconds > self.gate.max_wait_seconds
                    or time.monotonic() + answer.wait_seconds >= deadline
                ):
                    break
                continue  # the gate is closed for so long
            pause = pause_seconds(sent, self._pause_seconds)
            if time.monotonic() + pause >= deadline:
                break
            time.sleep(pause)
        raise ModelError(f"{who}: {answer.says}", kind=answer.kind, tries=tuple(tries))

    def _take_turn(self, send: Callable[[float], T | Failure], deadline: float, slow: Failure) -> T | Failure:
        try:
            with self.gate.turn(deadline):
                left = deadline - time.monotonic()
                answer = slow if left <= 0 else send(left)
                # Before the turn is given on: nobody slips through meanwhile.
                if isinstance(answer, Failure) and answer.wait_seconds is not None:
                    self.gate.close_for(answer.wait_seconds)
                return answer
        except Closed as closed:
            told = closed.told
        return _LEFT_ALONE if told else slow

    @property
    def client(self) -> "openai.OpenAI":
        """The client, opened at the first use in each process: what forks must not share its connections."""
        with self._opening:
            if self._opened is None or self._opened_in != os.getpid():
                self._opened, self._opened_in = self._open(), os.getpid()
                weakref.finalize(self, self._opened.close)
            return self._opened

    def _open(self) -> "openai.OpenAI":
        import openai

        # Everything is given, so that the client looks for nothing in the environment.
        if self._api_version is not None:
            opened: openai.OpenAI = openai.AzureOpenAI(
                azure_endpoint=self.address, api_version=self._api_version, api_key=self._api_key or "none",
                max_retries=0,
            )  # fmt: skip
        else:
            opened = openai.OpenAI(api_key=self._api_key or "none", base_url=self.address, max_retries=0)
        opened.organization, opened.project = self._organization, None
        return opened


_LEFT_ALONE = Failure(
    "the endpoint asked to be left alone for longer than there is time (Retry-After): try again later, or allow more "
    "with ASSOMEM_MAX_WAIT_SECONDS and ASSOMEM_CHAT_TIMEOUT_SECONDS",
    "rate_limited",
)


def refusal(status: int, retry_after: str | None, *, naming: str, shortening: str) -> Failure:
    """What an HTTP status other than 200 means.

    Args:
        status: of HTTP.
        retry_after: the header, if there was one.
        naming: the setting that names the model.
        shortening: what to do when a request is too long.
    """
    match status:
        case 400 | 422:
            return Failure(
                f"the endpoint refused the request (HTTP {status}): is its context too small for the prompt? "
                f"{shortening}"
            )
        case 401 | 403:
            return Failure(f"the endpoint refused the key (HTTP {status}): check OPENAI_API_KEY", "key_refused")
        case 404:
            return Failure(
                f"the endpoint knows no such model or path (HTTP 404): check {naming} and OPENAI_BASE_URL", "not_found"
            )
        case 413:
            return Failure(f"the request is too long for the endpoint (HTTP 413): {shortening}", "too_long")
        case 408 | 429:
            busy = f"the endpoint is busy, or the quota is used up (HTTP {status}): try again later"
            return Failure(busy, "rate_limited", passing=True, wait_seconds=asked_seconds(retry_after))
        case _ if status >= 500:
            failing = f"the endpoint failed (HTTP {status}): try again later"
            return Failure(failing, "server_error", passing=True, wait_seconds=asked_seconds(retry_after))
        case _:
            return Failure(f"the endpoint refused the request (HTTP {status})")


UNREACHABLE = Failure("could not be reached: is it running, and is OPENAI_BASE_URL right?", "unreachable", passing=True)


def requested(
    open_reply: Callable[[], AbstractContextManager[Any]],
    read: Callable[[Any], T | Failure],
    *,
    refused: "Callable[[openai.APIStatusError], Failure]",
    slow: Failure,
    not_read: Failure,
) -> T | Failure:
    """One request and what came of it; every failure is a value.

    Args:
        open_reply: sends the request and gives the reply, whose body is not read yet.
        read: takes what is wanted from the reply.
        refused: what a status other than 200 means.
        slow: when the time is over.
        not_read: when the reply is not what was asked for.
    """
    import openai

    try:
        with open_reply() as reply:
            return read(reply)
    except openai.APIStatusError as error:
        return refused(error)
    except (openai.APITimeoutError, TimeoutError):
        return slow
    except (openai.APIConnectionError, ConnectionError):
        return UNREACHABLE
    except (openai.APIError, ValueError):
        return not_read


@contextmanager
def _reading(reply: Any) -> Generator[None]:
    """Errors of the HTTP library, whichever the client uses, as Python's own."""
    http: Any = importlib.import_module(type(reply.http_response).__module__.partition(".")[0])
    try:
        yield
    except http.TimeoutException:
        raise TimeoutError from None
    except http.TransportError:
        raise ConnectionError from None
    except http.HTTPError:
        raise ValueError from None


def body_of(reply: Any, deadline: float) -> Mapping[str, Any]:
    """The JSON object that a reply holds.

    Raises:
        TimeoutError: it does not end before `deadline`.
        ConnectionError: it breaks off.
        ValueError: it holds something else.
    """
    body = bytearray()
    for chunk in _chunks(reply, deadline):
        body += chunk
    return json_object(body)


def lines_of(reply: Any, deadline: float) -> Iterator[bytes]:
    """The lines of a reply as they come. Errors as for `body_of`."""
    left = b""
    for chunk in _chunks(reply, deadline):
        *lines, left = (left + chunk).split(b"\n")
        yield from lines
    yield left


def _chunks(reply: Any, deadline: float) -> Iterator[bytes]:
    size = 0
    with _reading(reply):
        for chunk in reply.iter_bytes():
            size += len(chunk)
            # A reply that drips never runs into the time limit of a single read.
            if time.monotonic() > deadline:
                raise TimeoutError
            if size > MOST_BYTES:
                raise ValueError
            yield chunk


def json_object(text: bytes | bytearray | str) -> Mapping[str, Any]:
    """The JSON object in a text.

    Raises:
        ValueError: it holds something else.
    """
    try:
        found: object = json.loads(text)
    except RecursionError:
        raise ValueError from None
    if not isinstance(found, dict):
        raise ValueError
    return cast("Mapping[str, Any]", found)
