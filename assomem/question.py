"""A question: its text, when it is asked, the time it means, its type, its vectors, its terms."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from assomem.dialogue import well_formed
from assomem.errors import InputError
from assomem.models.embedder import Embedder, QuestionEmbedding, usable
from assomem.terms import terms
from assomem.times import Interval, resolve

QUESTION_TYPES = (
    "single-session",
    "multi-session",
    "temporal",
    "knowledge-update",
    "preference",
    "person",
    "place",
    "number",
)

# How much each form of words speaks for a type; "single-session" is what is left when nothing else speaks.
_CUES: Mapping[str, tuple[tuple[str, float], ...]] = {
    "multi-session": (
        (
            r"\b(both|all|each|every|ever|various|different|kinds? of|types? of|in common|compare|besides)\b",
            1.2,
        ),
        (
            r"^what (\w+ )?(activities|books|events|hobbies|things|items|instruments|causes|places|reasons)\b",
            1.8,
        ),
        (r"\bhow many (times|different)\b|\bin total\b|\baltogether\b", 1.5),
    ),
    "temporal": (
        (r"^\W*(when|what (date|day|month|year|time))\b", 2.5),
        (r"\b(how long|how many (days|weeks|months|years)|how long ago|since when|first|last time)\b", 1.6),
        (r"\b(before|after|during|while|until|between)\b", 0.8),
    ),
    "knowledge-update": (
        (
            r"\b(now|nowadays|current(ly)?|these days|latest|most recent(ly)?|still|any ?more|at the moment)\b",
            2.2,
        ),
        (r"\b(changed?|switch(ed)?|new|instead)\b", 0.8),
    ),
    "preference": (
        (r"\b(favou?rite|prefer(s|red|ence)?|like|likes|love|loves|enjoys?|hates?|fond|rather)\b", 1.6),
        (r"\b(recommend|suggest(ion)?s?|advice|ideas?|tips|should i)\b", 1.8),
    ),
    "person": ((r"^\W*(who|whom|whose)\b|\bwhat (is|was) the name\b|\bcalled\b", 2.0),),
    "place": ((r"^\W*where\b|\b(which|what) (city|country|town|place|restaurant|shop|street)\b", 2.0),),
    "number": ((r"\bhow (much|many|old|far|big|tall|heavy|expensive)\b|\bwhat (price|number|amount)\b", 1.8),),
}


@dataclass(frozen=True)
class Question:
    """A question, understood."""

    text: str
    asked_at: datetime
    """With a zone: relative expressions are read on the asker's clock."""
    intervals: tuple[Interval, ...]
    """What time it means; empty when it names none."""
    types: Mapping[str, float]
    """Probabilities of `QUESTION_TYPES`; they sum to 1."""
    embedding: QuestionEmbedding | None
    """None when the embedder gave no usable vector."""
    terms: tuple[str, ...]
    """Stems of its content words, in order."""


def understand(text: str, asked_at: datetime, embedder: Embedder, *, max_characters: int) -> Question:
    """Read a question, its text made well-formed like that of utterances.

    Raises:
        InputError: the question is empty or too long, or `asked_at` has no zone.
        ModelError: the embedder failed.
    """
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"question: must be text, not {type(text).__name__}")
    if not any(character.isprintable() and not character.isspace() for character in text):
        raise InputError("question: is empty; ask something in words")
    if len(text) > max_characters:
        raise InputError(
            f"question: has {len(text):,} characters, allowed are {max_characters:,} (ASSOMEM_MAX_QUESTION_CHARACTERS)"
        )
    text = well_formed(text)
    embedding = embedder.embed_question(text)
    return Question(
        text=text,
        asked_at=asked_at,
        intervals=tuple(resolve(text, asked_at)),
        types=question_types(text),
        embedding=embedding if usable(embedding.vector, embedder.dimensions) else None,
        terms=tuple(terms(text)),
    )


def question_types(text: str) -> dict[str, float]:
    """Probabilities of the question's type from its form alone, in the order of `QUESTION_TYPES`; they sum to 1.

    A softmax over hand-set cues of English form words. The types are those of the paper's data.
    """
    lowered = text[:2000].lower()
    scores = {
        kind: sum(weight for pattern, weight in _CUES.get(kind, ()) if re.search(pattern, lowered))
        for kind in QUESTION_TYPES
    }
    scores["single-session"] = 1.0
    total = sum(math.exp(score) for score in scores.values())
    return {kind: math.exp(score) / total for kind, score in scores.items()}
