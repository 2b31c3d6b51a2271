"""The answer: written by a language model and checked against the evidence, or quoted, or "not in memory"."""

import logging
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone

from assomem.dialogue import well_formed
from assomem.errors import ModelError
from assomem.evidence import Evidence, SearchResult, joined
from assomem.models.chat import ChatModel, Completion
from assomem.prompts import Prompt, load_prompt, quoted_line

_log = logging.getLogger(__name__)

NOT_IN_MEMORY = "Not in memory."
"""The text of an answer that abstains."""

_SENTINEL = "NOT_IN_MEMORY"
"""What the prompt asks the model to say when the evidence holds no answer."""

_NOTHING_MISSING = "NONE"
"""What the prompt asks the model to say when a further search would bring nothing."""

_FOLLOW_UP_TOKENS = 100
_FOLLOW_UP_CHARACTERS = 300
_CHARACTERS_A_TOKEN = 4
_CONTEXT_CHARACTERS = 240
"""Of the turn before a piece of evidence so much is shown with it."""

_QUOTES = 3
_QUOTE_CHARACTERS = 600
_NEAR_THE_BEST = 0.85
"""Without a model, evidence besides the best is quoted when its score is at least this share of the best."""

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MARKERS = re.compile(r"[\[【]\s*(\d{1,9}(?:\s*[,;]\s*\d{1,9})*)\s*[\]】]")
_STATEMENT = re.compile(
    r"(?:(?<![^\W\d_])(?:Mr|Mrs|Ms|Dr|Prof|St|No|vs|etc|e\.g|i\.e|a\.m|p\.m|[A-Z])\.|\.(?=\w)|[^.!?。！？\n])+"
    r"(?:[.!?。！？]+[\"'”’)\]]*|\n+|\Z)(?:[ \t]*[\[【][\s\d,;]+[\]】])*",
)
"""A sentence: up to its full stop (not that of an abbreviation or within a number), and the markers behind that."""

_EDGES = " \t\r\n.!\"'`*_"


