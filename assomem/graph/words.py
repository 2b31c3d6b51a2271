"""Posting lists and layout of a memory, kept in step with its utterances, inside the same transaction."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from assomem.postings import (
    GONE,
    LAYOUT_CHUNK,
    POSTINGS_CHUNK,
    drop_postings,
    move_in_places,
    pack_places,
    pack_postings,
    place_bytes,
)
from assomem.store import Transaction, load

Place = tuple[int, int, int, int]
"""Session number, position in the session, number of terms, instant in seconds."""


def add_words(transaction: Transaction, memory: str, terms: Mapping[int, Sequence[str]]) -> None:
    """Add utterances to the posting lists: ordinal → its terms. Ordinals must be new, in ascending order."""
    chunks: dict[int, dict[str, list[tuple[int, int]]]] = defaultdict(lambda: defaultdict(list))
    for ordinal, found in terms.items():
        for term, count in Counter(found).items():
            chunks[ordinal // POSTINGS_CHUNK][term].append((ordinal, count))
    for chunk, lists in chunks.items():
        stored = _stored(transaction, memory, chunk, sorted(lists))
        rows = [
            {
                "term": term,
                "chunk": chunk,
                "entries": stored.get(term, b"") + pack_postings(*zip(*entries, strict=True)),
            }
            for term, entries in sorted(lists.items())
        ]
        transaction.run(load("graph/write_postings"), memory=memory, rows=rows)


def remove_words(transaction: Transaction, memory: str, terms: Mapping[int, Sequence[str]]) -> None:
    """Take utterances out of the posting lists: ordinal → its terms."""
    chunks: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for ordinal, found in terms.items():
        for term in set(found):
            chunks[ordinal // POSTINGS_CHUNK][term].append(ordinal)
    for chunk, lists in chunks.items():
        stored = _stored(transaction, memory, chunk, sorted(lists))
        rows = [
            {"term": term, "chunk": chunk, "entries": drop_postings(entries, lists[term]) or None}
            for term, entries in sorted(stored.items())
        ]
        transaction.run(load("graph/write_postings"), memory=memory, rows=rows)


def set_places(transaction: Transaction, memory: str, places: Mapping[int, Place | None]) -> None:
    """Write where utterances stand: ordinal → its place, or None once it is forgotten."""
    by_chunk: dict[int, dict[int, Place]] = defaultdict(dict)
    for ordinal, place in places.items():
        by_chunk[ordinal // LAYOUT_CHUNK][ordinal % LAYOUT_CHUNK] = place or (GONE, 0, 0, 0)
    size = place_bytes()
    rows: list[dict[str, object]] = []
    for chunk, inside in by_chunk.items():
        found = transaction.run(load("graph/read_layout_chunk"), memory=memory, chunk=chunk)
        stored = bytearray(found[0]["places"] if found else b"")
        for offset, place in sorted(inside.items()):
            # A gap cannot occur, but would have to read as forgotten.
            while len(stored) < offset * size:
                stored += pack_places([(GONE, 0, 0, 0)])
            stored[offset * size : (offset + 1) * size] = pack_places([place])
        rows.append({"chunk": chunk, "places": bytes(stored)})
    if rows:
        transaction.run(load("graph/write_layout"), memory=memory, rows=rows)


def move_places(transaction: Transaction, memory: str, positions: Mapping[int, int]) -> None:
    """Give utterances another position in their session: ordinal → position."""
    by_chunk: dict[int, dict[int, int]] = defaultdict(dict)
    for ordinal, position in positions.items():
        by_chunk[ordinal // LAYOUT_CHUNK][ordinal % LAYOUT_CHUNK] = position
    for chunk, inside in by_chunk.items():
        found = transaction.run(load("graph/read_layout_chunk"), memory=memory, chunk=chunk)
        rows = [{"chunk": chunk, "places": move_in_places(found[0]["places"], inside)}]
        transaction.run(load("graph/write_layout"), memory=memory, rows=rows)


def _stored(transaction: Transaction, memory: str, chunk: int, terms: list[str]) -> dict[str, bytes]:
    rows = transaction.run(load("graph/read_posting_chunk"), memory=memory, terms=terms, chunk=chunk)
    return {row["term"]: row["entries"] for row in rows}
