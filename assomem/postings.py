"""Full text of one memory: which utterance holds which term how often, and BM25 over it.

Neo4j's own full-text index scores with document frequencies of the whole database, so one memory's ranking would
depend on another's texts. These lists are kept per memory and term, as bytes, and give exact scores of the memory's
own: of an utterance, of the window around it, and of its session, from one look-up.

Each utterance has an ordinal in its memory, given once and never again. A `Layout` says for each ordinal where it
stands and how long it is; a posting list names the ordinals that hold a term.

BM25: Robertson & Zaragoza, The Probabilistic Relevance Framework, 2009, with k1 = 1.2, b = 0.75 and
idf = ln(1 + (N - n + 0.5) / (n + 0.5)).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

K1 = 1.2
B = 0.75
WINDOW_TERMS = 60
"""A window holds the utterance's own terms and the nearest ones of its neighbours, up to so many."""
WINDOW_REACH = 6
"""... of at most so many utterances on either side."""

POSTINGS_CHUNK = 16_384
"""Ordinals in one posting list: an append rewrites the last chunk of each of its terms only."""
LAYOUT_CHUNK = 4_096
"""Ordinals in one stored piece of the layout."""

GONE = 0xFFFFFFFF
"""Session number of an ordinal whose utterance was forgotten."""
UNDATED = np.iinfo(np.int64).min
"""Instant of an utterance without a time: before every limit, so that only a lower limit leaves it out."""

_ENTRY = np.dtype([("ordinal", "<u4"), ("count", "u1")])
_PLACE = np.dtype([("session", "<u4"), ("position", "<u4"), ("length", "<u2"), ("instant", "<i8")])


def pack_postings(ordinals: Sequence[int], counts: Sequence[int]) -> bytes:
    """A posting list as bytes; counts above 255 are stored as 255."""
    entries = np.empty(len(ordinals), _ENTRY)
    entries["ordinal"] = ordinals
    entries["count"] = np.minimum(counts, 255)
    return entries.tobytes()


def unpack_postings(packed: bytes) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Ordinals and counts of a posting list, in the order they were written."""
    entries = np.frombuffer(packed, _ENTRY)
    return entries["ordinal"].astype(np.int64), entries["count"].astype(np.float64)


def drop_postings(packed: bytes, ordinals: Sequence[int]) -> bytes:
    """The posting list without the entries of some ordinals."""
    entries = np.frombuffer(packed, _ENTRY)
    return entries[~np.isin(entries["ordinal"], np.asarray(ordinals, np.uint32))].tobytes()


def pack_places(places: Sequence[tuple[int, int, int, int]]) -> bytes:
    """Places of consecutive ordinals as bytes: (session number, position, number of terms, instant in seconds)."""
    return np.array([(s, p, min(length, 65_535), at) for s, p, length, at in places], _PLACE).tobytes()


def move_in_places(places: bytes, positions: Mapping[int, int]) -> bytes:
    """The same places, some with another position in their session: index in `places` → position."""
    moved = np.frombuffer(places, _PLACE).copy()
    for index, position in positions.items():
        moved[index]["position"] = position
    return moved.tobytes()


def place_bytes() -> int:
    """Bytes that one place takes."""
    return _PLACE.itemsize


@dataclass(frozen=True)
class Layout:
    """Where every utterance of one memory stands. All arrays are indexed by ordinal."""

    session: NDArray[np.int64]
    position: NDArray[np.int64]
    length: NDArray[np.float64]
    instant: NDArray[np.int64]

    @classmethod
    def unpack(cls, chunks: Sequence[bytes]) -> "Layout":
        """From the stored pieces, in order; empty for a memory without utterances."""
        places = np.frombuffer(b"".join(chunks), _PLACE)
        return cls(
            places["session"].astype(np.int64),
            places["position"].astype(np.int64),
            places["length"].astype(np.float64),
            places["instant"].astype(np.int64),
        )

    @cached_property
    def live(self) -> NDArray[np.bool_]:
        """Which ordinals stand for an utterance that is still there."""
        return self.session != GONE

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """Live ordinals by session number, then position: neighbours in a session are neighbours here."""
        ordinals = np.flatnonzero(self.live)
        return ordinals[np.lexsort((self.position[ordinals], self.session[ordinals]))]

    @cached_property
    def _place(self) -> NDArray[np.int64]:
        """The place of every ordinal in `order`; -1 for one that is gone."""
        places = np.full(len(self.session), -1, np.int64)
        places[self.order] = np.arange(len(self.order))
        return places

    def beside(self, ordinals: NDArray[np.int64], step: int) -> NDArray[np.int64]:
        """For each ordinal the one that stands `step` places after it in its session (before it, if negative).

        -1 where the session ends before, and for ordinals that are gone or beyond the layout.
        """
        found = np.full(len(ordinals), -1, np.int64)
        known = np.flatnonzero((ordinals >= 0) & (ordinals < len(self.session)))
        known = known[self._place[ordinals[known]] >= 0]
        there = self._place[ordinals[known]] + step
        inside = (there >= 0) & (there < len(self.order))
        known, neighbour = known[inside], self.order[there[inside]]
        same = self.session[neighbour] == self.session[ordinals[known]]
        found[known[same]] = neighbour[same]
        return found

    @cached_property
    def window(self) -> "Window":
        """Which share of each neighbour's terms lies in an utterance's window."""
        return Window.around(self.session[self.order], self.length[self.order])


@dataclass(frozen=True)
class Window:
    """Windows around utterances in `Layout.order`.

    `shares[d][i]` is the part (0..1) of the terms of the utterance d places from i, d = -REACH..REACH without 0,
    that lies in i's window; 0 across sessions. `length` is the window's number of terms.
    """

    shares: Mapping[int, NDArray[np.float64]]
    length: NDArray[np.float64]

    @classmethod
    def around(cls, session: NDArray[np.int64], length: NDArray[np.float64]) -> "Window":
        """Fill each window up to WINDOW_TERMS: own terms, then the nearest of both sides, alternately.

        An utterance that is long by itself gets no context. In each step the earlier side takes half of the room.
        """
        size = len(length)
        room = np.maximum(WINDOW_TERMS - length, 0.0)
        shares: dict[int, NDArray[np.float64]] = {}
        for reach in range(1, WINDOW_REACH + 1):
            for step, part in ((-reach, 0.5), (reach, 1.0)):
                taken = np.zeros(size)
                here, there = (slice(reach, None), slice(None, -reach))
                if step > 0:
                    here, there = there, here
                if reach < size:
                    near = np.where(session[here] == session[there], length[there], 0.0)
                    taken[here] = np.minimum(near, np.ceil(room[here] * part))
                neighbour = np.zeros(size)
                if reach < size:
                    neighbour[here] = length[there]
                shares[step] = np.divide(taken, neighbour, out=np.zeros(size), where=neighbour > 0)
                room = room - taken
        return cls(shares, np.maximum(length, WINDOW_TERMS - room))


@dataclass(frozen=True)
class WordScores:
    """BM25 of a question against one memory, by ordinal; 0 where no term is shared."""

    text: NDArray[np.float64]
    window: NDArray[np.float64]
    session: NDArray[np.float64]
    counts: Mapping[str, NDArray[np.float64]]
    """How often each of the question's terms occurs in each utterance."""
    document_frequency: Mapping[str, int]
    """How many utterances hold each of the question's terms."""