@dataclass(frozen=True, slots=True)
class Citation:
    """A marker `[n]` in an answer's text and the utterance it stands for."""

    marker: int
    """The rank of that evidence."""

    utterance_id: str


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of an answer and what it cites."""

    text: str
    markers: tuple[int, ...]
    """The numbers it cites, in order, each once."""
    supported: bool
    """It cites something, and all that it cites is evidence the model was shown. Whether the evidence says what is
    claimed is for the reader to see, or for a judge (`assomem evaluate --answers`)."""


@dataclass(frozen=True, slots=True)
class Context:
    """Where a piece of evidence stands."""

    title: str | None
    """Of its session."""
    before: tuple[str, str] | None
    """Speaker and text of the turn before; None for the first of a session."""


@dataclass(frozen=True, slots=True)
class Written:
    """An answer as it was written."""

    text: str
    citations: tuple[Citation, ...]
    """In the order in which the text first names them; every one is among the evidence."""

    abstained: bool
    """The memory does not hold the answer; `text` then says so and nothing is cited."""

    degraded: tuple[str, ...]
    """What did not work as configured, in words to act on; empty when all did."""

    usage: dict[str, int]
    """`input_tokens` and `output_tokens` of the language model, as its endpoint counts them."""

    claims: tuple[Claim, ...] = ()
    """The statements of a text that a model wrote, in order; empty for quotes and abstentions."""


@dataclass(frozen=True, slots=True)
class Found:
    """The evidence of an answer, from one search or several."""

    result: SearchResult
    """The first search, with the evidence of all."""
    searches: tuple[str, ...]
    """What was searched for, the question first."""
    degraded: tuple[str, ...] = ()
    usage: Mapping[str, int] = field(default_factory=dict[str, int])


def write_answer(
    question: str,
    asked_at: datetime,
    evidence: Sequence[Evidence],
    chat: ChatModel | None,
    *,
    budget_tokens: int,
    answer_tokens: int = 800,
    confident: bool = True,
    context: Mapping[str, Context] | None = None,
) -> Written:
    """An answer to the question from the evidence, which is given best first.

    A language model is shown as many utterances as fit into `budget_tokens` (about four characters each),
    chosen best first; what it cites is checked. Without a model, or when it fails, the best one to three are
    quoted. Without any evidence the answer abstains, and no model is called.

    Args:
        question: as it was asked.
        asked_at: with a zone; "last week" in the question counts from here.
        evidence: best first; its ranks become the markers.
        chat: None when no language model is configured.
        budget_tokens: for the evidence in the prompt; the question and the rules come on top.
        answer_tokens: room for the answer.
        confident: whether the best evidence is good enough to be quoted as the answer. False makes an answer
            without a language model abstain; a language model judges by itself.
        context: by uid, where a piece stands; a piece without is shown alone.
    """
    asked = _asked(question, asked_at, evidence, chat, budget_tokens, confident, context or {})
    if isinstance(asked, Written):
        return asked
    try:
        completion = asked.chat.complete(asked.prompt.system, asked.user, max_tokens=answer_tokens)
    except ModelError as error:
        _log.warning("answer: %s", error)
        return _quoted(evidence, confident, _failed(error))
    if completion.half or not completion.text.strip():
        lack = "half an answer" if completion.text.strip() else "nothing"
        failed = f"the language model {asked.chat.name} gave {lack}, so the best evidence is quoted"
        return _quoted(evidence, confident, failed, completion)
    return _checked(completion, [piece for piece, _ in asked.shown], asked.note)


def stream_answer(
    question: str,
    asked_at: datetime,
    evidence: Sequence[Evidence],
    chat: ChatModel | None,
    *,
    budget_tokens: int,
    answer_tokens: int = 800,
    confident: bool = True,
    context: Mapping[str, Context] | None = None,
) -> Iterator[str | Written]:
    """The same piece by piece: texts as the model writes them, and last the whole as `Written`.

    Arguments as for `write_answer`. What is quoted, or is no answer, comes as `Written` alone, whose text is then what
    counts. An answer that breaks off is given as far as it came and marked as incomplete: it was read already.
    """
    asked = _asked(question, asked_at, evidence, chat, budget_tokens, confident, context or {})
    if isinstance(asked, Written):
        yield asked
        return
    text = ""
    held = True  # until it is clear that this is an answer and not the word for abstaining
    whole: Completion | None = None
    broken: str | None = None
    try:
        for piece in asked.chat.stream(asked.prompt.system, asked.user, max_tokens=answer_tokens):
            if isinstance(piece, Completion):
                whole = piece
            elif held:
                text += piece
                held = _SENTINEL.startswith(text.strip(_EDGES)[: len(_SENTINEL)])
                if not held:
                    yield text
            else:
                text += piece
                yield piece
    except ModelError as error:
        _log.warning("answer: %s", error)
        broken = str(error)
    if broken is None and (whole is None or whole.half or whole.finish_reason is None):
        broken = f"the language model {asked.chat.name} stopped before the end"
    shown = [piece for piece, _ in asked.shown]
    completion = whole or Completion(text, None, 0, 0)
    if broken is None and completion.text.strip():
        yield _checked(completion, shown, asked.note)
    elif held:
        yield _quoted(evidence, confident, _failed(broken or f"{asked.chat.name} gave nothing"), whole)
    else:
        says = f"the answer is incomplete, it broke off here: {broken}"
        yield _checked(
            Completion(text, None, completion.input_tokens, completion.output_tokens), shown, (*asked.note, says)
        )


def look_further(
    result: SearchResult,
    search: Callable[[str], SearchResult],
    chat: ChatModel,
    *,
    hops: int,
    budget_tokens: int,
) -> Found:
    """The evidence of up to `hops` searches: after each the model names what to look for next, if anything.

    For questions whose answer lies in several places. What the model says is used as a question only, a line of at
    most 300 characters; a search that was made already ends it.
    """
    found = Found(result, (result.question,))
    while len(found.searches) < hops and found.result.evidence:
        shown, _ = _fill(found.result.evidence, budget_tokens, {})
        prompt = load_prompt("follow_up")
        user = prompt.fill(_material(shown, result.asked_at, result.question))
        try:
            completion = chat.complete(prompt.system, user, max_tokens=_FOLLOW_UP_TOKENS)
        except ModelError as error:
            _log.warning("follow-up: %s", error)
            return replace(found, degraded=(f"the language model named no further search: {error}",))
        spent = Counter(found.usage)
        spent.update(_usage(completion))
        found = replace(found, usage=spent)
        line = next(
            (line.strip(_EDGES) for line in completion.text.splitlines() if line.strip(_EDGES)), _NOTHING_MISSING
        )
        line = line[:_FOLLOW_UP_CHARACTERS]
        if line.upper().startswith(_NOTHING_MISSING) or _SENTINEL in line or line in found.searches:
            break
        found = replace(found, result=joined(found.result, search(line)), searches=(*found.searches, line))
    return found


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a model is asked."""

    chat: ChatModel
    prompt: Prompt
    user: str
    shown: Sequence[tuple[Evidence, str]]
    note: tuple[str, ...]


