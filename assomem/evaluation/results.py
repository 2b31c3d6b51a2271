"""What each method found for each question, kept on disk line by line: a run that was cut short goes on."""

import json
import os
import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast


@dataclass(frozen=True)
class Outcome:
    """What one method found for one question."""

    query_id: str
    ranking: tuple[str, ...]
    """Utterance ids, best first; empty for a failure."""
    milliseconds: float
    """From the question's text to its ranking, the embedding of the question included."""
    degraded: tuple[str, ...] = ()
    """What did not work as configured."""
    failed: str | None = None
    """Why there is no ranking; such a question counts 0 and is tried again next time."""


class Lines:
    """Records by key in one file, a line each: added at once and whole; a line that was cut short counts as none."""

    def __init__(self, file: Path | None) -> None:
        """Read what is there. Of two records of one key the first counts. None: nothing is kept on disk."""
        self._file = file
        self._found: dict[str, dict[str, Any]] = {}
        self._adding = threading.Lock()
        if file is not None and file.is_file():
            text = file.read_text(encoding="utf-8")
            for line in text.split("\n"):
                try:
                    record: object = json.loads(line)
                except ValueError:
                    continue
                fields = cast(dict[str, Any], record)
                self._found.setdefault(fields["key"], fields)
            if text and not text.endswith("\n"):
                self._append("\n")

    def get(self, key: str) -> dict[str, Any] | None:
        """The record of a key; None: there is none."""
        return self._found.get(key)

    def add(self, key: str, record: Mapping[str, Any]) -> None:
        """Keep a record, whose fields are plain values; several threads may do so at once."""
        with self._adding:
            self._found[key] = {"key": key, **record}
            self._append(json.dumps(self._found[key], ensure_ascii=False) + "\n")

    def _append(self, text: str) -> None:
        if self._file is not None:
            append(self._file, text)


class Outcomes:
    """The outcomes of one method on one memory in one file."""

    def __init__(self, file: Path) -> None:
        """Read what is there; a line that was cut short counts as none."""
        self._file = file
        self.found: dict[str, Outcome] = {}
        if file.is_file():
            text = file.read_text(encoding="utf-8")
            for line in text.split("\n"):
                outcome = _outcome(line)
                if outcome is not None:
                    self.found.setdefault(outcome.query_id, outcome)
            if text and not text.endswith("\n"):
                self._append("\n")

    def add(self, outcome: Outcome) -> None:
        """Keep an outcome; failures are not written down."""
        self.found[outcome.query_id] = outcome
        if outcome.failed is None:
            self._append(json.dumps(asdict(outcome), ensure_ascii=False) + "\n")

    def drop(self, query_ids: Iterable[str]) -> None:
        """Treat these as not yet asked."""
        for one in query_ids:
            self.found.pop(one, None)

    def _append(self, text: str) -> None:
        append(self._file, text)


def append(file: Path, text: str) -> None:
    """Write at the end of a file, made if need be, and wait until it is on disk."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())


def _outcome(line: str) -> Outcome | None:
    try:
        record: object = json.loads(line)
    except ValueError:
        return None
    fields = cast(dict[str, Any], record)
    return Outcome(fields["query_id"], tuple(fields["ranking"]), fields["milliseconds"], tuple(fields["degraded"]))
