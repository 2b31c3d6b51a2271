"""What the utterances of a session bring to mind, found by a language model; every clue checked against the session.

    session → windows → prompt → reply → proposals → clues

A reply is data from outside: it is read leniently (fences, reasoning, prose, broken JSON), and believed in nothing. A
clue stays when its kind is known, its utterances are in the session, and its words are said there (`supported`).
What does not stay is counted by reason. A reply that cannot be used at all is asked for once more.
"""

import hashlib
import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Literal, cast

from assomem.clues import NAME_KINDS, Clue, ClueKind, is_label, normalised
from assomem.dialogue import CheckedSession, CheckedUtterance, well_formed
from assomem.errors import ModelError
from assomem.models.chat import ChatModel
from assomem.models.metered import MeteredChatModel
from assomem.prompts import load_prompt, quoted_line
from assomem.terms import terms

MODEL_KINDS: tuple[ClueKind, ...] = ("topic", "person", "place", "event", "preference", "fact")
"""The kinds a language model is asked for."""

MAX_CLUES = 40
"""Clues kept of one window; the first ones count."""

MAX_CLUE_CHARACTERS = 300

REPLY_TOKENS = 200
CLUE_TOKENS = 60
"""Room for a reply, and for each clue in it."""

REPAIRED_CHARACTERS = 100_000
"""So much of a broken reply is repaired; repairing takes seconds a megabyte."""


def clue_schema(most: int) -> dict[str, Any]:
    """The form of a reply of at most so many clues, for models that can be held to one.

    The bound keeps small models from going on for ever.
    """
    clue = {
        "type": "object",
        "properties": {
            "kind": {"type": "string", "enum": list(MODEL_KINDS)},
            "text": {"type": "string"},
            "utterances": {"type": "array", "items": {"type": "integer"}, "maxItems": 20},
        },
        "required": ["kind", "text", "utterances"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"topic": {"type": "string"}, "clues": {"type": "array", "items": clue, "maxItems": most}},
        "required": ["topic", "clues"],
        "additionalProperties": False,
    }


Rejection = Literal[
    "not an object with kind, text and utterances",
    "unknown kind",
    "without text",
    "longer than 300 characters",
    "no utterance of the session named",
    "a speaker's label, not a name",
    "copied from the prompt",
    "name not said in its utterances",
    "words not said in its utterances",
    "a number or name that the session does not hold",
    "beyond the first 40 of its part of the session",
]
"""Why a proposed clue is left out."""


@dataclass
class Reading:
    """What a language model found in one session."""

    clues: list[Clue] = field(default_factory=list[Clue])
    """Each (kind, spelling) once; anchors are positions in the session, from 0."""
    rejected: Counter[str] = field(default_factory=Counter[str])
    """How many proposed clues were left out, by `Rejection`."""
    failure: str | None = None
    """Why nothing could be read, in words; `clues` is then empty."""
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


class UnusableReply(ValueError):  # noqa: N818  (reads as a state)
    """A reply that holds no proposals; the message says in words what it is instead, and quotes nothing of it."""


class EmptyReply(UnusableReply):
    """A reply that says nothing, or nothing but reasoning."""


def source_of(chat: ChatModel) -> str:
    """The name under which a session notes who read it: model, and the version of prompt and schema."""
    prompt = load_prompt("clues")
    asked = "\0".join((prompt.system, prompt.user, json.dumps(clue_schema(MAX_CLUES))))
    return f"model {chat.name} {hashlib.sha256(asked.encode()).hexdigest()[:8]}"


def read_session(
    session: CheckedSession, chat: ChatModel, *, window_tokens: int, reading: Reading | None = None
) -> Reading:
    """The clues of a session, read by a language model, window by window.

    The first clue of each window is the topic that stands for the whole of it, anchored to each of its utterances.
    Where a window cannot be read, nothing of the session is: `failure` says why.

    Args:
        session: with its utterances in order.
        chat: the language model.
        window_tokens: about so much of the session is shown at once.
        reading: filled and returned; it holds what the calls cost also when this raises.

    Raises:
        ModelError: the model gave no answer at all; asking later may help.
    """
    reading = Reading() if reading is None else reading
    said = Said(session)
    parts = list(windows(session, window_tokens))
    found: dict[tuple[str, str], Clue] = {}
    for number, part in enumerate(parts, start=1):
        try:
            clues = _read_window(part, said, chat, reading)
        except UnusableReply as problem:
            where = f"part {number} of {len(parts)}: " if len(parts) > 1 else ""
            reading.failure = f"{where}{problem}"
            reading.clues = []
            return reading
        for clue in clues:
            key = (clue.kind, normalised(clue.text))
            twin = found.get(key)
            anchors = {*clue.anchors, *(twin.anchors if twin is not None else ())}
            found[key] = Clue(clue.kind, (twin or clue).text, tuple(sorted(anchors)))
    reading.clues = list(found.values())
    return reading


