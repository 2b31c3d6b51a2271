"""Nearest neighbours while writing: which stored utterances and clues are close to a new one.

Exact, over the memory's vectors kept in this process from one write to the next; above `EXACT_LIMIT` nodes the
vector index answers instead, approximately, since holding and scanning them all would cost more than the rest of
the write.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import numpy as np
from neo4j.vector import Vector
from numpy.typing import NDArray

from assomem.store import Transaction, load

EXACT_LIMIT = 50_000
"""Nodes of one kind in a memory up to which every vector is compared (75 MB at 384 dimensions)."""

KEPT_MEMORIES = 4

Search = Callable[[NDArray[np.float32], int], list[tuple[str, float]]]
"""Finds nodes in the database: (vector, limit) → uids and cosines."""


def to_vector(values: NDArray[np.float32]) -> Vector:
    """The form in which Neo4j takes a vector fastest."""
    return Vector(values.astype(">f4").tobytes(), "f32", byteorder="big")


def from_vector(value: Vector) -> NDArray[np.float32]:
    """The numbers of a vector that Neo4j gave."""
    return np.frombuffer(value.raw(), ">f4").astype(np.float32)


class Vectors:
    """Unit vectors of nodes, in the order they were added."""

    def __init__(self, dimensions: int) -> None:
        """Begin empty."""
        self._uids: list[str] = []
        self._rows = np.zeros((256, dimensions), np.float32)

    def __len__(self) -> int:
        return len(self._uids)

    def add(self, uid: str, vector: NDArray[np.float32]) -> None:
        """Append one node."""
        if len(self._uids) == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._rows[len(self._uids)] = vector
        self._uids.append(uid)

    def remove(self, uids: Collection[str]) -> None:
        """Take nodes out."""
        kept = [index for index, uid in enumerate(self._uids) if uid not in uids]
        rows = self._rows[kept]
        self._rows[: len(kept)] = rows
        self._uids = [self._uids[index] for index in kept]

    def nearest(self, vector: NDArray[np.float32], limit: int) -> list[tuple[str, float]]:
        """At most `limit` uids with their cosines (rounded to 6 digits), nearest first, ties by uid."""
        if not self._uids:
            return []
        cosines = self._rows[: len(self._uids)] @ vector
        best = np.argpartition(-cosines, limit)[:limit] if limit < len(cosines) else np.arange(len(cosines))
        # Rounded, so that the graph does not depend on the last bit of a sum.
        found = [(self._uids[index], round(float(cosines[index]), 6)) for index in best]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))


@dataclass
class Known:
    """The vectors of one memory as of one revision."""

    dimensions: int
    utterances: Vectors
    clues: dict[str, Vectors] = field(default_factory=dict[str, Vectors])
    clue_texts: dict[str, str] = field(default_factory=dict[str, str])
    large: bool = False
    """Whether the database holds nodes that are not here."""

    def near_utterances(
        self, transaction: Transaction, memory: str, vector: NDArray[np.float32], limit: int
    ) -> list[tuple[str, float]]:
        """The stored utterances nearest to a vector, nearest first."""
        found = self.utterances.nearest(vector, limit)
        if self.large:
            rows = transaction.run(
                load("graph/nearest_utterances"), memory=memory, vector=to_vector(vector), limit=4 * limit
            )
            found = _joined(found, [(row["uid"], row["cosine"]) for row in rows], limit)
        return found

    def near_clues(
        self, transaction: Transaction, memory: str, kind: str, vector: NDArray[np.float32], limit: int
    ) -> list[tuple[str, float]]:
        """The stored clues of a kind nearest to a vector, nearest first."""
        there = self.clues.get(kind)
        found = there.nearest(vector, limit) if there is not None else []
        if self.large:
            rows = transaction.run(
                load("graph/nearest_clues"),
                memory=memory,
                kind=kind,
                vector=to_vector(vector),
                limit=4 * limit,
            )
            self.clue_texts.update((row["uid"], row["text"]) for row in rows)
            found = _joined(found, [(row["uid"], row["cosine"]) for row in rows], limit)
        return found

    def add_clue(self, kind: str, uid: str, text: str, vector: NDArray[np.float32]) -> None:
        """Append one clue."""
        self.clue_texts[uid] = text
        self.clues.setdefault(kind, Vectors(self.dimensions)).add(uid, vector)

    def remove_clues(self, uids: Collection[str]) -> None:
        """Take clues out that were deleted."""
        if uids:
            for vectors in self.clues.values():
                vectors.remove(uids)


class Neighbours:
    """What this process knows of the memories it writes to; safe to share between threads."""

    def __init__(self) -> None:
        """Begin knowing nothing."""
        self._known: OrderedDict[str, tuple[tuple[str, int], Known]] = OrderedDict()
        self._lock = threading.Lock()

    def take(
        self, transaction: Transaction, memory: str, revision: tuple[str, int], dimensions: int, utterances: int
    ) -> Known:
        """The vectors of a memory at a revision (its key and number), from this process or else from the database.

        They are taken out: a transaction that fails leaves nothing behind, one that succeeds gives them back.
        """
        with self._lock:
            kept = self._known.pop(memory, None)
        if kept is not None and kept[0] == revision:
            return kept[1]
        known = Known(dimensions, Vectors(dimensions), large=utterances > EXACT_LIMIT)
        if not known.large and utterances:
            rows = transaction.run(load("graph/utterance_vectors"), memory=memory, dimensions=dimensions, **{"from": 0})
            for row in rows:
                known.utterances.add(row["uid"], from_vector(row["embedding"]))
        if not known.large:
            for row in transaction.run(load("graph/clue_vectors"), memory=memory, dimensions=dimensions):
                known.add_clue(row["kind"], row["uid"], row["text"], from_vector(row["embedding"]))
        return known

    def give(self, memory: str, revision: tuple[str, int], known: Known) -> None:
        """Keep the vectors of a memory as of a revision for the next write."""
        with self._lock:
            self._known[memory] = (revision, known)
            self._known.move_to_end(memory)
            while len(self._known) > KEPT_MEMORIES:
                self._known.popitem(last=False)

    def drop(self, memory: str) -> None:
        """Forget what is known of a memory."""
        with self._lock:
            self._known.pop(memory, None)


def _joined(one: list[tuple[str, float]], other: list[tuple[str, float]], limit: int) -> list[tuple[str, float]]:
    best = {uid: round(cosine, 6) for uid, cosine in other} | dict(one)
    return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]