def _asked(
    question: str,
    asked_at: datetime,
    evidence: Sequence[Evidence],
    chat: ChatModel | None,
    budget_tokens: int,
    confident: bool,
    context: Mapping[str, Context],
) -> _Asked | Written:
    """The prompt, or the answer where no model is to be asked."""
    if not evidence:
        return Written(NOT_IN_MEMORY, (), True, () if chat is not None else (_NO_MODEL,), _usage(None))
    if chat is None:
        return _quoted(evidence, confident, _NO_MODEL)
    shown, note = _fill(evidence, budget_tokens, context)
    prompt = load_prompt("answer")
    user = prompt.fill(_material(shown, asked_at, question))
    return _Asked(chat, prompt, user, shown, note)


def _material(shown: Sequence[tuple[Evidence, str]], asked_at: datetime, question: str) -> dict[str, str]:
    """What both prompts are filled with: the evidence oldest first, when it was asked, and the question."""
    return {
        "evidence": "\n".join(line for _, line in sorted(shown, key=_by_date)),
        "asked_at": _moment(asked_at) + _zone(asked_at),
        "question": well_formed(question),
    }


def _failed(error: object) -> str:
    return f"the language model failed, so the best evidence is quoted: {error}"


_NO_MODEL = (
    "no language model is configured: answers quote the best evidence. "
    "Set ASSOMEM_CHAT_MODEL, and OPENAI_API_KEY or OPENAI_BASE_URL, for written ones"
)


def _checked(completion: Completion, shown: Sequence[Evidence], note: tuple[str, ...]) -> Written:
    """What the model wrote, its markers compared with what it was shown."""
    text = completion.text.strip()
    ids = {piece.rank: piece.utterance_id for piece in shown}
    named = _numbers(text)
    citations = tuple(Citation(marker, ids[marker]) for marker in dict.fromkeys(named) if marker in ids)
    plain = text.strip(_EDGES)
    if plain.startswith(_SENTINEL) or (_SENTINEL in plain and not citations):
        return Written(NOT_IN_MEMORY, (), True, note, _usage(completion))
    degraded = list(note)
    unknown = [f"[{marker}]" for marker in dict.fromkeys(named) if marker not in ids]
    if unknown:
        degraded.append(f"the answer cites {', '.join(unknown)}, which is not among the evidence it was given")
    claims = tuple(_claims(text, ids.keys()))
    bare = sum(not claim.supported for claim in claims)
    if not citations:
        degraded.append("the answer cites no evidence: compare it with the evidence before relying on it")
    elif bare:
        degraded.append(
            f"{bare} of {len(claims)} statements of the answer cite nothing that the model was shown: compare them "
            "with the evidence before relying on them"
        )
    return Written(text, citations, False, tuple(degraded), _usage(completion), claims)


def _claims(text: str, known: Collection[int]) -> Iterator[Claim]:
    """The statements of a text: its sentences, each with the markers in it or right behind it."""
    for found in _STATEMENT.finditer(text):
        said = found.group().strip()
        markers = tuple(dict.fromkeys(_numbers(said)))
        if _MARKERS.sub("", said).strip(_EDGES):
            yield Claim(said, markers, bool(markers) and set(markers) <= set(known))


