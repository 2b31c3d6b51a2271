"""What calls to models cost, and the replies of language models kept for the next time: `<home>/models.sqlite3`.

Of a call the ledger notes when, for which memory, for what, which model, tokens, seconds and how it ended; no text.
The cache keeps replies, tied to their memory, and forgets them with it; of a prompt it keeps a hash.

Neither may stand in the way: what cannot be read or written is left out, and said once in the log.
"""

import hashlib
import json
import logging
import os
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

from assomem.models.chat import Completion
from assomem.settings import Settings

T = TypeVar("T")

Purpose = Literal["answer", "extract", "judge", "embed"]

_log = logging.getLogger(__name__)

_BUSY_SECONDS = 2.0

MOST_REPLY_BYTES = 64_000_000
"""So much is kept of replies; those not used for longest go first."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS calls (
    at TEXT NOT NULL, memory TEXT, purpose TEXT NOT NULL, model TEXT NOT NULL,
    input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, estimated INTEGER NOT NULL,
    seconds REAL NOT NULL, outcome TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS failures (
    at TEXT NOT NULL, memory TEXT, purpose TEXT NOT NULL, model TEXT NOT NULL, kind TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS replies (
    memory TEXT NOT NULL, key TEXT NOT NULL, reply TEXT NOT NULL, finish_reason TEXT, bytes INTEGER NOT NULL,
    used_at REAL NOT NULL, PRIMARY KEY (memory, key)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS replies_used ON replies (used_at, bytes);
"""


