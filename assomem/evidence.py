"""Evidence: the chosen candidates, each with every reading that chose it.

A score is a sum: each reading (a number in 0..1) times its weight. A signal is the weighted mean of its readings,
so the three signals times their weights add up to the same score.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from assomem.fusion import Contribution
from assomem.times import Interval

CLOSE_ENOUGH = 0.47
MOST_OF_THE_QUESTION = 0.6
SOME_OF_THE_QUESTION = 0.3
"""When evidence is convincing (ours). Questions of three long dialogues, asked of their own and of another one with the
names exchanged (75 each): the first two limits together turn down 7 in 100 of the former, 47 in 100 of the latter."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One utterance that supports an answer, and why it was chosen."""

    rank: int
    """From 1, the best first."""
    uid: str
    utterance_id: str
    session_id: str
    speaker: str
    said_at: datetime | None
    """With the offset it was stored with; None for an undated utterance."""
    text: str
    """Verbatim."""
    score: float
    """0..1; the sum of what `contributions` add."""
    signals: Mapping[str, float]
    """relevance, importance, temporal: each 0..1."""
    clues: tuple[str, ...]
    """Texts of the clues it belongs to, the most specific first."""
    contributions: tuple[Contribution, ...]
    """What each reading added, the greatest first."""

    def as_json(self) -> dict[str, Any]:
        """The piece as plain values, without its contributions: those are for `explain`."""
        return {
            "rank": self.rank,
            "uid": self.uid,
            "utterance_id": self.utterance_id,
            "session_id": self.session_id,
            "speaker": self.speaker,
            "said_at": _iso(self.said_at),
            "text": self.text,
            "score": self.score,
            "signals": dict(self.signals),
            "clues": list(self.clues),
        }


@dataclass(frozen=True)
class SearchResult:
    """What a search found, and how it was found."""

    memory: str
    question: str
    asked_at: datetime
    question_type: Mapping[str, float]
    """Probabilities of the question's types; they sum to 1."""
    intervals: tuple[Interval, ...]
    """The time the question means, every reading; empty when it names none."""
    weights: Mapping[str, float]
    """relevance, importance, temporal; they sum to 1."""
    evidence: tuple[Evidence, ...]
    """Best first; empty when nothing was found."""
    convincing: bool
    """Whether the best evidence plausibly answers the question; without it an answer says "not in memory"."""
    degraded: tuple[str, ...]
    """What did not work as configured, in words."""
    milliseconds: Mapping[str, float]
    """Time spent, by part, with `total`."""

    def as_json(self) -> dict[str, Any]:
        """The result as plain values, ready for `json.dumps`. Times are ISO 8601 with an offset."""
        return {
            "memory": self.memory,
            "question": self.question,
            "asked_at": self.asked_at.isoformat(),
            "question_type": dict(self.question_type),
            "intervals": [
                {"from": _iso(interval.start), "to": _iso(interval.end), "text": interval.text}
                for interval in self.intervals
            ],
            "weights": dict(self.weights),
            "evidence": [piece.as_json() for piece in self.evidence],
            "degraded": list(self.degraded),
            "milliseconds": dict(self.milliseconds),
        }


def joined(first: SearchResult, again: SearchResult) -> SearchResult:
    """The first result with the evidence that a further search brought behind its own, ranked on.

    Scores compare within the evidence of one search only. Question, time, weights and type stay the first one's; what
    was degraded and the time spent are of both.
    """
    there = {piece.uid for piece in first.evidence}
    new = [piece for piece in again.evidence if piece.uid not in there]
    parts = dict.fromkeys((*first.milliseconds, *again.milliseconds))
    return replace(
        first,
        evidence=(
            *first.evidence,
            *(replace(piece, rank=rank) for rank, piece in enumerate(new, start=len(first.evidence) + 1)),
        ),
        convincing=first.convincing or again.convincing,
        degraded=tuple(dict.fromkeys((*first.degraded, *again.degraded))),
        milliseconds={part: first.milliseconds.get(part, 0.0) + again.milliseconds.get(part, 0.0) for part in parts},
    )


@dataclass(frozen=True)
class Explanation:
    """Why an utterance was chosen for a question, or why not."""

    question: str
    utterance_id: str
    rank: int | None
    """Its place among all candidates, from 1; None when it was none."""
    score: float
    """What `contributions` add up to; for an utterance that was no candidate, what it would have had."""
    contributions: tuple[Contribution, ...]
    lost_at: str | None
    """Where it was lost; None when it is among the first k."""
    says: str
    """The same in a sentence."""

    def as_json(self) -> dict[str, Any]:
        """The explanation as plain values."""
        return {
            "question": self.question,
            "utterance_id": self.utterance_id,
            "rank": self.rank,
            "score": self.score,
            "contributions": [asdict(one) for one in self.contributions],
            "lost_at": self.lost_at,
            "says": self.says,
        }


def convincing(held: Mapping[str, int], best: Collection[str], total: int, closeness: float | None) -> bool:
    """Whether the best evidence plausibly answers the question: close in meaning, or holding most of its words.

    Args:
        held: for each term of the question how many utterances of the memory hold it.
        best: the terms of the question that the best pieces of evidence hold.
        total: utterances in the memory.
        closeness: late interaction of question and best evidence, -1..1; None when there is none, then fewer words
            are enough.
    """
    if closeness is not None and closeness >= CLOSE_ENOUGH:
        return True
    # Each term weighs its inverse document frequency; one that the memory does not know weighs most.
    weights = {term: math.log(1 + total / (1 + frequency)) for term, frequency in held.items()}
    met = sum(weight for term, weight in weights.items() if term in best)
    enough = SOME_OF_THE_QUESTION if closeness is None else MOST_OF_THE_QUESTION
    return met > 0 and met >= enough * sum(weights.values())


def explain_in_words(
    piece_rank: int | None, lost_at: str | None, contributions: Sequence[Contribution], score: float
) -> str:
    """One sentence: the place, and the readings that added most."""
    most = [one for one in contributions if one.adds > 0][:3]
    why = ", ".join(f"{one.reading} {one.adds:.3f}" for one in most) or "nothing spoke for it"
    if piece_rank is None:
        return f"not a candidate ({lost_at}); it would have scored {score:.3f}: {why}"
    place = f"rank {piece_rank} with {score:.3f}: {why}"
    return place if lost_at is None else f"{place}; {lost_at}"


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
