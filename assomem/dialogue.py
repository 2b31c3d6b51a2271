"""Sessions and utterances as a caller gives them, their checks, and the ids derived from them.

Everything that enters a memory passes `check_sessions` once, before the first write: whatever is wrong is
refused by name there, so that later stages may trust their input.
"""

import hashlib
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID
from zoneinfo import ZoneInfo

from assomem.errors import InputError, TimezoneNeeded, UtteranceConflict

MAX_ID_CHARACTERS = 512
"""Ids and speakers longer than this are refused: Neo4j indexes them, and its index keys are bounded."""

MAX_NAME_CHARACTERS = 128


@dataclass(frozen=True, slots=True)
class Utterance:
    """One turn: who said what, and when. The text is kept verbatim."""

    speaker: str
    text: str
    said_at: datetime | None = None
    """With a zone. Without one it is read in the zone given to `remember`, or refused. None stays None."""
    utterance_id: str | None = None
    """The caller's id, unique within the memory. None: `<session_id>:<position>`, from 1."""


@dataclass(frozen=True, slots=True)
class Session:
    """One dialogue or meeting: a sequence of utterances in order."""

    session_id: str
    utterances: Sequence[Utterance]
    title: str | None = None
    started_at: datetime | None = None
    """None: the time of its first dated utterance."""


@dataclass(frozen=True, slots=True)
class CheckedUtterance:
    """An utterance that may be stored: every field present, well-formed, its time with an offset."""

    utterance_id: str
    session_id: str
    speaker: str
    text: str
    said_at: datetime | None


@dataclass(frozen=True, slots=True)
class CheckedSession:
    """A session that may be stored."""

    session_id: str
    title: str | None
    started_at: datetime | None
    utterances: tuple[CheckedUtterance, ...]


def check_sessions(
    sessions: Iterable[Session], *, timezone_name: str | None, max_text_characters: int
) -> list[CheckedSession]:
    """Check everything a caller wants to store, before anything is stored.

    Sessions of the same id are joined in order. Text is made well-formed once: halves of surrogate pairs are
    joined, lone ones become U+FFFD; nothing else changes.

    Returns:
        The sessions in the order given; sessions without utterances are left out.

    Raises:
        TimezoneNeeded: a time has no zone and `timezone_name` is None.
        UtteranceConflict: one id stands for two different texts.
        InputError: an empty or blank text, a wrong type, a text or id that is too long, an unknown zone; names the
            session, the position and the limit.
    """
    zone = _zone(timezone_name)
    _check_many(sessions, Session, "sessions")
    checked: dict[str, CheckedSession] = {}
    seen: dict[str, CheckedUtterance] = {}
    for number, session in enumerate(sessions, start=1):
        _check_type(session, Session, f"session number {number}")
        session_id = _identifier(session.session_id, f"session number {number}: session_id")
        earlier = checked.get(session_id)
        utterances = list(earlier.utterances) if earlier is not None else []
        _check_many(session.utterances, Utterance, f"session {session_id!r}: utterances")
        for utterance in session.utterances:
            where = f"session {session_id!r}, utterance {len(utterances) + 1}"
            _check_type(utterance, Utterance, where)
            one = CheckedUtterance(
                utterance_id=f"{session_id}:{len(utterances) + 1}"
                if utterance.utterance_id is None
                else _identifier(utterance.utterance_id, f"{where}: utterance_id"),
                session_id=session_id,
                speaker=_identifier(utterance.speaker, f"{where}: speaker"),
                text=_text(utterance.text, where, max_text_characters),
                said_at=_moment(utterance.said_at, zone, f"{where}: said_at"),
            )
            twin = seen.setdefault(one.utterance_id, one)
            if twin is one:
                utterances.append(one)
            elif twin.text != one.text or twin.session_id != session_id:
                raise conflict(one.utterance_id)
        started_at = _moment(session.started_at, zone, f"session {session_id!r}: started_at")
        checked[session_id] = CheckedSession(
            session_id,
            _title(session.title, f"session {session_id!r}: title") or (earlier.title if earlier is not None else None),
            started_at
            or (earlier.started_at if earlier is not None else None)
            or next((one.said_at for one in utterances if one.said_at is not None), None),
            tuple(utterances),
        )
    return [session for session in checked.values() if session.utterances]


