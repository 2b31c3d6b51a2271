"""Labelled questions with the memories they are asked of: our own folders, and LongMemEval's and LoCoMo's own files.

    folder with memory.jsonl and queries.jsonl (and clues.jsonl)    one memory, a set of its own
    folder of such folders                                          a set of several memories
    folder of sets                                                  several sets
    LongMemEval's file (JSON)                                       a set; every question is its own memory
    LoCoMo's file (JSON)                                            a set; every conversation is a memory

Times without a zone are read as UTC. A question without a date is asked on the day after the last session.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from assomem.clues import ReadyMadeClue, read_ready_made
from assomem.dialogue import Session, Utterance, well_formed
from assomem.errors import InputError
from assomem.importers import Source, lines
from assomem.importers import read as read_sessions
from assomem.times import parse_moment

MEMORY_FILE, QUERIES_FILE, CLUES_FILE = "memory.jsonl", "queries.jsonl", "clues.jsonl"

ASKED_OF_UNDATED = datetime(2000, 1, 1, tzinfo=UTC)
"""When questions without a date are asked of a memory without dates: no result depends on it, and no clock is read."""

SET_ASIDE = ("adversarial", "abstention", "no_evidence")
"""Why a question is not in the headline: its evidence marks where a wrong answer comes from; the memory holds no
answer; nobody labelled its evidence."""

_LOCOMO_TYPES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_LOCOMO_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
"""With the slips of the file: `D8:6; D9:17` in one string, `D:11:26`."""


@dataclass(frozen=True)
class LabelledQuestion:
    """A question with the utterances that support its answer."""

    query_id: str
    text: str
    query_type: str
    """As the data has it."""
    asked_at: datetime
    evidence: tuple[str, ...]
    """Utterance ids, each once. Ids that the memory does not hold stay: they are missed."""
    set_aside: str | None
    """One of `SET_ASIDE`; None: it is in the headline."""
    answer: str | None = field(default=None, repr=False)
    """The reference; None: there is none. No ranking depends on it, so it is not in the digest."""


@dataclass(frozen=True)
class LabelledMemory:
    """One memory to be, and the questions it is asked."""

    name: str
    sessions: tuple[Session, ...]
    clues: tuple[ReadyMadeClue, ...]
    """Ready-made clues; empty without `clues.jsonl`."""
    questions: tuple[LabelledQuestion, ...]
    digest: str
    """Changes with anything in the data on which a ranking depends; does not with `limited`."""
    corrected: int = 0
    """Questions that carry `audit_error_type`: their labels are corrected already, this only informs."""

    @property
    def utterances(self) -> int:
        """How many there are."""
        return sum(len(session.utterances) for session in self.sessions)

    @property
    def asked(self) -> tuple[LabelledQuestion, ...]:
        """The questions of the headline."""
        return tuple(one for one in self.questions if one.set_aside is None)

    def counts_aside(self) -> dict[str, int]:
        """How many questions were set aside, by reason, in the order of `SET_ASIDE`."""
        found = Counter(one.set_aside for one in self.questions)
        return {reason: found[reason] for reason in SET_ASIDE}

    def limited(self, most: int) -> "LabelledMemory":
        """The same with at most so many questions of the headline, spread over the file by a hash of their ids."""
        kept = {one.query_id for one in sorted(self.asked, key=lambda one: hash_of(one.query_id))[:most]}
        questions = tuple(one for one in self.questions if one.set_aside or one.query_id in kept)
        return replace(self, questions=questions)


@dataclass(frozen=True)
class LabelledSet:
    """Memories that are measured together, of one kind of talk."""

    name: str
    memories: tuple[LabelledMemory, ...]
    named_members: bool
    """Whether each memory is worth a result of its own."""


def read_sets(paths: Sequence[Path]) -> list[LabelledSet]:
    """The sets at some places, in their order.

    Raises:
        InputError: a place holds no such data, or something in it cannot be used; two sets or memories share a name.
    """
    sets = [found for path in paths for found in _sets_at(path)]
    repeated = [name for name, count in Counter(one.name for one in sets).items() if count > 1]
    if repeated:
        raise InputError(f"{repeated[0]}: two sets have this name; rename one of the folders")
    return sets


def labelled_memory(
    name: str,
    sessions: Sequence[Session],
    questions: Sequence[LabelledQuestion],
    clues: Sequence[ReadyMadeClue] = (),
    *,
    corrected: int = 0,
) -> LabelledMemory:
    """A memory with its digest.

    Raises:
        InputError: two questions share an id.
    """
    repeated = [one for one, count in Counter(question.query_id for question in questions).items() if count > 1]
    if repeated:
        raise InputError(f"{name}: query_id {repeated[0]!r} stands for two questions")
    digest = hashlib.sha256()
    for session in sessions:
        for one in session.utterances:
            digest.update(repr((session.session_id, one.utterance_id, one.speaker, one.text, one.said_at)).encode())
    for question in questions:
        digest.update(repr(question).encode())
    for clue in clues:
        digest.update(repr(clue).encode())
    return LabelledMemory(
        name, tuple(sessions), tuple(clues), tuple(questions), digest.hexdigest()[:32], corrected=corrected
    )


def day_after(sessions: Sequence[Session]) -> datetime:
    """A day after the last that was said in some sessions; `ASKED_OF_UNDATED` when none is dated."""
    moments = [one.said_at for session in sessions for one in session.utterances if one.said_at is not None]
    if not moments:
        return ASKED_OF_UNDATED
    return max(moment.astimezone(UTC) for moment in moments) + timedelta(days=1)


def hash_of(text: str) -> str:
    """An order of texts that is the same everywhere and has nothing to do with them."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# -- our own folders