# -- windows


@dataclass(frozen=True, slots=True)
class Window:
    """Consecutive utterances of a session that are read in one call."""

    positions: tuple[int, ...]
    """Positions in the session, from 0."""
    lines: tuple[str, ...]
    """As the prompt shows them."""


def windows(session: CheckedSession, budget_tokens: int) -> Iterator[Window]:
    """A session cut into windows of about `budget_tokens` each, in order; one that is longer than that, too.

    Windows are filled from the beginning, so that a session which grows keeps its earlier ones.
    """
    title = [] if session.title is None else [f"Title: {' '.join(session.title.split())}"]
    positions: list[int] = []
    lines: list[str] = []
    left = budget_tokens
    for position, utterance in enumerate(session.utterances):
        for piece in _pieces(utterance.text, budget_tokens):
            line = quoted_line(position + 1, utterance.said_at, utterance.speaker, piece)
            cost = estimated_tokens(line)
            if positions and cost > left:
                yield Window(tuple(dict.fromkeys(positions)), (*title, *lines))
                positions, lines, left = [], [], budget_tokens
            positions.append(position)
            lines.append(line)
            left -= cost
    if positions:
        yield Window(tuple(dict.fromkeys(positions)), (*title, *lines))


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has: one for four characters of ASCII, one for any other character."""
    plain = sum(character.isascii() for character in text)
    return math.ceil(plain / 4) + len(text) - plain


def _pieces(text: str, budget_tokens: int) -> Iterator[str]:
    """A text in pieces that fit a window, cut at blanks where there are any; nearly always the text itself."""
    start = 0
    while estimated_tokens(text[start : start + 4 * budget_tokens]) > budget_tokens or (
        len(text) - start > 4 * budget_tokens
    ):
        end = start + budget_tokens  # fits whatever the characters are
        blank = text.rfind(" ", start + budget_tokens // 2, end)
        end = end if blank < 0 else blank + 1
        yield text[start:end]
        start = end
    if start < len(text) or not text:
        yield text[start:]


# -- asking


def _read_window(window: Window, said: "Said", chat: ChatModel, reading: Reading) -> list[Clue]:
    """The clues of one window; asks once more, saying what was wrong, when the first reply cannot be used.

    Raises:
        UnusableReply: nor can the second.
        ModelError: the model does not answer, or says nothing both times.
    """
    problem: str | None = None
    empty = 0
    requests: list[_Request] = []
    for _ in range(2):
        requests.append(_request(window, problem))
        try:
            proposals = read_reply(_asked(requests[-1], chat, reading))
        except UnusableReply as unusable:
            problem = str(unusable)
            empty += isinstance(unusable, EmptyReply)
            continue
        rejected: Counter[str] = Counter()
        clues = check_proposals(proposals, window, said, rejected)
        if clues or not rejected:
            reading.rejected += rejected
            return clues
        reasons = "; ".join(f"{count} {reason}" for reason, count in rejected.most_common())
        problem = f"none of the {rejected.total():,} proposed clues can be found in the session ({reasons})"
        reading.rejected += rejected
    if isinstance(chat, MeteredChatModel):
        # Kept, they would be the answer to a later try as well.
        for one in requests:
            chat.discard(one.system, one.user, max_tokens=one.max_tokens, schema=one.schema)
    if empty == 2:
        raise ModelError(f"chat model {chat.name}: the reply was empty, twice")
    raise UnusableReply(f"{problem} (asked twice)")


@dataclass(frozen=True, slots=True)
class _Request:
    system: str
    user: str
    max_tokens: int
    schema: Mapping[str, Any]


def _request(window: Window, problem: str | None) -> _Request:
    prompt = load_prompt("clues")
    request = "List the clues of this dialogue as one JSON object."
    if problem is not None:
        request += f" An earlier reply could not be used: {problem}. Reply with the JSON object alone."
    user = prompt.fill({"dialogue": "\n".join(window.lines), "request": request})
    # Two an utterance, and some for the whole: a small model would fill whatever it is allowed.
    most = min(MAX_CLUES, 4 + 2 * len(window.positions))
    return _Request(prompt.system, user, REPLY_TOKENS + CLUE_TOKENS * most, clue_schema(most))


def _asked(one: _Request, chat: ChatModel, reading: Reading) -> str:
    completion = chat.complete(one.system, one.user, max_tokens=one.max_tokens, schema=one.schema)
    reading.calls += 1
    reading.input_tokens += completion.input_tokens
    reading.output_tokens += completion.output_tokens
    return completion.text


# -- reading a reply


@dataclass(frozen=True, slots=True)
class Proposals:
    """What a reply proposes, unchecked."""

    topic: object
    clues: Sequence[object]


_REASONING = re.compile(r"\A\s*<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_END_OF_REASONING = re.compile(r"\A.*</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
_FENCED = re.compile(r"```[a-zA-Z0-9_-]*[ \t]*\r?\n(.*?)(?:```|\Z)", re.DOTALL)
_OPENING = re.compile(r"[{\[]")
_TRIED_OPENINGS = 20
"""So many brackets of a reply are tried as the beginning of its JSON: prose may hold some before it."""


def read_reply(text: str) -> Proposals:
    """What a reply proposes.

    Reasoning before it, code fences, prose around it, a bare list, JSON inside a string, comments, single quotes,
    trailing commas and a missing end do no harm.

    Raises:
        UnusableReply: there is nothing of the form that was asked for.
    """
    text = well_formed(_END_OF_REASONING.sub("", _REASONING.sub("", text))).strip("\ufeff \t\r\n")
    if not text:
        raise EmptyReply("the reply was empty")
    shape: str | None = None
    for value in _values(text):
        found = _proposed(value)
        if isinstance(found, Proposals):
            return found
        shape = shape or found
    raise UnusableReply(shape or "the reply holds no JSON")


def _values(text: str) -> Iterator[object]:
    """The JSON values that a reply may mean, likeliest first; broken ones are repaired when no whole one was taken."""
    blocks = [text, *_FENCED.findall(text)]
    for block in blocks:
        yield from _whole(block, 0)
    decoder = json.JSONDecoder(strict=False)
    openings = [found.start() for found in _OPENING.finditer(text)]
    for at in openings[:_TRIED_OPENINGS]:
        try:
            value: object = decoder.raw_decode(text, at)[0]
        except (ValueError, RecursionError):
            continue
        # Anything else may be a part of a broken object, which is better mended as a whole.
        if isinstance(value, dict) and "clues" in value:
            yield cast(object, value)
    for block in (*blocks[1:], *([text[openings[0] :]] if openings else [])):
        yield from _repaired(block)


def _whole(block: str, depth: int) -> Iterator[object]:
    try:
        value: object = json.loads(block, strict=False)
    except (ValueError, RecursionError):
        return
    if isinstance(value, str) and depth == 0:
        yield from _whole(value, 1)
    yield value


def _repaired(block: str) -> Iterator[object]:
    from json_repair import loads

    try:
        value: object = loads(block[:REPAIRED_CHARACTERS], skip_json_loads=True)
    except (ValueError, RecursionError):
        return
    yield value
    if isinstance(value, list):  # several values one after the other
        yield from cast(list[object], value)


def _proposed(value: object) -> Proposals | str:
    """The proposals in a value, or what it is instead, in words."""
    if isinstance(value, dict):
        fields = cast(dict[str, object], value)
        clues = fields.get("clues")
        if "$schema" in fields or "properties" in fields or isinstance(clues, dict):
            return "the reply is the schema, not a reply in its form"
        if isinstance(clues, list):
            return Proposals(fields.get("topic"), cast(list[object], clues))
        if "kind" in fields and "text" in fields:
            return Proposals(None, [fields])
        if "topic" in fields and clues is None:
            return Proposals(fields["topic"], [])
        return "the reply is an object without a list of clues"
    if isinstance(value, list):
        entries = cast(list[object], value)
        if len(entries) == 1 and isinstance(entries[0], dict) and "clues" in entries[0]:
            return _proposed(cast(object, entries[0]))
        if not entries or any(isinstance(one, dict) and "kind" in one for one in entries):
            return Proposals(None, entries)
        return "the reply is a list, but not of clues"
    return f"the reply is {_called(value)}, not an object"


def _called(value: object) -> str:
    if value is None:
        return "null"
    return "text" if isinstance(value, str) else "a number or truth value"


# -- checking what it proposes


class Said:
    """What a session says, in the forms in which the words of clues are looked up."""

    def __init__(self, session: CheckedSession) -> None:
        """Look nothing up yet."""
        self.session = session
        self._of: dict[int, frozenset[str]] = {}
        self._spoken: dict[int, str] = {}

    def words(self, position: int) -> frozenset[str]:
        """Words (`content_words`) of one utterance and its speaker's name."""
        if position not in self._of:
            self._of[position] = frozenset(_found_words(_with_speaker(self.session.utterances[position])))
        return self._of[position]

    def spelling(self, position: int) -> str:
        """One utterance with its speaker's name, as names are compared: see `normalised`."""
        if position not in self._spoken:
            self._spoken[position] = normalised(_with_speaker(self.session.utterances[position]))
        return self._spoken[position]

    @cached_property
    def everywhere(self) -> frozenset[str]:
        """Words of the whole session, its title included."""
        title = frozenset(_found_words(self.session.title or ""))
        return title.union(*(self.words(one) for one in range(len(self.session.utterances))))

    @cached_property
    def labels(self) -> frozenset[str]:
        """Speakers that are mere labels, as names are compared."""
        return frozenset(normalised(one.speaker) for one in self.session.utterances if is_label(one.speaker))


