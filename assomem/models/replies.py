"""What of a model's text is its answer, and when that is a whole one; the same whatever the adapter."""

import logging
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from assomem.errors import ModelError, ModelFailure
from assomem.models.chat import Completion

_log = logging.getLogger(__name__)

_TAGS = ("think", "thinking", "reasoning")

# Some endpoints send a model's reasoning as the beginning of the text. Nobody asked for it.
_THINKING = re.compile(rf"\A\s*<({'|'.join(_TAGS)})>(?:.*?</\1>|.*)\s*", re.DOTALL | re.IGNORECASE)

_MORE_ROOM = 4
"""Factor on `max_tokens` for the second try: a model that reasons may have spent all of it before its first
word."""


def answer_in(text: str) -> str:
    """The text without reasoning at its beginning and blanks at either end."""
    return _THINKING.sub("", text).strip()


def whole_answer(
    ask: Callable[[int], Completion], max_tokens: int, *, who: str, tries: list[ModelFailure], sends_finish_reason: bool
) -> Completion:
    """What `ask(max_tokens)` gives; an empty or cut-off answer is asked for once more, with more room.

    Args:
        ask: gives an answer as it comes, and adds how its failed requests failed to `tries`.
        max_tokens: of the first try.
        who: names the model in errors.
        tries: how what failed so far failed.
        sends_finish_reason: whether an answer without a reason for its end may be half of one.

    Raises:
        ModelError: the second is no better, or `ask` raises.
    """
    first = ask(max_tokens)
    lack = _lack(first, sends_finish_reason)
    if lack is None:
        return replace(first, finish_reason=first.finish_reason or "stop", failed_tries=tuple(tries))
    tries.append(lack[0])
    _log.info("%s: %s; asking once more with more room", who, lack[1])
    second = ask(max_tokens * _MORE_ROOM)
    lack = _lack(second, sends_finish_reason)
    if lack is not None:
        raise ModelError(f"{who}: {lack[1]}, twice", kind=lack[0], tries=(*tries, lack[0]))
    return Completion(
        second.text,
        second.finish_reason or "stop",
        first.input_tokens + second.input_tokens,
        first.output_tokens + second.output_tokens,
        failed_tries=tuple(tries),
    )


def _lack(completion: Completion, sends_finish_reason: bool) -> tuple[ModelFailure, str] | None:
    """What an answer wants to be a whole one; None when it is."""
    if completion.finish_reason == "content_filter":
        return "filtered", "the endpoint's content filter cut the answer off"
    if not completion.text:
        where = " at the limit of tokens" if completion.half else ""
        return "empty", f"the answer was empty{where}"
    if completion.half:
        return "cut_off", "the answer was cut off at the limit of tokens"
    if completion.finish_reason is None and sends_finish_reason:
        return "cut_off", (
            "the answer came without a reason for its end and may be half of one (if this endpoint never sends one, "
            "set ASSOMEM_CHAT_SENDS_FINISH_REASON=false)"
        )
    return None


class VisibleText:
    """What of a stream is answer: reasoning at its beginning, and blanks at either end, are left out."""

    def __init__(self) -> None:
        """Begin with nothing; `text` is what was shown so far."""
        self.text = ""
        self._held = ""
        self._state: Literal["undecided", "reasoning", "after", "answer"] = "undecided"
        self._close = ""

    def add(self, delta: str) -> str:
        """What can be shown now."""
        self._held += delta
        if self._state == "undecided":
            self._held = self._held.lstrip()
            start = self._held.lower()
            tag = next((tag for tag in _TAGS if start.startswith(f"<{tag}>")), None)
            if tag is not None:
                self._state, self._close = "reasoning", f"</{tag}>"
            elif any(f"<{tag}>".startswith(start) for tag in _TAGS):
                return ""
            else:
                self._state = "answer"
        if self._state == "reasoning":
            at = self._held.lower().find(self._close)
            if at < 0:
                self._held = self._held[-len(self._close) :]
                return ""
            self._held = self._held[at + len(self._close) :]
            self._state = "after"
        if self._state == "after":
            self._held = self._held.lstrip()
            if not self._held:
                return ""
            self._state = "answer"
        return self._show()

    def end(self) -> str:
        """What was held because more might have come."""
        return "" if self._state == "reasoning" else self._show()

    def _show(self) -> str:
        shown = self._held.rstrip()
        self._held = self._held[len(shown) :]
        self.text += shown
        return shown