def _sets_at(path: Path) -> list[LabelledSet]:
    if path.is_file():
        return [_from_file(path)]
    if _is_memory(path):
        return [LabelledSet(_name(path), (_memory_in(path),), named_members=False)]
    children = _folders(path)
    if any(not _is_memory(child) and any(map(_is_memory, _folders(child))) for child in children):
        # Among sets a memory is a set of its own.
        return [found for child in children if _holds_data(child) for found in _sets_at(child)]
    members = tuple(_memory_in(child) for child in children if _is_memory(child))
    if not members:
        raise InputError(
            f"{path}: holds no labelled questions. Wanted is a folder with {MEMORY_FILE} and {QUERIES_FILE}, a folder "
            "of such folders, or the JSON file of LongMemEval or LoCoMo"
        )
    return [LabelledSet(_name(path), members, named_members=True)]


def _is_memory(path: Path) -> bool:
    return (path / MEMORY_FILE).is_file() and (path / QUERIES_FILE).is_file()


def _holds_data(path: Path) -> bool:
    return _is_memory(path) or any(map(_is_memory, _folders(path)))


def _folders(path: Path) -> list[Path]:
    try:
        return sorted(child for child in path.iterdir() if child.is_dir() and not child.name.startswith("."))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None


def _name(path: Path) -> str:
    return path.resolve().name or "data"


def _memory_in(folder: Path) -> LabelledMemory:
    imported = read_sessions(folder / MEMORY_FILE, format_name="jsonl", timezone="UTC")
    if imported.problems:
        raise InputError(f"{imported.problems[0]}; a memory to measure must be whole")
    default = day_after(imported.sessions)
    questions: list[LabelledQuestion] = []
    corrected = 0
    for where, record in _records(folder / QUERIES_FILE):
        questions.append(_own_question(record, where, default))
        corrected += record.get("audit_error_type") is not None
    clues: list[ReadyMadeClue] = []
    if (folder / CLUES_FILE).is_file():
        with Source.of_file(folder / CLUES_FILE) as source:
            clues = list(read_ready_made(line or "" for _, line in lines(source)))
    return labelled_memory(_name(folder), imported.sessions, questions, clues, corrected=corrected)