def score_words(layout: Layout, postings: Mapping[str, Sequence[bytes]]) -> WordScores:
    """Score every utterance of a memory against the terms of a question.

    Args:
        layout: the memory's layout.
        postings: for each distinct term of the question its posting lists; a missing one counts as empty.
    """
    size = len(layout.session)
    text, window, session = np.zeros(size), np.zeros(size), np.zeros(size)
    frequency: dict[str, int] = {}
    occurrences: dict[str, NDArray[np.float64]] = {}
    order = layout.order
    if not len(order):
        return WordScores(text, window, session, {}, dict.fromkeys(postings, 0))
    mean_length = max(layout.length[order].mean(), 1.0)
    windows = layout.window
    mean_window = max(windows.length.mean(), 1.0)
    numbers, session_of = np.unique(layout.session[order], return_inverse=True)
    session_length = np.bincount(session_of, layout.length[order]).astype(np.float64)
    mean_session = max(session_length.mean(), 1.0)
    ranked_window, ranked_session = np.zeros(len(order)), np.zeros(len(numbers))
    for term, lists in postings.items():
        counts = np.zeros(size)
        for packed in lists:
            ordinals, found = unpack_postings(packed)
            known = ordinals < size  # a list may already hold an utterance that is newer than the layout
            counts[ordinals[known]] = found[known]
        counts[~layout.live] = 0.0
        holding = counts > 0
        frequency[term] = int(holding.sum())
        if not frequency[term]:
            continue
        occurrences[term] = counts
        text += _bm25(counts, layout.length, mean_length, frequency[term], len(order))
        in_order = counts[order]
        around = in_order.copy()
        for step, share in windows.shares.items():
            around += share * _shifted(in_order, step)
        ranked_window += _bm25(around, windows.length, mean_window, int((around > 0).sum()), len(order))
        spoken = np.bincount(session_of, in_order).astype(np.float64)
        ranked_session += _bm25(spoken, session_length, mean_session, int((spoken > 0).sum()), len(numbers))
    window[order] = ranked_window
    session[order] = ranked_session[session_of]
    return WordScores(text, window, session, occurrences, frequency)


def _bm25(
    counts: NDArray[np.float64], length: NDArray[np.float64], mean_length: float, holding: int, total: int
) -> NDArray[np.float64]:
    idf = np.log(1 + (total - holding + 0.5) / (holding + 0.5))
    return idf * counts * (K1 + 1) / (counts + K1 * (1 - B + B * length / mean_length))


def _shifted(values: NDArray[np.float64], step: int) -> NDArray[np.float64]:
    """`result[i] = values[i + step]`, 0 beyond the ends."""
    result = np.zeros_like(values)
    if abs(step) >= len(values):
        return result
    if step > 0:
        result[:-step] = values[step:]
    else:
        result[-step:] = values[:step]
    return result
