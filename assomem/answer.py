"""The answer: written by a language model and checked against the evidence, or quoted, or "not in memory"."""

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone

from assomem.errors import ModelError
from assomem.evidence import Evidence
from assomem.models.chat import ChatModel, Completion
from assomem.prompts import load_prompt

_log = logging.getLogger(__name__)

NOT_IN_MEMORY = "Not in memory."
"""The text of an answer that abstains."""

_SENTINEL = "NOT_IN_MEMORY"
"""What the prompt asks the model to say when the evidence holds no answer."""

_ANSWER_TOKENS = 800
_CHARACTERS_A_TOKEN = 4

_QUOTES = 3
_QUOTE_CHARACTERS = 600
_NEAR_THE_BEST = 0.85
"""Without a model, evidence besides the best is quoted when its score is at least this share of the best."""

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MARKERS = re.compile(r"[\[【]\s*(\d{1,9}(?:\s*[,;]\s*\d{1,9})*)\s*[\]】]")
_NEW_LINE = re.compile(r"(\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])")
_EDGES = " \t\r\n.!\"'`*_"


@dataclass(frozen=True, slots=True)
class Citation:
    """A marker `[n]` in an answer's text and the utterance it stands for."""

    marker: int
    """The rank of that evidence."""

    utterance_id: str


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


def write_answer(
    question: str,
    asked_at: datetime,
    evidence: Sequence[Evidence],
    chat: ChatModel | None,
    *,
    budget_tokens: int,
    confident: bool = True,
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
        confident: whether the best evidence is good enough to be quoted as the answer. False makes an answer
            without a language model abstain; a language model judges by itself.
    """
    if not evidence:
        return Written(NOT_IN_MEMORY, (), True, () if chat is not None else (_NO_MODEL,), _usage(None))
    if chat is None:
        return _quoted(evidence, confident, _NO_MODEL)
    shown, note = _fill(evidence, budget_tokens)
    prompt = load_prompt("answer")
    user = prompt.fill(
        {
            "evidence": "\n".join(line for _, line in sorted(shown, key=_by_date)),
            "asked_at": _moment(asked_at) + _zone(asked_at),
            "question": question,
        }
    )
    try:
        completion = chat.complete(prompt.system, user, max_tokens=_ANSWER_TOKENS)
    except ModelError as error:
        _log.warning("answer: %s", error)
        return _quoted(evidence, confident, f"the language model failed, so the best evidence is quoted: {error}")
    if completion.half or not completion.text.strip():
        lack = "half an answer" if completion.text.strip() else "nothing"
        failed = f"the language model {chat.name} gave {lack}, so the best evidence is quoted"
        return _quoted(evidence, confident, failed, completion)
    return _checked(completion, [piece for piece, _ in shown], note)


_NO_MODEL = (
    "no language model is configured: answers quote the best evidence. "
    "Set ASSOMEM_CHAT_MODEL, and OPENAI_API_KEY or OPENAI_BASE_URL, for written ones"
)


def _checked(completion: Completion, shown: Sequence[Evidence], note: tuple[str, ...]) -> Written:
    """What the model wrote, its markers compared with what it was shown."""
    text = completion.text.strip()
    ids = {piece.rank: piece.utterance_id for piece in shown}
    named = [int(number) for found in _MARKERS.findall(text) for number in re.split(r"[,;]", found)]
    citations = tuple(Citation(marker, ids[marker]) for marker in dict.fromkeys(named) if marker in ids)
    plain = text.strip(_EDGES)
    if plain.startswith(_SENTINEL) or (_SENTINEL in plain and not citations):
        return Written(NOT_IN_MEMORY, (), True, note, _usage(completion))
    degraded = list(note)
    unknown = [f"[{marker}]" for marker in dict.fromkeys(named) if marker not in ids]
    if unknown:
        degraded.append(f"the answer cites {', '.join(unknown)}, which is not among the evidence it was given")
    if not citations:
        degraded.append("the answer cites no evidence: compare it with the evidence before relying on it")
    return Written(text, citations, False, tuple(degraded), _usage(completion))


def _quoted(evidence: Sequence[Evidence], confident: bool, why: str, completion: Completion | None = None) -> Written:
    """The best one to three utterances word for word; an abstention when the best is not convincing."""
    if not confident:
        return Written(NOT_IN_MEMORY, (), True, (why,), _usage(completion))
    chosen = [piece for piece in evidence[:_QUOTES] if piece.score >= _NEAR_THE_BEST * evidence[0].score]
    text = "\n".join(f"{_said(piece)}: {_shortened(piece.text, _QUOTE_CHARACTERS)} [{piece.rank}]" for piece in chosen)
    citations = tuple(Citation(piece.rank, piece.utterance_id) for piece in chosen)
    return Written(text, citations, False, (why,), _usage(completion))


def _fill(evidence: Sequence[Evidence], budget_tokens: int) -> tuple[list[tuple[Evidence, str]], tuple[str, ...]]:
    """The evidence that fits, best first, each with its line of the prompt; and a note when one was cut.

    None takes more than half of the budget, so that one long text never pushes all others out.
    """
    left = budget_tokens * _CHARACTERS_A_TOKEN
    most = max(1, left // 2)
    shown: list[tuple[Evidence, str]] = []
    cut = 0
    for piece in evidence:
        text = _NEW_LINE.sub(r"\1    ", _shortened(piece.text, most))
        line = f"[{piece.rank}] {_said(piece)}: {text}"
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