def _records(file: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    with Source.of_file(file) as source:
        for number, line in lines(source):
            if line is not None and not line.strip():
                continue
            where = f"{file.name}, line {number}"
            try:
                record: object = json.loads(line or "")
            except (ValueError, RecursionError):
                raise InputError(f"{where}: not JSON; each line is one object") from None
            if not isinstance(record, dict):
                raise InputError(f"{where}: must be an object, not {type(record).__name__}")
            yield where, cast(Mapping[str, Any], record)


def _own_question(record: Mapping[str, Any], where: str, default: datetime) -> LabelledQuestion:
    query_id = _text(record, "query_id", where)
    query_type = record.get("query_type")
    evidence = record.get("evidence")
    if evidence is None:
        evidence = []
    if not isinstance(evidence, list) or not all(isinstance(one, str) for one in cast(list[object], evidence)):
        raise InputError(f"{where}: evidence must be a list of utterance ids")
    query_type = "unknown" if query_type is None else _text(record, "query_type", where)
    time = record.get("query_time")
    return _question(
        query_id,
        _text(record, "question", where),
        query_type,
        default if time is None or time == "" else parse_moment(_text(record, "query_time", where), "UTC"),
        cast(list[str], evidence),
        abstains=record.get("abstention") is True or query_type == "abstention",
        answer=_reference(record.get("answer")),
    )


def _text(record: Mapping[str, Any], key: str, where: str) -> str:
    value = record.get(key)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where}: {key} must be text that is not blank")
    return well_formed(value)


def _reference(value: object) -> str | None:
    """The reference answer as text; several parts are a list of them."""
    if isinstance(value, list):
        return "; ".join(part for one in cast(list[object], value) if (part := _reference(one)) is not None) or None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return well_formed(value) if isinstance(value, str) and value.strip() else None


def _question(
    query_id: str,
    text: str,
    query_type: str,
    asked_at: datetime,
    evidence: Sequence[str],
    *,
    abstains: bool,
    answer: str | None,
) -> LabelledQuestion:
    aside = None
    if query_type.casefold() == "adversarial":
        aside = "adversarial"
    elif abstains or query_id.endswith("_abs"):
        aside = "abstention"
    elif not evidence:
        aside = "no_evidence"
    return LabelledQuestion(query_id, text, query_type, asked_at, tuple(dict.fromkeys(evidence)), aside, answer)


# -- the files of LongMemEval and LoCoMo


def _from_file(path: Path) -> LabelledSet:
    try:
        found: object = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path}: is not JSON; give a folder, or the JSON file of LongMemEval or LoCoMo") from None
    records = [_object(one) for one in _list(found)]
    if records and "haystack_sessions" in records[0]:
        memories = tuple(_longmemeval(record, f"{path.name}, entry {n}") for n, record in enumerate(records, start=1))
        return LabelledSet(path.stem, memories, named_members=False)
    if records and "conversation" in records[0]:
        memories = tuple(_locomo(record, f"{path.name}, entry {n}") for n, record in enumerate(records, start=1))
        return LabelledSet(path.stem, memories, named_members=True)
    raise InputError(
        f"{path}: is neither LongMemEval's file (a list of objects with haystack_sessions) nor LoCoMo's (with "
        "conversation)"
    )


def _list(value: object) -> list[Any]:
    return cast(list[Any], value) if isinstance(value, list) else []


def _object(value: object) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], value) if isinstance(value, dict) else {}