def conflict(utterance_id: str) -> UtteranceConflict:
    """The error for an id that stands for two texts."""
    return UtteranceConflict(
        f"utterance_id {utterance_id!r} is already taken by another text or session; stored words are never rewritten. "
        "Give the new utterance an id of its own, or forget the old one first; nothing was written"
    )


def check_memory_name(name: object) -> str:
    """A memory's name, checked: 1 to 128 characters of any script, no control characters, not blank.

    Raises:
        InputError: says what is wrong.
    """
    if not isinstance(name, str):
        raise InputError(f"memory: a name is text, not {type(name).__name__}")
    if not 1 <= len(name) <= MAX_NAME_CHARACTERS or not name.strip():
        raise InputError(
            f"memory: a name has 1 to {MAX_NAME_CHARACTERS} characters and is not blank; this has {len(name)}"
        )
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in name):
        raise InputError("memory: a name holds no control characters")
    return name


def well_formed(text: str) -> str:
    """The text as valid Unicode; unchanged when it already is.

    Surrogate pairs written as two escapes are joined; what is left alone becomes U+FFFD. Of a kind of `str`, such as
    an Enum of strings, its value: formatted, it would give its name.
    """
    text = str.__str__(text)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def identity(*parts: str) -> str:
    """A uid of 32 hexadecimal digits from its parts; different parts give different uids."""
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        # The length in front keeps ("ab", "c") and ("a", "bc") apart.
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()[:32]


def with_offset(moment: datetime) -> datetime:
    """The same instant with the same offset, as a fixed offset.

    A named zone would compare and subtract by wall clock, which goes wrong in the repeated hour (PEP 495).
    """
    offset = moment.utcoffset() or timedelta(0)
    return moment.astimezone(timezone(offset))


def _zone(name: str | None) -> ZoneInfo | None:
    if name is None:
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError):  # KeyError: not found
        raise InputError(
            "timezone: is not an IANA time zone name such as Europe/Berlin or UTC; nothing was written"
        ) from None


def _title(title: object, where: str) -> str | None:
    if title is None:
        return None
    if not isinstance(title, str):
        raise InputError(f"{where} must be a string or None, not {type(title).__name__}")
    return well_formed(title)


def _moment(moment: object, zone: ZoneInfo | None, where: str) -> datetime | None:
    if moment is None:
        return None
    if not isinstance(moment, datetime):
        raise InputError(f"{where}: must be a datetime or None, not {type(moment).__name__}")
    if moment.utcoffset() is None and zone is None:
        raise TimezoneNeeded(
            f"{where}: {moment.isoformat()} has no zone. Say in which zone such times are meant: --timezone, "
            "the argument timezone, or ASSOMEM_TIMEZONE (for example Europe/Berlin or UTC); nothing was written"
        )
    try:
        if moment.utcoffset() is None:
            # Through UTC: a local time inside the skipped hour of spring moves forward.
            moment = moment.replace(tzinfo=zone).astimezone(UTC).astimezone(zone)
        return with_offset(moment)
    except OverflowError:
        raise InputError(f"{where}: lies outside the years 1 to 9999 once its zone is applied") from None


def _text(text: object, where: str, limit: int) -> str:
    if not isinstance(text, str):
        raise InputError(f"{where}: text must be a string, not {type(text).__name__}")
    if len(text) > limit:
        raise InputError(
            f"{where}: the text has {len(text):,} characters, allowed are {limit:,}. "
            "Split it into several utterances, or raise ASSOMEM_MAX_TEXT_CHARACTERS; nothing was written"
        )
    if not text.strip():
        raise InputError(f"{where}: the text is empty; leave such a turn out. Nothing was written")
    return well_formed(text)


def _identifier(value: object, where: str) -> str:
    if isinstance(value, UUID):
        value = str(value)
    if not isinstance(value, str):
        raise InputError(f"{where} must be a string, not {type(value).__name__}")
    value = well_formed(value)
    if not value.strip():
        raise InputError(f"{where} is empty")
    if len(value) > MAX_ID_CHARACTERS:
        raise InputError(f"{where} has {len(value):,} characters, allowed are {MAX_ID_CHARACTERS}")
    return value


def _check_many(value: object, expected: type, where: str) -> None:
    if not isinstance(value, Iterable):
        raise InputError(f"{where}: must be a list of {expected.__name__}, not {type(value).__name__}")


def _check_type(value: object, expected: type, where: str) -> None:
    if not isinstance(value, expected):
        raise InputError(f"{where}: must be a {expected.__name__}, not {type(value).__name__}")
