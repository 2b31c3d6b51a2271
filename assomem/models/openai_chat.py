"""Any model behind OpenAI's chat completions as a `ChatModel`: at OpenAI, Azure, or served by one's own machine."""

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from assomem.errors import ModelError, ModelFailure
from assomem.models.chat import Completion
from assomem.models.endpoint import Endpoint, Failure, body_of, json_object, lines_of, refusal, requested
from assomem.models.replies import VisibleText, answer_in, whole_answer

if TYPE_CHECKING:
    import openai

T = TypeVar("T")

_FORMS = ("json_schema", "json_object", None)
"""How an endpoint is asked to follow a schema, the strictest first; None: by the words of the prompt alone."""

_NOT_CHAT = Failure("the endpoint's reply is not a chat completion: is OPENAI_BASE_URL right?", "not_a_completion")


@dataclass
class _Manners:
    """What refusals have taught about one model at one endpoint, for as long as the process lives."""

    limit: str = "max_tokens"
    """Newer models of OpenAI's want another name."""

    options: Mapping[str, Any] = field(default_factory=lambda: {"temperature": 0})
    """Sent with every request until refused."""

    form: int = 0
    """Index into `_FORMS` of the strictest that is not known to be refused."""

    form_known: bool = False
    settling: threading.Lock = field(default_factory=threading.Lock)
    """Held by the call that finds out which form is taken, so that each form is refused once."""

    counts_streams: bool = True
    """Whether a stream may be asked to say what it cost."""


_manners: dict[tuple[str, str], _Manners] = {}
_meeting = threading.Lock()


