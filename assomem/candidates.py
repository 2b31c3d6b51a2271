"""Reads: which utterances are worth ranking for a question, and what ranking needs to know of them.

Six lists are united: nearest by vector (whole utterances and pieces of long ones), anchored to the nearest clues,
best by full text, best by the full text of their window, said close to the very best of these, and said in the time
that the question means. The preset `paper` takes the clues alone.
"""

import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assomem.dialogue import identity
from assomem.graph import EARLIEST, LATEST, speaker_key
from assomem.graph.nearest import to_vector
from assomem.postings import UNDATED, Layout, WordScores, score_words
from assomem.question import Question
from assomem.store import Store, load

BY_VECTOR = 130
BY_TEXT = 150
BY_WINDOW = 80
BY_CLUE = 40
BY_TIME = 50
NEAR_VECTOR = 20
NEAR_TEXT = 10
NEAR_REACH = 3
"""Answers share few words with the question they answer: the list `near` holds what was said at most so many turns
before or after the first so many of two lists."""
NEAREST_CLUES = 10
"""K of the paper: so many clues are looked up."""
OVERFETCH = 2
"""The index is approximate: asked for more, it finds the nearest more surely."""
CONTEXT = 2
"""So many utterances before one are read with it."""
TURNS_TO_AN_ASSISTANTS = 3
"""In talk with an assistant at least every so manieth turn is the assistant's."""
MOST_CANDIDATES = 600
"""The ranked pool is bounded, whatever the size of the memory."""

_HIGHEST = "\U0010ffff"
_NEVER = 2**62


@dataclass(frozen=True, slots=True)
class MemoryState:
    """A memory as of one revision."""

    name: str
    key: str
    revision: int
    dimensions: int
    utterances: int
    dated: int
    assistant: int

    @property
    def kinds(self) -> dict[str, float]:
        """What sorts of talk it holds, from what was counted while writing, with their shares; mixes the weights.

        Two questions: how much of it is talk with an assistant, and how much carries times? The shares sum to 1; a
        sort that it holds nothing of is left out. A memory without utterances is of people, undated.
        """
        total = max(self.utterances, 1)
        assistant = min(1.0, TURNS_TO_AN_ASSISTANTS * self.assistant / total)
        dated = self.dated / total
        shares = {
            f"{who}, {when}": first * second
            for who, first in (("people", 1 - assistant), ("assistant", assistant))
            for when, second in (("dated", dated), ("undated", 1 - dated))
        }
        return {kind: share for kind, share in shares.items() if share > 0}


@dataclass(frozen=True, slots=True)
class Filters:
    """Which utterances may be found; None does not restrict."""

    asked_at: datetime
    until: datetime
    """The end of the day of `asked_at`: only what was said before it; undated utterances stay."""
    after: datetime | None = None
    """Only what was said at this moment or later; undated utterances go."""
    before: datetime | None = None
    """Only what was said before this moment; undated utterances go."""
    speaker: str | None = None
    session_id: str | None = None


@dataclass(frozen=True)
class Candidates:
    """The candidates of a question. Every field has one entry for each, in ascending order of ordinals."""

    ordinals: NDArray[np.int64]
    utterance_ids: tuple[str, ...]
    session_ids: tuple[str, ...]
    positions: NDArray[np.int64]
    speakers: tuple[str, ...]
    texts: tuple[str, ...]
    instants: NDArray[np.float64]
    """POSIX seconds; nan when undated."""
    means: tuple[tuple[tuple[float, float], ...], ...]
    """Intervals it talks about, POSIX seconds."""
    cosine: NDArray[np.float64]
    """Question and utterance (its nearest piece), -1..1; nan without vectors."""
    context_cosine: NDArray[np.float64]
    """Question and e_i + 0.5 e_(i-1), -1..1; nan without vectors."""
    text_score: NDArray[np.float64]
    """BM25 of the utterance."""
    window_score: NDArray[np.float64]
    """BM25 of its window."""
    session_score: NDArray[np.float64]
    """BM25 of its session."""
    reply_score: NDArray[np.float64]
    """BM25 of the utterance before it where that one asks something, else 0."""
    before: NDArray[np.int64]
    """(n, CONTEXT), ordinals of the utterances before it in its session, the nearest first; -1 where there is none."""
    found_by: tuple[frozenset[str], ...]
    """The lists it was on: vector, clue, text, window, near, time."""
    words: WordScores
    """The scores of the whole memory, by ordinal."""
    total: int
    """Utterances that could have been candidates."""

    def __len__(self) -> int:
        return len(self.utterance_ids)


