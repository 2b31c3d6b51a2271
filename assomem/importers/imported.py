"""What an importer gives."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from assomem.dialogue import Session


@dataclass(frozen=True)
class Imported:
    """The sessions of one file, and everything that is not in them."""

    format: str
    """The format's name, a key of `FORMATS`."""

    sessions: list[Session]
    """By the time of their first utterance, then id; those without a time last, as they stand in the file."""

    skipped: Counter[str] = field(default_factory=Counter[str])
    """Records that were left out, by reason: `broken`, `duplicate`, `empty`."""

    stripped: Counter[str] = field(default_factory=Counter[str])
    """Parts left out of imported utterances, by kind."""

    warnings: Counter[str] = field(default_factory=Counter[str])
    """What a reader should know: `no_time` (utterances without one), `decoded_as` (not Unicode, read as cp1252)."""

    problems: list[str] = field(default_factory=list[str])
    """Each broken record: where it stands and what is wrong, without its content."""


def in_order(sessions: Sequence[Session]) -> list[Session]:
    """Sessions by the time they started, then id; those without a time last, in the order given."""
    dated: list[tuple[datetime, str, Session]] = []
    undated: list[Session] = []
    for session in sessions:
        started_at = next((one.said_at for one in session.utterances if one.said_at is not None), None)
        if started_at is None:
            undated.append(session)
        else:
            # Through UTC: times of two zones do not compare in a repeated hour (PEP 495).
            dated.append((started_at.astimezone(UTC), session.session_id, session))
    return [*(session for _, _, session in sorted(dated, key=lambda one: one[:2])), *undated]