def check_proposals(proposals: Proposals, window: Window, said: Said, rejected: Counter[str]) -> list[Clue]:
    """The clues among proposals, the window's own topic first; what is left out is counted in `rejected`.

    Of the utterances a clue names, those outside the window are dropped; one that has none left is left out.
    """
    found: dict[tuple[str, str], Clue] = {}
    given: list[tuple[object, bool]] = [] if proposals.topic in (None, "") else [(proposals.topic, True)]
    given += [(one, False) for one in proposals.clues[:MAX_CLUES]]
    if len(proposals.clues) > MAX_CLUES:
        rejected[_BEYOND] += len(proposals.clues) - MAX_CLUES
    for one, whole in given:
        topic: object = {"kind": "topic", "text": one, "utterances": [at + 1 for at in window.positions]}
        clue = _checked(topic if whole else one, window, said, whole=whole)
        if not isinstance(clue, Clue):
            rejected[clue] += 1
            continue
        key = (clue.kind, normalised(clue.text))
        twin = found.get(key)
        anchors = clue.anchors if twin is None else tuple(sorted({*twin.anchors, *clue.anchors}))
        found[key] = Clue(clue.kind, (twin or clue).text, anchors)
    return list(found.values())


_BEYOND: Rejection = "beyond the first 40 of its part of the session"