class Layouts:
    """Layouts of the memories this process reads, by revision; safe to share between threads."""

    def __init__(self) -> None:
        """Begin empty."""
        self._kept: OrderedDict[str, tuple[str, int, Layout]] = OrderedDict()
        self._lock = Lock()

    def read(self, store: Store, state: MemoryState) -> Layout:
        """The layout of a memory, from this process when it is of the same revision."""
        with self._lock:
            kept = self._kept.get(state.name)
        if kept is not None and kept[:2] == (state.key, state.revision):
            return kept[2]
        rows = store.read(load("graph/read_layout"), memory=state.name, **{"from": 0})
        layout = Layout.unpack([row["places"] for row in rows])
        with self._lock:
            self._kept[state.name] = (state.key, state.revision, layout)
            self._kept.move_to_end(state.name)
            while len(self._kept) > 16:
                self._kept.popitem(last=False)
        return layout


def find(
    store: Store,
    state: MemoryState,
    question: Question,
    filters: Filters,
    layouts: Layouts,
    *,
    clues_only: bool = False,
    also: str | None = None,
) -> Candidates:
    """The candidates of a question.

    Args:
        store: the database.
        state: the memory.
        question: the question; without a usable vector only its words count.
        filters: which utterances may be found.
        layouts: what this process knows of layouts.
        clues_only: the paper's way: only utterances anchored to the nearest topic clues.
        also: the id of an utterance to take in whether or not a list has it, to explain why it was not chosen.
    """
    layout = layouts.read(store, state)
    allowed = _allowed(store, state, filters, layout)
    lists = store.read(load("graph/read_postings"), memory=state.name, terms=sorted(set(question.terms)))
    postings: dict[str, list[bytes]] = {term: [] for term in question.terms}
    for row in lists:
        postings[row["term"]].append(row["entries"])
    words = score_words(layout, postings)
    found: dict[str, list[int]] = {}
    if question.embedding is not None:
        found |= _by_meaning(store, state, question, filters, clues_only=clues_only)
    if not clues_only:
        found["text"] = _best(words.text, allowed, BY_TEXT)
        found["window"] = _best(words.window, allowed, BY_WINDOW)
        found["near"] = _near([*found.get("vector", [])[:NEAR_VECTOR], *found["text"][:NEAR_TEXT]], layout)
        found["time"] = _in_time(question, layout, allowed, words)
    reasons: dict[int, set[str]] = {}
    for name, ordinals in found.items():
        for ordinal in ordinals:
            # The index may know an utterance that is newer than the layout just read: it counts as well, but only
            # from the list that was filtered by speaker and session in the database.
            if allowed[ordinal] if ordinal < len(allowed) else name == "vector":
                reasons.setdefault(ordinal, set()).add(name)
    if not clues_only:
        _limit(reasons, found)
    if also is not None:
        uid = identity(state.name, also)
        for row in store.read(load("candidates/ordinal"), memory=state.name, uid=uid):
            reasons.setdefault(row["ordinal"], set())
    return _detailed(store, state, question, reasons, words, layout, int(allowed.sum()))


@dataclass(frozen=True, slots=True)
class Statement:
    """A clue that says something (a fact, an event, a preference), as a question's candidates need it."""

    ordinals: tuple[int, ...]
    """The candidates that are anchored to it."""
    tokens: NDArray[np.float32]
    """Its token vectors, unit rows."""


def token_vectors(
    store: Store, state: MemoryState, ordinals: Sequence[int], best: Sequence[int]
) -> tuple[dict[int, list[NDArray[np.float32]]], list[Statement]]:
    """Token vectors of some utterances, and of the statements that some are anchored to.

    Returns:
        By ordinal one array of unit rows for each piece, absent for an utterance without any; and the statements of
        `best`, in no order.
    """
    rows = store.read(load("candidates/token_vectors"), memory=state.name, ordinals=list(ordinals), best=list(best))
    found: list[tuple[int, bytes, list[int]]] = rows[0]["vectors"]
    vectors: dict[int, list[NDArray[np.float32]]] = {}
    for ordinal, packed, pieces in found:
        tokens = _tokens(packed)
        vectors[ordinal] = [piece for piece in np.split(tokens, np.cumsum(pieces)[:-1]) if len(piece)]
    clues: list[tuple[list[int], bytes]] = rows[0]["clues"]
    return vectors, [Statement(tuple(anchored), _tokens(packed)) for anchored, packed in clues]