class OpenAIChatModel:
    """A model behind OpenAI's chat completions. What an endpoint refuses is learnt, once a process."""

    def __init__(
        self, name: str, endpoint: Endpoint, *, timeout_seconds: float = 60.0, sends_finish_reason: bool = True
    ) -> None:
        """Keep what a call needs; nothing is opened before the first.

        Args:
            name: the model's name at the endpoint; of a deployment at Azure.
            endpoint: where it is.
            timeout_seconds: for one `complete` or `stream` in all, tries and pauses included.
            sends_finish_reason: False for an endpoint that never says why it stopped; otherwise an answer
                without a reason counts as cut off.
        """
        self._name = name
        self._endpoint = endpoint
        self._timeout_seconds = timeout_seconds
        self._sends_finish_reason = sends_finish_reason
        self._slow = Failure(
            f"no answer within {timeout_seconds:g} seconds; allow more with ASSOMEM_CHAT_TIMEOUT_SECONDS", "timeout"
        )
        with _meeting:
            self._manners = _manners.setdefault((endpoint.address, name), _Manners())

    @property
    def name(self) -> str:
        """The model's name at the endpoint."""
        return self._name

    @property
    def fingerprint(self) -> str:
        """Name and endpoint: the same prompt may get the same answer from whoever has the same."""
        return f"openai {self._endpoint.address} {self._name}"

    def complete(
        self, system: str, user: str, *, max_tokens: int, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        """A whole answer, not empty; an empty or cut-off one is asked for once more, with more room.

        Raises:
            ModelError: the endpoint is out of reach, refuses, takes too long, or answers twice with nothing
                or half.
        """
        deadline = time.monotonic() + self._timeout_seconds
        tries: list[ModelFailure] = []
        return whole_answer(
            lambda room: self._settled(system, user, room, schema, deadline, tries),
            max_tokens,
            who=f"chat model {self._name}",
            tries=tries,
            sends_finish_reason=self._sends_finish_reason,
        )

    def stream(self, system: str, user: str, *, max_tokens: int) -> Iterator[str | Completion]:
        """The answer piece by piece, and last the whole; the pieces together are its text.

        A stream that breaks off without a word why gives what came, `finish_reason` None.

        Raises:
            ModelError: the endpoint is out of reach, refuses, takes too long, or fails on the way.
        """
        deadline = time.monotonic() + self._timeout_seconds
        tries: list[ModelFailure] = []
        opened = self._call(self._opener(system, user, max_tokens, deadline), deadline, tries)
        visible = VisibleText()
        with opened.stack:
            for delta in opened.deltas(self._slow):
                if isinstance(delta, Failure):
                    raise ModelError(
                        f"chat model {self._name}: {delta.says}", kind=delta.kind, tries=(*tries, delta.kind)
                    )
                if shown := visible.add(delta):
                    yield shown
        if shown := visible.end():
            yield shown
        reason = opened.finish_reason
        if reason is None and visible.text and not self._sends_finish_reason and not opened.broken:
            reason = "stop"
        yield Completion(visible.text, reason, opened.input_tokens, opened.output_tokens, failed_tries=tuple(tries))

    # -- asking

    def _settled(
        self,
        system: str,
        user: str,
        max_tokens: int,
        schema: Mapping[str, Any] | None,
        deadline: float,
        tries: list[ModelFailure],
    ) -> Completion:
        """One answer, as it comes, in the strictest form that the endpoint takes."""
        manners = self._manners

        def ask(form: int) -> Completion:
            further = {} if schema is None else _response_format(_FORMS[form], schema)
            return self._call(
                lambda seconds: self._request(
                    system, user, max_tokens, seconds, further, lambda reply: _read(body_of(reply, deadline))
                ),
                deadline,
                tries,
            )

        if schema is None:
            return ask(0)
        if manners.form_known:
            return self._in_some_form(ask)
        if not manners.settling.acquire(timeout=max(0.0, deadline - time.monotonic())):
            raise ModelError(f"chat model {self._name}: {self._slow.says}", kind="timeout")
        try:
            if not manners.form_known:
                return self._in_some_form(ask)
        finally:
            manners.settling.release()
        return self._in_some_form(ask)

    def _in_some_form(self, ask: Callable[[int], Completion]) -> Completion:
        manners = self._manners
        form = manners.form
        while True:
            try:
                found = ask(form)
            except ModelError as error:
                # Refused in every form, it was not for the form: then nothing is learnt.
                if error.kind != "refused" or form == len(_FORMS) - 1:
                    raise
            else:
                manners.form, manners.form_known = max(form, manners.form), True
                return found
            form += 1

    def _opener(
        self, system: str, user: str, max_tokens: int, deadline: float
    ) -> "Callable[[float], _Stream | Failure]":
        """Opens the stream and waits for its first word, so that what fails before it can be tried again."""
        counted = self._manners.counts_streams

        def send(seconds: float) -> _Stream | Failure:
            nonlocal counted
            further: dict[str, Any] = {"stream": True}
            if counted:
                further["stream_options"] = {"include_usage": True}
            stack = ExitStack()
            found = self._request(
                system, user, max_tokens, seconds, further, lambda reply: _Stream.begun(reply, stack, deadline), stack
            )
            if isinstance(found, Failure):
                stack.close()
                if found.kind == "refused" and counted and not found.learnt:
                    counted = False
                    return replace(found, learnt=True)
            elif not counted:
                self._manners.counts_streams = False
            return found

        return send

    def _call(self, send: "Callable[[float], T | Failure]", deadline: float, tries: list[ModelFailure]) -> T:
        return self._endpoint.call(
            send, deadline=deadline, who=f"chat model {self._name}", tries=tries, slow=self._slow
        )

    def _request(
        self,
        system: str,
        user: str,
        max_tokens: int,
        seconds: float,
        further: Mapping[str, Any],
        read: "Callable[[Any], T | Failure]",
        stack: ExitStack | None = None,
    ) -> "T | Failure":
        """One request and what came of it. With `stack` the reply stays open for as long as that does."""
        manners = self._manners
        limit, options = manners.limit, manners.options

        def open_reply() -> AbstractContextManager[Any]:
            create: Any = self._endpoint.client.chat.completions.with_streaming_response.create
            manager: AbstractContextManager[Any] = create(
                model=self._name,
                messages=[{"role": "system", "content": system}, {"role": "user", "content": user}],
                timeout=seconds,
                **{limit: max_tokens},
                **options,
                **further,
            )
            return manager if stack is None else nullcontext(stack.enter_context(manager))

        def refused(error: "openai.APIStatusError") -> Failure:
            if error.status_code in {400, 422}:
                if error.param == limit == "max_tokens":
                    manners.limit = "max_completion_tokens"
                    return _LEARNT
                if error.param in options:
                    manners.options = {name: value for name, value in options.items() if name != error.param}
                    return _LEARNT
            return refusal(
                error.status_code,
                error.response.headers.get("retry-after"),
                naming="ASSOMEM_CHAT_MODEL",
                shortening="lower ASSOMEM_EVIDENCE_TOKENS, or ASSOMEM_EXTRACTION_TOKENS where clues are found",
            )

        return requested(open_reply, read, refused=refused, slow=self._slow, not_read=_NOT_CHAT)


_LEARNT = Failure("the endpoint refused the form of the request", learnt=True)


def _response_format(form: str | None, schema: Mapping[str, Any]) -> dict[str, Any]:
    match form:
        case "json_schema":
            held = {"name": "reply", "strict": True, "schema": dict(schema)}
            return {"response_format": {"type": form, "json_schema": held}}
        case "json_object":
            return {"response_format": {"type": form}}
        case _:
            return {}


# -- reading; an endpoint may leave out, or send as null, whatever it likes


def _read(answer: Mapping[str, Any]) -> Completion | Failure:
    choice = _first_choice(answer)
    message: object = choice.get("message")
    if not isinstance(message, dict):
        return _NOT_CHAT
    content = cast("Mapping[str, object]", message).get("content")
    text = answer_in(content) if isinstance(content, str) else ""
    return Completion(text, _word(choice.get("finish_reason")), *_tokens(answer))


def _first_choice(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    choices: object = answer.get("choices")
    first = cast("list[object]", choices)[0] if isinstance(choices, list) and choices else None
    return cast("Mapping[str, Any]", first) if isinstance(first, dict) else {}


def _tokens(answer: Mapping[str, Any]) -> tuple[int, int]:
    """Tokens read and written; 0 where the endpoint does not say."""
    usage: object = answer.get("usage")
    counts: Mapping[str, object] = cast("Mapping[str, object]", usage) if isinstance(usage, dict) else {}
    read, written = counts.get("prompt_tokens"), counts.get("completion_tokens")
    return (read if isinstance(read, int) else 0), (written if isinstance(written, int) else 0)


def _word(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


@dataclass
class _Stream:
    """An answer that is being written. What it cost and why it ended is known when its deltas are through."""

    stack: ExitStack
    events: Iterator[Mapping[str, Any]]
    finish_reason: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    broken: bool = False
    """The connection was cut."""

    @classmethod
    def begun(cls, reply: Any, stack: ExitStack, deadline: float) -> "_Stream | Failure":
        """Read up to the first event."""
        if str(reply.headers.get("content-type", "")).startswith("application/json"):  # one that does not stream
            body = body_of(reply, deadline)
            choice = _first_choice(body)
            if not isinstance(choice.get("message"), dict):
                return _NOT_CHAT
            return cls(stack, iter([{**body, "choices": [{**choice, "delta": choice["message"]}]}]))
        events = _events(reply, deadline)
        first = next(events, None)
        return _NOT_CHAT if first is None else cls(stack, itertools.chain([first], events))

    def deltas(self, slow: Failure) -> Iterator[str | Failure]:
        """The texts as they come; a failure is the last."""
        try:
            for event in self.events:
                if event.get("error") is not None:
                    yield Failure("the endpoint failed while it answered: try again later", "server_error")
                    return
                choice = _first_choice(event)
                self.finish_reason = _word(choice.get("finish_reason")) or self.finish_reason
                read, written = _tokens(event)
                self.input_tokens, self.output_tokens = read or self.input_tokens, written or self.output_tokens
                delta: object = choice.get("delta")
                content = cast("Mapping[str, object]", delta).get("content") if isinstance(delta, dict) else None
                if isinstance(content, str) and content:
                    yield content
        except TimeoutError:
            yield slow
        except ConnectionError:
            self.broken = True
        except ValueError:
            yield _NOT_CHAT


def _events(reply: Any, deadline: float) -> Iterator[Mapping[str, Any]]:
    """The server-sent events of a reply.

    Raises:
        TimeoutError: they do not end before `deadline`.
        ConnectionError: they break off.
        ValueError: one holds no JSON object.
    """
    for line in lines_of(reply, deadline):
        if not line.startswith(b"data:"):
            continue
        data = line.removeprefix(b"data:").strip()
        if data == b"[DONE]":
            return
        yield json_object(data)
