"""Our own format: one utterance a line.

    {"session_id": "s1", "timestamp": "2026-03-05T20:14:00Z", "utterance_id": "s1:1", "speaker": "Lea", "text": "…"}

`timestamp` (or `said_at`) is ISO 8601, or null for no time; `utterance_id` may be missing; other keys are ignored.
"""

import json
import re
from collections import Counter
from datetime import datetime
from typing import cast

from assomem.dialogue import MAX_ID_CHARACTERS, Session, Utterance, conflict, well_formed
from assomem.errors import InputError, TimezoneNeeded
from assomem.importers.imported import Imported, in_order
from assomem.importers.source import Source, lines, seen
from assomem.times import parse_moment

_SESSION_KEY = re.compile(r'"session_id"\s*:')
_SPEAKER_KEY = re.compile(r'"speaker"\s*:')


class _Broken(Exception):  # noqa: N818
    """A line that cannot be used; the text says why."""


def recognises(head: str) -> bool:
    """Whether one of the first lines is an object with `session_id` and `speaker`, as far as can be seen of it."""
    begun = (line for line in head.split("\n") if line.lstrip().startswith("{"))
    return any(_SESSION_KEY.search(line) and _SPEAKER_KEY.search(line) for line in begun)


def read(source: Source, timezone: str | None) -> Imported:
    """Every utterance of the source, in order within its session.

    A line that is no utterance is counted as `broken` and named in `problems`, one with a blank text as `empty`, one
    that repeats an id with the same text as `duplicate`.

    Raises:
        TimezoneNeeded: a time has no zone and `timezone` is None.
        UtteranceConflict: one id stands for two different texts.
        InputError: no line is an utterance.
    """
    encoding = source.encoding()
    sessions: dict[str, list[Utterance]] = {}
    texts: dict[str, tuple[str, str]] = {}
    skipped: Counter[str] = Counter()
    warnings: Counter[str] = Counter()
    problems: list[str] = []
    for number, line in lines(source, encoding):
        if line is not None and not line.strip():
            continue
        where = f"{source.name}, line {number}"
        try:
            session_id, utterance = _utterance(line, where, timezone)
        except _Broken as broken:
            skipped["broken"] += 1
            problems.append(f"{where}: {broken}")
            continue
        if not utterance.text.strip():
            skipped["empty"] += 1
            continue
        if utterance.utterance_id is not None:
            this = (session_id, utterance.text)
            first = texts.setdefault(utterance.utterance_id, this)
            if first != this:
                raise conflict(utterance.utterance_id)
            if first is not this:
                skipped["duplicate"] += 1
                continue
        if utterance.said_at is None:
            warnings["no_time"] += 1
        sessions.setdefault(session_id, []).append(utterance)
    if encoding == "cp1252":
        warnings["decoded_as"] = 1
    if not sessions:
        raise InputError(_nothing(source, skipped, problems))
    return Imported(
        format="jsonl",
        sessions=in_order([Session(session_id, utterances) for session_id, utterances in sessions.items()]),
        skipped=skipped,
        warnings=warnings,
        problems=problems,
    )


def _utterance(line: str | None, where: str, timezone: str | None) -> tuple[str, Utterance]:
    """One line, without a look at its neighbours.

    Raises:
        _Broken: it is no utterance.
        TimezoneNeeded: its time has no zone and none was given.
    """
    if line is None:
        raise _Broken("holds bytes that are not text in the file's encoding")
    try:
        record: object = json.loads(line)
    except (ValueError, RecursionError):
        raise _Broken("not JSON, or cut off") from None
    if not isinstance(record, dict):
        raise _Broken("not a JSON object")
    fields = cast(dict[str, object], record)
    session_id = _identifier(fields.get("session_id"), "session_id")
    speaker = _identifier(fields.get("speaker"), "speaker")
    text = fields.get("text")
    if not isinstance(text, str):
        raise _Broken("has no text" if text is None else "text is not a string")
    given_id = fields.get("utterance_id")
    return session_id, Utterance(
        speaker=speaker,
        text=well_formed(text),
        said_at=_moment(fields, where, timezone),
        utterance_id=None if given_id is None else _identifier(given_id, "utterance_id"),
    )


def _identifier(value: object, key: str) -> str:
    if value is None:
        raise _Broken(f"has no {key}")
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)  # many programs number their sessions
    if not isinstance(value, str):
        raise _Broken(f"{key} is neither a string nor a whole number")
    if not value.strip():
        raise _Broken(f"{key} is blank")
    if len(value) > MAX_ID_CHARACTERS:
        raise _Broken(f"{key} has {len(value)} characters, allowed are {MAX_ID_CHARACTERS}")
    return well_formed(value)


def _moment(fields: dict[str, object], where: str, timezone: str | None) -> datetime | None:
    key = "timestamp" if fields.get("timestamp") is not None else "said_at"
    value = fields.get(key)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise _Broken(f"{key} is not a string of ISO 8601")
    try:
        return parse_moment(value, timezone)
    except TimezoneNeeded as error:
        raise TimezoneNeeded(f"{where}: {key} {error} Nothing was written.") from None
    except InputError:
        raise _Broken(f"{key} is not ISO 8601") from None


def _nothing(source: Source, skipped: Counter[str], problems: list[str]) -> str:
    if not skipped:
        return f"{source.name}: is empty; nothing was written"
    counts = ", ".join(f"{count} {reason}" for reason, count in sorted(skipped.items()))
    first = f" The first problem: {problems[0]}." if problems else ""
    return (
        f"{source.name}: no line is an utterance with session_id, speaker and text; it is {seen(source)} "
        f"({counts}).{first} Nothing was written"
    )