def _tokens(packed: bytes) -> NDArray[np.float32]:
    return np.frombuffer(packed, np.int8).reshape(-1, 128).astype(np.float32) / np.float32(127)


def _by_meaning(
    store: Store, state: MemoryState, question: Question, filters: Filters, *, clues_only: bool
) -> dict[str, list[int]]:
    assert question.embedding is not None
    vector = to_vector(question.embedding.vector)
    start, end = _instants(filters)
    limits = {
        "memory": state.name,
        "vector": vector,
        "from": start,
        "until": end,
        "speaker_from": "" if filters.speaker is None else speaker_key(filters.speaker),
        "speaker_to": _HIGHEST if filters.speaker is None else speaker_key(filters.speaker),
        "session_from": "" if filters.session_id is None else filters.session_id,
        "session_to": _HIGHEST if filters.session_id is None else filters.session_id,
    }
    by_clue = store.read(
        load("candidates/by_clue"),
        memory=state.name,
        vector=vector,
        clues=NEAREST_CLUES,
        kind_from="topic" if clues_only else "",
        kind_to="topic" if clues_only else _HIGHEST,
        limit=MOST_CANDIDATES if clues_only else BY_CLUE,
        **{"from": start},
        until=end,
    )
    found: dict[str, list[int]] = {"clue": by_clue[0]["ordinals"]}
    if not clues_only:
        row = store.read(load("candidates/by_vector"), limit=BY_VECTOR * OVERFETCH, **limits)[0]
        near: dict[int, float] = {}
        for ordinal, cosine in zip(
            [*row["utterances"], *row["piece_ordinals"]], [*row["cosines"], *row["piece_cosines"]], strict=True
        ):
            near[ordinal] = max(near.get(ordinal, -1.0), cosine)
        found["vector"] = sorted(near, key=lambda ordinal: (-near[ordinal], ordinal))[:BY_VECTOR]
    return found


def _instants(filters: Filters) -> tuple[int, int]:
    """Limits in whole seconds, [from, until)."""
    start = int(UNDATED) if filters.after is None else int(np.ceil(filters.after.timestamp()))
    end = int(np.ceil(filters.until.timestamp()))
    if filters.before is not None:
        end = min(end, int(np.ceil(filters.before.timestamp())))
        # A limit on time leaves undated utterances out: nobody knows whether they keep it.
        start = max(start, int(UNDATED) + 1)
    return start, min(end, _NEVER)


def _allowed(store: Store, state: MemoryState, filters: Filters, layout: Layout) -> NDArray[np.bool_]:
    start, end = _instants(filters)
    allowed = layout.live & (layout.instant >= start) & (layout.instant < end)
    if filters.session_id is not None:
        rows = store.read(load("candidates/of_session"), memory=state.name, session_id=filters.session_id)
        allowed &= layout.session == (rows[0]["number"] if rows else -1)
    if filters.speaker is not None:
        key = speaker_key(filters.speaker)
        said = store.read(load("candidates/of_speaker"), memory=state.name, speaker_key=key)[0]["ordinals"]
        theirs = np.zeros(len(allowed), bool)
        theirs[[ordinal for ordinal in said if ordinal < len(allowed)]] = True
        allowed &= theirs
    return allowed


def _best(scores: NDArray[np.float64], allowed: NDArray[np.bool_], limit: int) -> list[int]:
    """Ordinals of the best scores above 0 among the allowed, best first, ties by ordinal."""
    hits = np.flatnonzero(allowed & (scores > 0))
    return [int(ordinal) for ordinal in hits[np.argsort(-scores[hits], kind="stable")][:limit]]


def _near(ordinals: Sequence[int], layout: Layout) -> list[int]:
    """Ordinals at most `NEAR_REACH` places from these in their sessions, in the order of these, without them."""
    places = np.array(ordinals, np.int64)
    steps = [step for reach in range(1, NEAR_REACH + 1) for step in (-reach, reach)]
    if not len(places):
        return []
    around = np.stack([layout.beside(places, step) for step in steps], axis=1).ravel().tolist()
    return [ordinal for ordinal in dict.fromkeys(around) if ordinal >= 0]