_KIND_NAMES: Mapping[str, ClueKind] = {
    **{kind: kind for kind in MODEL_KINDS},
    "topics": "topic", "people": "person", "persons": "person", "places": "place", "events": "event",
    "preferences": "preference", "facts": "fact",
}  # fmt: skip


def _checked(proposed: object, window: Window, said: Said, *, whole: bool) -> Clue | Rejection:
    if not isinstance(proposed, dict):
        return "not an object with kind, text and utterances"
    fields = cast(dict[str, object], proposed)
    kind = fields.get("kind")
    kind = _KIND_NAMES.get(kind.strip().casefold()) if isinstance(kind, str) else None
    if kind is None:
        return "unknown kind"
    text = _text(fields.get("text"))
    if text is None:
        return "without text"
    if len(text) > MAX_CLUE_CHARACTERS:
        return "longer than 300 characters"
    anchors = _anchors(fields.get("utterances"), window)
    # Said of the example only where it is not said in the session: a dialogue may be about a lighthouse.
    copied = normalised(text) in _example_texts()
    if not anchors:
        return "copied from the prompt" if copied else "no utterance of the session named"
    if kind == "person" and (is_label(text) or normalised(text) in said.labels):
        return "a speaker's label, not a name"
    problem = supported(kind, text, anchors, said, whole=whole)
    if problem is not None:
        return "copied from the prompt" if copied else problem
    return Clue(kind, text, anchors)


def supported(kind: str, text: str, anchors: Sequence[int], said: Said, *, whole: bool = False) -> Rejection | None:
    """Why a clue is not found in its session; None when it is.

    - A **name** (person, place) is said in one of its utterances, or is the name of that utterance's speaker: letter
      for letter but for case, or with each of its words in another ending.
    - Of any other clue at least **half of the content words** occur in its utterances or their speakers' names.
    - Its **numbers**, and the capitalised words inside it where capitals mark names, occur somewhere in the session;
      dates may be worked out, so years and the numbers beside a month's name need not.

    Words are compared by stem (`terms`), long ones also by their first five letters; scripts without blanks by pairs
    of characters. `whole` allows the title of the session as a source, too.
    """
    if kind in NAME_KINDS:
        return None if any(_names(text, at, said) for at in anchors) else "name not said in its utterances"
    words = content_words(text)
    found: frozenset[str] = said.everywhere if whole else said.words(anchors[0]).union(*map(said.words, anchors[1:]))
    if not words or 2 * sum(_occurs(word, found) for word in words) < len(words):
        return "words not said in its utterances"
    if not all(_occurs(word, said.everywhere) for word in _specific(text)):
        return "a number or name that the session does not hold"
    return None


