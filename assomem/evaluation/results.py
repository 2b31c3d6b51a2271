"""What each method found for each question, kept on disk line by line: a run that was cut short goes on."""

import json
import os
from collections.abc import Iterable
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
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("a", encoding="utf-8") as stream:
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