def _in_time(question: Question, layout: Layout, allowed: NDArray[np.bool_], words: WordScores) -> list[int]:
    """Ordinals said inside an interval that the question means, those with more of its words in their window first."""
    inside = np.zeros(len(allowed), bool)
    for interval in question.intervals:
        start = -math.inf if interval.start is None else interval.start.timestamp()
        end = math.inf if interval.end is None else interval.end.timestamp()
        inside |= (layout.instant >= start) & (layout.instant < end) & (layout.instant > UNDATED)
    hits = np.flatnonzero(inside & allowed)
    return [int(ordinal) for ordinal in hits[np.argsort(-words.window[hits], kind="stable")][:BY_TIME]]


def _limit(reasons: dict[int, set[str]], found: dict[str, list[int]]) -> None:
    """Keep at most MOST_CANDIDATES, those that stand highest on some list."""
    if len(reasons) <= MOST_CANDIDATES:
        return
    best: dict[int, int] = {}
    for ordinals in found.values():
        for place, ordinal in enumerate(ordinals):
            best[ordinal] = min(best.get(ordinal, place), place)
    for ordinal in sorted(reasons, key=lambda one: (best[one], one))[MOST_CANDIDATES:]:
        del reasons[ordinal]


def _detailed(
    store: Store,
    state: MemoryState,
    question: Question,
    reasons: dict[int, set[str]],
    words: WordScores,
    layout: Layout,
    total: int,
) -> Candidates:
    # Neo4j refuses to compare with a vector of zeros; compared with null, everything is null.
    vector = None if question.embedding is None else to_vector(question.embedding.vector)
    rows: list[list[Any]] = []
    if reasons:
        rows = store.read(load("candidates/details"), memory=state.name, ordinals=sorted(reasons), vector=vector)[0][
            "candidates"
        ]
    (
        ordinal, utterance_id, session_id, position, speaker, text, instant, starts, ends,
        cosine, before, before_cosine, before_link, before_asks,
    ) = zip(*rows, strict=True) if rows else ((),) * 14  # fmt: skip
    ordinals = np.array(ordinal, np.int64)
    cosines = _floats(cosine)
    return Candidates(
        ordinals=ordinals,
        utterance_ids=utterance_id,
        session_ids=session_id,
        positions=np.array(position, np.int64),
        speakers=speaker,
        texts=text,
        instants=_floats(instant),
        means=tuple(_meant(start or (), end or ()) for start, end in zip(starts, ends, strict=True)),
        cosine=cosines,
        context_cosine=_context(cosines, _floats(before_cosine), _floats(before_link)),
        text_score=_at(words.text, ordinals),
        window_score=_at(words.window, ordinals),
        session_score=_at(words.session, ordinals),
        reply_score=np.where(
            np.array(before_asks, bool),
            _at(words.text, np.array([-1 if one is None else one for one in before], np.int64)),
            0.0,
        ),
        before=np.stack([layout.beside(ordinals, -step) for step in range(1, CONTEXT + 1)], axis=1),
        found_by=tuple(frozenset(reasons[one]) for one in ordinal),
        words=words,
        total=total,
    )


def _meant(starts: Sequence[int], ends: Sequence[int]) -> tuple[tuple[float, float], ...]:
    """Intervals; one whose end lies at the edge of the calendar is open there."""
    return tuple(
        (
            -math.inf if start <= EARLIEST.timestamp() else float(start),
            math.inf if end >= LATEST.timestamp() else float(end),
        )
        for start, end in zip(starts, ends, strict=True)
    )


def _context(
    cosine: NDArray[np.float64], before: NDArray[np.float64], link: NDArray[np.float64]
) -> NDArray[np.float64]:
    """cos(q, e_i + 0.5 e_(i-1)) from three cosines, so that no vector has to travel."""
    joined = (cosine + 0.5 * before) / np.sqrt(1.25 + link)
    return np.where(np.isnan(joined), cosine, joined)


def _floats(values: Sequence[float | None]) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else value for value in values], np.float64)


def _at(scores: NDArray[np.float64], ordinals: NDArray[np.int64]) -> NDArray[np.float64]:
    """Scores of some ordinals; 0 where there is none."""
    known = (ordinals >= 0) & (ordinals < len(scores))
    return np.where(known, scores[np.where(known, ordinals, 0)] if len(scores) else 0.0, 0.0)