# Thai, Lao, Myanmar and Khmer write without blanks; Chinese, Japanese and Korean are cut in pairs by `terms` itself.
_NO_BLANKS = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+")
_LONG = 6
_BEGINNING = 5


def content_words(text: str) -> frozenset[str]:
    """The content words of a text as stems; pairs of characters where a script has no blanks."""
    runs = _NO_BLANKS.findall(text)
    pairs = [run[at : at + 2] for run in runs for at in range(max(1, len(run) - 1))]
    return frozenset([*terms(_NO_BLANKS.sub(" ", text)), *pairs])


def _found_words(text: str) -> Iterator[str]:
    """The words of a text in every form in which `_occurs` looks for them."""
    for word in content_words(text):
        yield word
        if len(word) >= _LONG:
            yield word[:_BEGINNING] + "…"


def _occurs(word: str, found: Collection[str]) -> bool:
    return word in found or (len(word) >= _LONG and word[:_BEGINNING] + "…" in found)


def _names(name: str, position: int, said: Said) -> bool:
    spoken, wanted = said.spelling(position), normalised(name)
    at = spoken.find(wanted)
    while at >= 0:
        before, after = spoken[:at][-1:], spoken[at + len(wanted) :][:1]
        # Inside a longer word it is another name, unless the script has no blanks.
        if not (_joins(before) and _joins(wanted[0])) and not (_joins(after) and _joins(wanted[-1])):
            return True
        at = spoken.find(wanted, at + 1)
    words = content_words(name)
    return bool(words) and all(_occurs(word, said.words(position)) for word in words)


def _joins(character: str) -> bool:
    """Whether a character goes on with the word beside it."""
    return character.isalnum() and unicodedata.east_asian_width(character) != "W" and not _NO_BLANKS.match(character)


_DATE_WORDS = frozenset(
    "january february march april may june july august september october november december jan feb mar apr jun jul "
    "aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday".split()
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_DATE = re.compile(r"\b(?:\d{4}-\d{2}(?:-\d{2})?|(?:19|20)\d\d)\b")


def _specific(text: str) -> frozenset[str]:
    """Stems of the numbers and names in a clue that must be said in the session."""
    words = [found.group() for found in _WORD.finditer(_DATE.sub(" ", text))]
    dated = any(word.lower() in _DATE_WORDS for word in words)
    numbers = [] if dated else [word for word in words if any(map(str.isdigit, word))]
    capitals = [word for word in words[1:] if word[0].isupper() and word.lower() not in _DATE_WORDS]
    # Where most words have a capital (headlines), a capital marks no name.
    names = capitals if 2 * len(capitals) <= len(words) else []
    return frozenset(stem for word in (*numbers, *names) for stem in content_words(word))


def _with_speaker(utterance: CheckedUtterance) -> str:
    return f"{utterance.speaker}: {utterance.text}"


def _text(value: object) -> str | None:
    """A clue's text in one line without control characters; None when it is not text, or blank."""
    if not isinstance(value, str):
        return None
    text = well_formed(value[: 100 * MAX_CLUE_CHARACTERS])
    text = "".join(" " if unicodedata.category(one).startswith("C") and one not in _JOINERS else one for one in text)
    text = " ".join(text.split())
    return text if any(one.isalnum() for one in text) else None


_JOINERS = frozenset("\u200c\u200d")
"""Without them Persian and Indic words, and emoji, are others."""

_NUMBER = re.compile(r"\[?\s*(\d{1,9})\s*\]?")


def _anchors(value: object, window: Window) -> tuple[int, ...]:
    """Positions in the session of the utterances a clue names; ascending, empty when none of them is in the window."""
    inside = frozenset(window.positions)
    found: set[int] = set()
    for one in cast(list[object], value) if isinstance(value, list) else [value]:
        number: int | None = None
        if isinstance(one, str):
            match = _NUMBER.fullmatch(one.strip())
            number = int(match[1]) if match is not None else None
        elif isinstance(one, float):
            number = int(one) if one.is_integer() else None
        elif isinstance(one, int) and not isinstance(one, bool):
            number = one
        if number is not None and number - 1 in inside:
            found.add(number - 1)
    return tuple(sorted(found))


@cache
def _example_texts() -> frozenset[str]:
    """The texts of the prompt's own example."""
    for line in load_prompt("clues").system.splitlines():
        if line.startswith('{"topic"'):
            example = cast(dict[str, Any], json.loads(line))
            return frozenset(map(normalised, (example["topic"], *(one["text"] for one in example["clues"]))))
    return frozenset()