class _Database:
    """One file, opened for each use: so it may be shared by threads, processes and what they fork."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._preparing = threading.Lock()
        self._prepared = False
        self._complained = False

    def use(self, work: Callable[[sqlite3.Connection], T], default: T) -> T:
        """What `work` gives, in a transaction of its own; `default` when the file cannot be used."""
        try:
            self._prepare()
            with closing(self._open()) as connection, connection:
                return work(connection)
        except (sqlite3.Error, OSError) as error:
            if not self._complained:
                self._complained = True
                _log.warning(
                    "usage: %s cannot be used (%s): calls go on, but are not counted there, and replies not kept",
                    self._path, type(error).__name__,
                )  # fmt: skip
            return default

    def there(self) -> bool:
        return self._path.exists()

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS)
        # What is deleted is overwritten: a forgotten reply must not be found in the file.
        connection.execute("PRAGMA secure_delete = ON")
        return connection

    def _prepare(self) -> None:
        with self._preparing:
            if self._prepared and self._path.exists():
                return
            self._path.parent.mkdir(parents=True, exist_ok=True)
            os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
            with closing(self._open()) as connection:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.executescript(_SCHEMA)
            self._prepared = True


@dataclass(frozen=True)
class Call:
    """One call to a model, without what was said."""

    memory: str | None
    purpose: Purpose
    model: str
    input_tokens: int
    output_tokens: int
    seconds: float
    outcome: str
    """`ok`, `cached`, `stopped` (nobody read the rest of a stream), or the `kind` of a `ModelError`."""
    estimated: bool = False
    failed_tries: tuple[str, ...] = ()
    """How each request failed that was not answered, the last included."""


@dataclass
class Total:
    """The calls to one model for one purpose."""

    model: str
    purpose: str
    calls: int = 0
    """Those answered from the cache included."""
    cached: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    estimated_calls: int = 0
    """Calls whose tokens are estimated from the length of the texts, since the endpoint did not count them."""
    seconds: float = 0.0
    failed_calls: int = 0
    """Calls that brought no answer in the end."""
    failures: dict[str, int] = field(default_factory=dict[str, int])
    """Requests that failed, by kind; one that was made again with success counts, too."""

    def cost(self, settings: Settings) -> float | None:
        """In the currency of the prices that the settings name; None without."""
        read, written = settings.price_input_per_million, settings.price_output_per_million
        if read is None and written is None:
            return None
        return (self.input_tokens * (read or 0.0) + self.output_tokens * (written or 0.0)) / 1e6


class Ledger:
    """Notes calls to models."""

    def __init__(self, path: Path) -> None:
        """Keep where; the file is made at the first call."""
        self._database = _Database(path)

    def note(self, call: Call) -> None:
        """Write a call down, if that is possible."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    at, call.memory, call.purpose, call.model, call.input_tokens, call.output_tokens,
                    call.estimated, call.seconds, call.outcome,
                ),
            )  # fmt: skip
            connection.executemany(
                "INSERT INTO failures VALUES (?, ?, ?, ?, ?)",
                [(at, call.memory, call.purpose, call.model, kind) for kind in call.failed_tries],
            )

        self._database.use(work, None)

    def totals(self, memory: str | None = None) -> list[Total]:
        """By model and purpose, sorted; of one memory, or of all."""
        if not self._database.there():
            return []

        def work(connection: sqlite3.Connection) -> list[Total]:
            found: dict[tuple[str, str], Total] = {}
            for model, purpose, *numbers in connection.execute(
                "SELECT model, purpose, count(*), sum(outcome = 'cached'), sum(input_tokens), sum(output_tokens), "
                "sum(estimated), sum(seconds), sum(outcome NOT IN ('ok', 'cached', 'stopped')) FROM calls "
                "WHERE ?1 IS NULL OR memory = ?1 GROUP BY model, purpose ORDER BY model, purpose",
                (memory,),
            ):
                found[model, purpose] = Total(model, purpose, *numbers)
            for model, purpose, kind, count in connection.execute(
                "SELECT model, purpose, kind, count(*) FROM failures WHERE ?1 IS NULL OR memory = ?1 "
                "GROUP BY model, purpose, kind ORDER BY kind",
                (memory,),
            ):
                found.setdefault((model, purpose), Total(model, purpose)).failures[kind] = count
            return list(found.values())

        return self._database.use(work, [])

    def unname(self, memory: str) -> None:
        """Forget of which memory its calls were; what they cost stays."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("UPDATE calls SET memory = NULL WHERE memory = ?", (memory,))
            connection.execute("UPDATE failures SET memory = NULL WHERE memory = ?", (memory,))

        if self._database.there():
            self._database.use(work, None)


class ReplyCache:
    """Replies of language models by what was asked, each tied to one memory."""

    def __init__(self, path: Path, *, most_bytes: int = MOST_REPLY_BYTES) -> None:
        """Keep where; the file is made at the first reply."""
        self._database = _Database(path)
        self._most_bytes = most_bytes

    @staticmethod
    def key(fingerprint: str, system: str, user: str, max_tokens: int, schema: Mapping[str, Any] | None = None) -> str:
        """A hash of all that decides a reply."""
        asked = json.dumps([fingerprint, system, user, max_tokens, schema], sort_keys=True)
        return hashlib.sha256(asked.encode()).hexdigest()

    def get(self, memory: str, key: str) -> Completion | None:
        """The reply that was kept, at no cost; None when there is none."""

        def work(connection: sqlite3.Connection) -> Completion | None:
            row = connection.execute(
                "UPDATE replies SET used_at = ? WHERE memory = ? AND key = ? RETURNING reply, finish_reason",
                (time.time(), memory, key),
            ).fetchone()
            return None if row is None else Completion(row[0], row[1], 0, 0)

        return self._database.use(work, None) if self._database.there() else None

    def put(self, memory: str, key: str, completion: Completion) -> None:
        """Keep a reply; one that is empty, half, or perhaps half is not kept."""
        if not completion.text or completion.half or completion.finish_reason is None:
            return
        size = len(completion.text.encode())

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?)",
                (memory, key, completion.text, completion.finish_reason, size, time.time()),
            )
            (over,) = connection.execute("SELECT sum(bytes) - ? FROM replies", (self._most_bytes,)).fetchone()
            if over > 0:
                connection.execute(
                    "DELETE FROM replies WHERE (memory, key) IN (SELECT memory, key FROM "
                    "(SELECT memory, key, sum(bytes) OVER (ORDER BY used_at, memory, key) - bytes AS before "
                    "FROM replies) WHERE before < ?)",
                    (over,),
                )

        if size <= self._most_bytes:
            self._database.use(work, None)

    def drop(self, memory: str, key: str) -> None:
        """Keep a reply no longer, for example one that turned out to be of no use."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM replies WHERE memory = ? AND key = ?", (memory, key))

        if self._database.there():
            self._database.use(work, None)

    def clear(self, memory: str) -> bool:
        """Delete every reply of a memory, in the file and in what lies beside it.

        Returns:
            Whether they are gone: False when the file cannot be used.
        """
        if not self._database.there():
            return True

        def work(connection: sqlite3.Connection) -> bool:
            connection.execute("DELETE FROM replies WHERE memory = ?", (memory,))
            return True

        def checkpoint(connection: sqlite3.Connection) -> bool:
            # Out of the write-ahead log as well; where somebody reads at this moment, it follows later.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return True

        return self._database.use(work, False) and self._database.use(checkpoint, False)


def usage_file(settings: Settings) -> Path:
    """Where usage and replies are kept."""
    return settings.home / "models.sqlite3"


def forget_replies(settings: Settings, memory: str, *, everything: bool) -> bool:
    """Delete the kept replies of a memory of which something was forgotten; with `everything` its name as well.

    Returns:
        Whether they are gone; False when the file cannot be used.
    """
    path = usage_file(settings)
    if everything:
        Ledger(path).unname(memory)
    return ReplyCache(path).clear(memory)


def sum_of(totals: list[Total]) -> Total:
    """All together."""
    whole, failures = Total("all", "all"), Counter[str]()
    for one in totals:
        whole.calls += one.calls
        whole.cached += one.cached
        whole.input_tokens += one.input_tokens
        whole.output_tokens += one.output_tokens
        whole.estimated_calls += one.estimated_calls
        whole.seconds += one.seconds
        whole.failed_calls += one.failed_calls
        failures.update(one.failures)
    whole.failures = dict(sorted(failures.items()))
    return whole