def _numbers(text: str) -> list[int]:
    return [int(number) for found in _MARKERS.findall(text) for number in re.split(r"[,;]", found)]


def _quoted(evidence: Sequence[Evidence], confident: bool, why: str, completion: Completion | None = None) -> Written:
    """The best one to three utterances word for word; an abstention when the best is not convincing."""
    if not confident:
        return Written(NOT_IN_MEMORY, (), True, (why,), _usage(completion))
    chosen = [piece for piece in evidence[:_QUOTES] if piece.score >= _NEAR_THE_BEST * evidence[0].score]
    text = "\n".join(f"{_said(piece)}: {_shortened(piece.text, _QUOTE_CHARACTERS)} [{piece.rank}]" for piece in chosen)
    citations = tuple(Citation(piece.rank, piece.utterance_id) for piece in chosen)
    return Written(text, citations, False, (why,), _usage(completion))


def _fill(
    evidence: Sequence[Evidence], budget_tokens: int, context: Mapping[str, Context]
) -> tuple[list[tuple[Evidence, str]], tuple[str, ...]]:
    """The evidence that fits, best first, each with its lines of the prompt; and a note when one was cut.

    None takes more than half of the budget, so that one long text never pushes all others out.
    """
    left = budget_tokens * _CHARACTERS_A_TOKEN
    most = max(1, left // 2)
    shown: list[tuple[Evidence, str]] = []
    there = {(piece.speaker, piece.text) for piece in evidence}
    cut = 0
    for piece in evidence:
        line = quoted_line(piece.rank, piece.said_at, piece.speaker, _shortened(piece.text, most))
        line += _surroundings(context.get(piece.uid), there)
        # The first is always shown: a budget smaller than its date and speaker is no reason to show nothing.
        if shown and len(line) > left:
            continue
        left -= len(line)
        cut += len(piece.text) > most
        shown.append((piece, line))
    if not cut:
        return shown, ()
    was = "1 long utterance was" if cut == 1 else f"{cut} long utterances were"
    return shown, (f"{was} cut to fit the language model's budget; ASSOMEM_EVIDENCE_TOKENS allows more",)


def _surroundings(context: Context | None, there: Collection[tuple[str, str]]) -> str:
    """Indented lines with the session's title and the turn before, unless that is evidence itself."""
    if context is None:
        return ""
    lines: list[str] = []
    if context.before is not None and context.before not in there:
        speaker, text = context.before
        lines.append(f"(said just before, by {speaker}: {_shortened(text, _CONTEXT_CHARACTERS)})")
    if context.title is not None:
        lines.append(f"(in the conversation {_shortened(context.title, _CONTEXT_CHARACTERS)!r})")
    return "".join(f"\n    {' '.join(line.split())}" for line in lines)


def _by_date(shown: tuple[Evidence, str]) -> tuple[bool, float, int]:
    """Oldest first, undated ones last: which statement is newer is then seen, not computed.

    The markers stay the ranks, so that a reader finds [2] in second place of the result.
    """
    piece, _ = shown
    return piece.said_at is None, piece.said_at.timestamp() if piece.said_at is not None else 0.0, piece.rank


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} … (cut here; {len(text):,} characters in all)"


def _said(piece: Evidence) -> str:
    """When and by whom, on one line whatever the speaker's name holds."""
    return f"{_moment(piece.said_at)} {' '.join(piece.speaker.split())}"


def _moment(moment: datetime | None) -> str:
    if moment is None:
        return "undated"
    return f"{moment.date().isoformat()} {moment.time().isoformat('minutes')} ({_WEEKDAYS[moment.weekday()]})"


def _zone(moment: datetime) -> str:
    """The zone as ` Europe/Berlin, UTC+01:00`, or its offset alone; nothing without a zone."""
    offset = moment.utcoffset()
    name: object = getattr(moment.tzinfo, "key", None)
    if offset is None:
        return ""
    return f" {name}, {timezone(offset)}" if name is not None else f" {timezone(offset)}"


def _usage(completion: Completion | None) -> dict[str, int]:
    return {
        "input_tokens": completion.input_tokens if completion is not None else 0,
        "output_tokens": completion.output_tokens if completion is not None else 0,
    }