def _longmemeval(record: Mapping[str, Any], where: str) -> LabelledMemory:
    """One question with its haystack; sessions by their dates, which the file does not sort."""
    query_id = _text(record, "question_id", where)
    ids, dates = _list(record.get("haystack_session_ids")), _list(record.get("haystack_dates"))
    haystack = _list(record.get("haystack_sessions"))
    if not len(ids) == len(dates) == len(haystack):
        raise InputError(f"{where}: {len(haystack)} sessions, {len(ids)} ids and {len(dates)} dates do not match")
    sessions: list[tuple[datetime, Session]] = []
    evidence: list[str] = []
    times: Counter[str] = Counter()
    for session_id, date, turns in zip(ids, dates, haystack, strict=True):
        times[str(session_id)] += 1
        name = str(session_id) if times[str(session_id)] == 1 else f"{session_id}#{times[str(session_id)]}"
        said_at = _longmemeval_moment(date, where)
        utterances: list[Utterance] = []
        for number, turn in enumerate(_list(turns), start=1):
            fields = _object(turn)
            text = fields.get("content")
            if not isinstance(text, str) or not text.strip():
                continue
            utterance_id = f"{name}:{number}"
            utterances.append(Utterance(str(fields.get("role") or "unknown"), well_formed(text), said_at, utterance_id))
            if fields.get("has_answer") is True:
                evidence.append(utterance_id)
        if utterances:
            sessions.append((said_at, Session(name, utterances)))
    ordered = [session for _, session in sorted(sessions, key=lambda one: one[0])]
    date = record.get("question_date")
    question = _question(
        query_id,
        _text(record, "question", where),
        _text(record, "question_type", where),
        day_after(ordered) if date is None else _longmemeval_moment(date, where),
        evidence,
        abstains=False,
        answer=_reference(record.get("answer")),
    )
    return labelled_memory(query_id, ordered, [question])


def _longmemeval_moment(value: object, where: str) -> datetime:
    """`2023/05/20 (Sat) 02:21`, UTC by convention."""
    match = re.fullmatch(r"\s*(\d{4})/(\d\d?)/(\d\d?)(?: \(\w+\))?(?: (\d\d?):(\d\d))?\s*", str(value))
    if match is None:
        raise InputError(f"{where}: a date is not of the form 2023/05/20 (Sat) 02:21")
    return _moment([int(part or 0) for part in match.groups()], where)


def _moment(parts: Sequence[int], where: str) -> datetime:
    try:
        return datetime(*parts, tzinfo=UTC)
    except ValueError:
        raise InputError(f"{where}: a date is none of the calendar") from None


def _locomo(record: Mapping[str, Any], where: str) -> LabelledMemory:
    """One conversation; sessions by number, dates without a session left out."""
    name = _text(record, "sample_id", where)
    talk = _object(record.get("conversation"))
    numbers = sorted(int(match[1]) for key in talk if (match := re.fullmatch(r"session_(\d+)", key)))
    sessions: list[Session] = []
    for number in numbers:
        said_at = _locomo_moment(talk.get(f"session_{number}_date_time"), f"{where}, session {number}")
        utterances = [
            Utterance(str(turn["speaker"]), well_formed(turn["text"]), said_at, str(turn["dia_id"]))
            for turn in map(_object, _list(talk[f"session_{number}"]))
            if {"speaker", "dia_id"} <= turn.keys() and isinstance(turn.get("text"), str) and turn["text"].strip()
        ]
        if utterances:
            sessions.append(Session(f"session_{number}", utterances))
    default = day_after(sessions)
    questions: list[LabelledQuestion] = []
    for number, fields in enumerate(map(_object, _list(record.get("qa")))):
        category = fields.get("category")
        named = " ".join(map(str, _list(fields.get("evidence"))))
        questions.append(
            _question(
                f"{name}:q{number}",
                _text(fields, "question", f"{where}, question {number}"),
                _LOCOMO_TYPES.get(category, str(category)) if isinstance(category, int) else str(category),
                default,
                [f"D{int(session)}:{int(turn)}" for session, turn in _LOCOMO_EVIDENCE.findall(named)],
                abstains=False,
                answer=_reference(fields.get("answer")),
            )
        )
    return labelled_memory(name, sessions, questions)


def _locomo_moment(value: object, where: str) -> datetime | None:
    """`1:56 pm on 8 May, 2023`, UTC by convention."""
    if value is None:
        return None
    match = re.fullmatch(r"\s*(\d\d?):(\d\d) ([ap])m on (\d\d?) (\w+),? (\d{4})\s*", str(value), re.IGNORECASE)
    if match is None or match[5][:3].lower() not in _MONTHS:
        raise InputError(f"{where}: its date is not of the form 1:56 pm on 8 May, 2023")
    hour = int(match[1]) % 12 + 12 * (match[3].lower() == "p")
    return _moment([int(match[6]), _MONTHS.index(match[5][:3].lower()) + 1, int(match[4]), hour, int(match[2])], where)


_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
