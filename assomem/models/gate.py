"""The gate before an endpoint: how many calls run at once, and that nobody calls while it asked to be left alone.

One gate an endpoint and process, shared by every adapter and thread that calls it (`gate_of`). Waiting takes nothing
but a thread: no lock of the database is held meanwhile.
"""

import os
import random
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_CLOSED_SECONDS = 3600.0
"""A gate is closed for so long at most, whatever the endpoint asks for."""


class Closed(Exception):  # noqa: N818  (reads as a state)
    """No call may be made soon enough; `told` says whether the endpoint asked to be left alone, else it is busy."""

    def __init__(self, *, told: bool) -> None:
        """Keep which it is."""
        super().__init__("the endpoint asked to be left alone" if told else "too many calls at once")
        self.told = told


class Gate:
    """Lets so many calls through at once, and none while it is closed."""

    def __init__(self, concurrency: int = 4, *, max_wait_seconds: float = 120.0) -> None:
        """Open.

        Args:
            concurrency: calls at once, at least 1.
            max_wait_seconds: whoever would have to wait longer at a closed gate is turned away at once.
        """
        self._opens_at = 0.0
        self.forget_callers()
        self.concurrency = concurrency
        self.max_wait_seconds = max_wait_seconds

    @contextmanager
    def turn(self, deadline: float) -> Generator[None]:
        """Wait for one's turn and hold it.

        Raises:
            Closed: it would not come before `deadline` (of `time.monotonic()`).
        """
        with self._changed:
            while True:
                now = time.monotonic()
                closed = self._opens_at - now
                if closed > 0:
                    if closed > self.max_wait_seconds or self._opens_at >= deadline:
                        raise Closed(told=True)
                    self._changed.wait(closed)
                elif self._running < self.concurrency:
                    break
                elif now >= deadline:
                    raise Closed(told=False)
                else:
                    self._changed.wait(min(deadline - now, threading.TIMEOUT_MAX))
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def forget_callers(self) -> None:
        """Begin with nobody inside: in a process that was forked off, the callers of the other one are not there."""
        self._changed = threading.Condition()
        self._running = 0

    def close_for(self, seconds: float) -> None:
        """Let nobody through for so long; what was asked for earlier still holds."""
        with self._changed:
            until = time.monotonic() + min(seconds, LONGEST_CLOSED_SECONDS)
            self._opens_at = max(self._opens_at, until)


_gates: dict[str, Gate] = {}
_making = threading.Lock()


def gate_of(endpoint: str, *, concurrency: int, max_wait_seconds: float) -> Gate:
    """The one gate of an endpoint in this process; the latest limits hold for all who use it."""
    with _making:
        gate = _gates.setdefault(endpoint, Gate())
        gate.concurrency, gate.max_wait_seconds = concurrency, max_wait_seconds
        return gate


def _forked() -> None:
    for gate in _gates.values():
        gate.forget_callers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def pause_seconds(tries: int, first_seconds: float) -> float:
    """How long to wait after so many tries (from 1): twice as long each time, a half of it at random."""
    return first_seconds * 2.0 ** (tries - 1) * random.uniform(0.5, 1.0)


def asked_seconds(retry_after: str | None) -> float | None:
    """What a Retry-After header asks for: seconds or a date of HTTP, 0 for one in the past.

    None without a header, or for one that cannot be read.
    """
    if retry_after is None:
        return None
    text = retry_after.strip()
    try:
        return _bounded(float(text))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return _bounded((moment - datetime.now(UTC)).total_seconds())


def _bounded(seconds: float) -> float | None:
    """None for NaN; never below 0. Infinite stays: such a wait is refused."""
    return None if seconds != seconds else max(0.0, seconds)
