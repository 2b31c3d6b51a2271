"""Sessions → Neo4j: utterances, clues and the links between them, idempotently and incrementally.

A batch of sessions is one transaction. Everything slow (embedding, extraction) happens before it, so that the
memory is locked for milliseconds only.
"""

import logging
import math
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Literal

import numpy as np
from neo4j import Record
from numpy.typing import NDArray

from assomem.clues import Clue, ReadyMadeClue, extract, normalised
from assomem.dialogue import CheckedSession, CheckedUtterance, conflict, identity
from assomem.errors import EmbedderMismatch, InputError
from assomem.graph.clues import MOST_SIMILAR, ClueVectors, NewClue, clue_vectors, count_support, new_clue, write_clues
from assomem.graph.nearest import Known, Neighbours, from_vector, to_vector
from assomem.graph.words import Place, add_words, move_places, set_places
from assomem.models.embedder import Embedder, UtteranceEmbedding, usable
from assomem.postings import UNDATED
from assomem.store import Store, Transaction, load
from assomem.terms import terms
from assomem.times import resolve

BATCH_UTTERANCES = 256
"""Sessions are stored together in one transaction up to about so many utterances."""

MOST_MEANT = 8
"""At most so many time intervals are kept of what an utterance talks about."""

EARLIEST = datetime(1, 1, 2, tzinfo=UTC)
LATEST = datetime(9999, 12, 30, tzinfo=UTC)
"""How an open end of an interval is stored."""

MARKED_FROM = 50
"""A write of so many utterances or more leaves a mark while it runs, by which `doctor` can tell that it was cut."""

_log = logging.getLogger(__name__)

Progress = Callable[[int], None]
"""Told how many more utterances are done."""


@dataclass
class Remembered:
    """What a call of `remember` or `append` did. What it counts is stored."""

    memory: str
    sessions: int = 0
    """Sessions given."""
    utterances: int = 0
    """Utterances given."""
    new: int = 0
    """Utterances that were not there before."""
    unchanged: int = 0
    """Utterances that were there already; they were left as they are."""
    clues: int = 0
    """Clues that the new utterances belong to, each once."""
    in_pieces: int = 0
    """New utterances longer than the embedder's window, embedded in pieces."""
    degraded: list[str] = field(default_factory=list[str])
    """What did not work as configured, in words."""
    milliseconds: dict[str, float] = field(default_factory=dict[str, float])
    """Time spent, by part, with `total`."""
    touched_clues: set[str] = field(default_factory=set[str], repr=False)
    """Uids of those clues."""


@dataclass(frozen=True)
class _NewUtterance:
    given: CheckedUtterance
    uid: str
    embedding: UtteranceEmbedding
    vector: NDArray[np.float32] | None
    terms: list[str]
    meant: list[tuple[datetime, datetime]]


@dataclass(frozen=True)
class _Part:
    """The new utterances of one session, and its clues."""

    session: CheckedSession
    new: list[_NewUtterance]
    clues: list[NewClue]
    clue_state: Literal["pending", "done"]
    clue_source: Literal["words", "given"]


def write(
    store: Store,
    memory: str,
    sessions: Sequence[CheckedSession],
    embedder: Embedder,
    neighbours: Neighbours,
    *,
    ready_made: Mapping[str, Sequence[ReadyMadeClue]] | None = None,
    awaits_model: bool = False,
    progress: Progress | None = None,
) -> Remembered:
    """Store sessions; what is there already stays as it is.

    Args:
        store: the database.
        memory: name of the memory; made on the first write.
        sessions: checked sessions.
        embedder: gives the vectors.
        neighbours: what this process knows of the memory's vectors.
        ready_made: clues by session id, used in place of extraction for those sessions.
        awaits_model: whether a language model is to read the sessions later; they are then noted as pending.
        progress: called after each batch.

    Raises:
        UtteranceConflict: an id is taken by another text; nothing was written.
        EmbedderMismatch: the memory was built with another embedder; nothing was written.
        StoreError: Neo4j refused; the batches reported to `progress` are stored, the others are not.
    """
    begun = time.perf_counter()
    given = ready_made or {}
    done = Remembered(memory, len(sessions), sum(len(session.utterances) for session in sessions))
    done.milliseconds = dict.fromkeys(("embed", "clues", "store"), 0.0)
    cut_short = check_embedder(store, memory, embedder)
    stored = _known_ids(store, memory, sessions)
    fresh = [(session, [one for one in session.utterances if one.utterance_id not in stored]) for session in sessions]
    done.unchanged = sum(len(session.utterances) - len(new) for session, new in fresh)
    if progress is not None and done.unchanged:
        progress(done.unchanged)
    changed = [(session, new) for session, new in fresh if new or _clues_missing(store, memory, session, given)]
    lost = _pointing_nowhere(sessions, given)
    if lost:
        done.degraded.append(
            f"{lost} ready-made clues name no session or no utterance of this import and were left out; check their "
            "session_id and utterance_ids"
        )
    long = sum(len(new) for _, new in changed) >= MARKED_FROM
    token = secrets.token_hex(8)
    ids = [session.session_id for session, _ in changed]
    if long:
        store.transaction(lambda transaction: _begin_import(transaction, memory, embedder, token, ids))
    for batch in _batches(changed):
        parts = _prepared_batch(memory, batch, embedder, given, done, awaits_model=awaits_model)
        _store_parts(store, memory, parts, embedder, neighbours, done)
        if progress is not None:
            progress(sum(len(new) for _, new in batch))
    if long or cut_short:
        # All that were given: what an earlier import had stored of them counts as well.
        given_ids = [session.session_id for session in sessions]
        store.write(load("graph/end_import"), memory=memory, token=token, session_ids=given_ids)
    return _finished(done, begun)


def append(
    store: Store,
    memory: str,
    session: CheckedSession,
    embedder: Embedder,
    neighbours: Neighbours,
    *,
    has_id: bool,
    awaits_model: bool = False,
) -> Remembered:
    """Add one utterance at the end of a session, which may be new.

    Args:
        store: the database.
        memory: name of the memory; made on the first write.
        session: a session of exactly this utterance.
        embedder: gives the vectors.
        neighbours: what this process knows of the memory's vectors.
        has_id: whether the caller gave the utterance's id. If not, it gets the next free `<session_id>:<position>`,
            found while the memory is locked, so that two writers never share one.
        awaits_model: as for `write`.

    Raises:
        UtteranceConflict: the given id is taken by another text; nothing was written.
        EmbedderMismatch: the memory was built with another embedder; nothing was written.
    """
    if has_id:
        return write(store, memory, [session], embedder, neighbours, awaits_model=awaits_model)
    begun = time.perf_counter()
    done = Remembered(memory, 1, 1, milliseconds=dict.fromkeys(("embed", "clues", "store"), 0.0))
    check_embedder(store, memory, embedder)
    batch = [(session, list(session.utterances))]
    parts = _prepared_batch(memory, batch, embedder, {}, done, awaits_model=awaits_model)
    _store_parts(store, memory, parts, embedder, neighbours, done, unnamed=True)
    return _finished(done, begun)


def _finished(done: Remembered, begun: float) -> Remembered:
    done.clues = len(done.touched_clues)
    done.milliseconds["total"] = (time.perf_counter() - begun) * 1000
    done.milliseconds = {part: round(value, 1) for part, value in done.milliseconds.items()}
    _log.info(
        "remember: %d sessions, %d utterances, %d new, %d clues, %.0f ms",
        done.sessions, done.utterances, done.new, done.clues, done.milliseconds["total"],
    )  # fmt: skip
    return done


def check_embedder(store: Store, memory: str, embedder: Embedder) -> bool:
    """Make sure that a memory, if it is there, was built with this embedder.

    Returns:
        Whether it holds the mark of an import that was cut short, or is under way.

    Raises:
        EmbedderMismatch: names both and the way out.
    """
    rows = store.read(load("memories/embedder"), memory=memory)
    for row in rows:
        compare_embedder(memory, row, embedder)
    return any(row["unfinished"] for row in rows)


def compare_embedder(memory: str, row: Record, embedder: Embedder) -> None:
    """Make sure that a row of a memory with `embedder` and `embedder_name` is of this embedder.

    Raises:
        EmbedderMismatch: names both and the way out.
    """
    if row["embedder"] != embedder.fingerprint:
        raise EmbedderMismatch(
            f"memory {memory!r} was built with the embedder {row['embedder_name']} ({row['embedder']}), this program "
            f"uses {embedder.name} ({embedder.fingerprint}): their vectors cannot be compared. Set ASSOMEM_EMBEDDER to "
            f"{row['embedder_name']}, or forget the memory and import it again with the new one. Nothing was changed"
        )


def _known_ids(store: Store, memory: str, sessions: Sequence[CheckedSession]) -> set[str]:
    """Ids that are stored already.

    Raises:
        UtteranceConflict: one is stored with another text or in another session.
    """
    given = {one.utterance_id: one for session in sessions for one in session.utterances}
    ids = list(given)
    known: set[str] = set()
    for start in range(0, len(ids), 2000):
        rows = store.read(load("graph/known_utterances"), memory=memory, utterance_ids=ids[start : start + 2000])
        known.update(_unchanged(rows, given))
    return known


def _unchanged(rows: Sequence[Record], given: Mapping[str, CheckedUtterance]) -> Iterator[str]:
    for row in rows:
        one = given[row["utterance_id"]]
        if row["text"] != one.text or row["session_id"] != one.session_id:
            raise conflict(one.utterance_id)
        yield one.utterance_id


def _pointing_nowhere(sessions: Sequence[CheckedSession], ready_made: Mapping[str, Sequence[ReadyMadeClue]]) -> int:
    """How many ready-made clues have no utterance among those given."""
    ids = {session.session_id: {one.utterance_id for one in session.utterances} for session in sessions}
    return sum(
        ids.get(session_id, set()).isdisjoint(clue.utterance_ids)
        for session_id, clues in ready_made.items()
        for clue in clues
    )


def _batches(
    changed: Sequence[tuple[CheckedSession, list[CheckedUtterance]]],
) -> Iterator[list[tuple[CheckedSession, list[CheckedUtterance]]]]:
    batch: list[tuple[CheckedSession, list[CheckedUtterance]]] = []
    for session, new in changed:
        batch.append((session, new))
        if sum(len(one) for _, one in batch) >= BATCH_UTTERANCES:
            yield batch
            batch = []
    if batch:
        yield batch


def _clues_missing(
    store: Store, memory: str, session: CheckedSession, ready_made: Mapping[str, Sequence[ReadyMadeClue]]
) -> bool:
    """Whether ready-made clues were given for a stored session that it does not have yet."""
    clues = ready_made.get(session.session_id)
    if not clues:
        return False
    there = {
        (row["utterance_id"], row["kind"], normalised(wording))
        for row in store.read(load("graph/anchored"), memory=memory, session_ids=[session.session_id])
        for wording in row["wordings"]
    }
    ids = {one.utterance_id for one in session.utterances}
    return any(
        (anchor, clue.kind, normalised(clue.text)) not in there
        for clue in clues
        for anchor in clue.utterance_ids
        if anchor in ids
    )


def _prepared_batch(
    memory: str,
    batch: Sequence[tuple[CheckedSession, list[CheckedUtterance]]],
    embedder: Embedder,
    ready_made: Mapping[str, Sequence[ReadyMadeClue]],
    done: Remembered,
    *,
    awaits_model: bool,
) -> list[_Part]:
    started = time.perf_counter()
    parts = [
        _prepared(memory, session, new, embedder, ready_made.get(session.session_id), done, awaits_model=awaits_model)
        for session, new in batch
    ]
    done.milliseconds["embed"] += (time.perf_counter() - started) * 1000
    return parts


def _store_parts(
    store: Store,
    memory: str,
    parts: Sequence[_Part],
    embedder: Embedder,
    neighbours: Neighbours,
    done: Remembered,
    *,
    unnamed: bool = False,
) -> None:
    started = time.perf_counter()
    vectors = clue_vectors(store, memory, [clue for part in parts for clue in part.clues], embedder)
    extracted = time.perf_counter()
    done.milliseconds["clues"] += (extracted - started) * 1000

    def work(transaction: Transaction) -> tuple[tuple[str, int], Known, int, set[str]]:
        return _in_transaction(transaction, memory, parts, vectors, embedder, neighbours, unnamed=unnamed)

    revision, known, new, clues = store.transaction(work)
    neighbours.give(memory, revision, known)
    done.new += new
    done.unchanged += sum(len(part.new) for part in parts) - new
    done.touched_clues |= clues
    done.milliseconds["store"] += (time.perf_counter() - extracted) * 1000


def _prepared(
    memory: str,
    session: CheckedSession,
    new: list[CheckedUtterance],
    embedder: Embedder,
    ready_made: Sequence[ReadyMadeClue] | None,
    done: Remembered,
    *,
    awaits_model: bool,
) -> _Part:
    """Embed the new utterances of a session and find its clues."""
    # One session a call: an embedder's numbers may depend a little on what else is in the batch, and the graph
    # must not depend on where an earlier import was cut.
    texts = [f"{one.speaker}: {one.text}" for one in new]
    embeddings = embedder.embed_utterances(texts) if texts else []
    utterances: list[_NewUtterance] = []
    for one, text, embedding in zip(new, texts, embeddings, strict=True):
        vector = embedding.vector if usable(embedding.vector, embedder.dimensions) else None
        if vector is None:
            done.degraded.append(
                f"utterance {one.utterance_id!r}: the embedder gave no usable vector; it is found by its words alone"
            )
        done.in_pieces += len(embedding.pieces) > 1
        meant = _meant(one)
        utterances.append(_NewUtterance(one, identity(memory, one.utterance_id), embedding, vector, terms(text), meant))
    clues = _clues(memory, session, new, ready_made)
    if ready_made is not None:
        return _Part(session, utterances, clues, "done", "given")
    return _Part(session, utterances, clues, "pending" if awaits_model else "done", "words")


def _meant(utterance: CheckedUtterance) -> list[tuple[datetime, datetime]]:
    """The intervals an utterance talks about, likeliest readings only; open ends reach to the edge of time."""
    if utterance.said_at is None:
        return []
    spans: set[tuple[int, int]] = set()
    meant: list[tuple[datetime, datetime]] = []
    for interval in resolve(utterance.text, utterance.said_at):
        if interval.span not in spans:
            spans.add(interval.span)
            meant.append(
                (
                    interval.start or EARLIEST,
                    interval.end or LATEST,
                )
            )
    return meant[:MOST_MEANT]


def _clues(
    memory: str,
    session: CheckedSession,
    new: Sequence[CheckedUtterance],
    ready_made: Sequence[ReadyMadeClue] | None,
) -> list[NewClue]:
    """Clues of a session that touch its new utterances; ready-made ones are taken whole."""
    uids = {one.utterance_id: identity(memory, one.utterance_id) for one in session.utterances}
    if ready_made is not None:
        return [
            new_clue(memory, clue.kind, clue.text, 1.0, anchors, "given")
            for clue in ready_made
            if (anchors := [uids[anchor] for anchor in clue.utterance_ids if anchor in uids])
        ]
    # Only the new utterances are read: a live chat that grows turn by turn must not pay for its past each time.
    grown = CheckedSession(session.session_id, session.title, session.started_at, tuple(new))
    found: list[Clue] = extract(grown) if new else []
    return [
        new_clue(
            memory,
            clue.kind,
            clue.text,
            clue.weight,
            [uids[new[anchor].utterance_id] for anchor in clue.anchors],
            "words",
        )
        for clue in found
    ]


def _in_transaction(
    transaction: Transaction,
    memory: str,
    parts: Sequence[_Part],
    vectors: Mapping[str, ClueVectors],
    embedder: Embedder,
    neighbours: Neighbours,
    *,
    unnamed: bool,
) -> tuple[tuple[str, int], Known, int, set[str]]:
    """Write one batch.

    Returns:
        The memory's key and revision, the vectors as of it, and how many utterances and clues are new.
    """
    state = _locked(transaction, memory, embedder)
    if unnamed:
        parts = [_named(transaction, memory, part) for part in parts]
    # Another writer may have stored some of them since they were looked up.
    given = {one.given.utterance_id: one.given for part in parts for one in part.new}
    rows = transaction.run(load("graph/known_utterances"), memory=memory, utterance_ids=list(given))
    late = set(_unchanged(rows, given))
    # A part that was all stored meanwhile brings no clues either; one without utterances was given for its clues.
    parts = [
        replace(part, new=left)
        for part in parts
        if (left := [one for one in part.new if one.given.utterance_id not in late]) or not part.new
    ]
    new = [one for part in parts for one in part.new]
    key, revision = str(state["key"]), int(state["revision"])
    known = neighbours.take(transaction, memory, (key, revision - 1), embedder.dimensions, state["next_ordinal"])
    next_session = _write_utterances(transaction, memory, parts, state, embedder.dimensions)
    given_clues = [clue for part in parts for clue in part.clues]
    clues = write_clues(transaction, memory, given_clues, vectors, embedder, known)
    count_support(transaction, memory, clues)
    _write_similar(transaction, memory, new, embedder.gamma, known)
    transaction.run(
        load("graph/count_in"),
        memory=memory,
        utterances=len(new),
        dated=sum(one.given.said_at is not None for one in new),
        assistant=sum(speaker_key(one.given.speaker) == "assistant" for one in new),
        next_ordinal=state["next_ordinal"] + len(new),
        next_session=next_session,
    )
    return (key, revision), known, len(new), clues


def _begin_import(
    transaction: Transaction, memory: str, embedder: Embedder, token: str, session_ids: list[str]
) -> None:
    # With the memory itself: `doctor` goes through memories, and must see a first import that was cut at once.
    _locked(transaction, memory, embedder)
    transaction.run(load("graph/begin_import"), memory=memory, token=token, session_ids=session_ids)


def _locked(transaction: Transaction, memory: str, embedder: Embedder) -> Record:
    """The state of a memory, made if it is new, that nobody else writes to until the transaction ends.

    Raises:
        EmbedderMismatch: it was built with another embedder.
        InputError: it is being forgotten.
    """
    # A memory that is there is locked at once: MERGE would share a lock first, and two writers who both wait to have it
    # alone would deadlock.
    states = transaction.run(load("graph/lock_memory"), memory=memory)
    if not states:
        transaction.run(
            load("graph/make_memory"),
            memory=memory,
            key=secrets.token_hex(6),
            embedder=embedder.fingerprint,
            embedder_name=embedder.name,
            dimensions=embedder.dimensions,
        )
        states = transaction.run(load("graph/lock_memory"), memory=memory)
    state = states[0]
    compare_embedder(memory, state, embedder)
    if state["forgetting"]:
        raise InputError(
            f"memory {memory!r} is being forgotten, and that was cut short or is still under way: what is stored now "
            "would go with it. Forget it again, then store; nothing was stored"
        )
    return state


def _named(transaction: Transaction, memory: str, part: _Part) -> _Part:
    """A part of one utterance with the next free id of its session."""
    session_id = part.session.session_id
    tails = transaction.run(
        load("graph/session_tails"),
        memory=memory,
        session_ids=[session_id],
        dimensions=len(part.new[0].embedding.vector),
    )
    position = 1 + (int(tails[0]["position"]) if tails else 0)
    while transaction.run(load("graph/known_utterances"), memory=memory, utterance_ids=[f"{session_id}:{position}"]):
        position += 1
    given = replace(part.new[0].given, utterance_id=f"{session_id}:{position}")
    uid = identity(memory, given.utterance_id)
    return replace(
        part,
        session=replace(part.session, utterances=(given,)),
        new=[replace(part.new[0], given=given, uid=uid)],
        clues=[replace(clue, utterance_uids=[uid]) for clue in part.clues],
    )


def speaker_key(speaker: str) -> str:
    """The spelling by which speakers are compared: case and outer blanks do not count."""
    return speaker.strip().casefold()


def _write_utterances(
    transaction: Transaction, memory: str, parts: Sequence[_Part], state: Record, dimensions: int
) -> int:
    """Write sessions, utterances, pieces, NEXT, posting lists and layout. Returns the next session number."""
    ids = [part.session.session_id for part in parts if part.new]
    tails = {
        row["session_id"]: row
        for row in transaction.run(load("graph/session_tails"), memory=memory, session_ids=ids, dimensions=dimensions)
    }
    ordinal, number = int(state["next_ordinal"]), int(state["next_session"])
    sessions: list[dict[str, object]] = []
    grown: list[dict[str, object]] = []
    rows: list[dict[str, object]] = []
    pieces: list[dict[str, object]] = []
    following: list[dict[str, object]] = []
    words: dict[int, Sequence[str]] = {}
    places: dict[int, Place] = {}
    inserted: list[tuple[CheckedSession, int]] = []
    for part in parts:
        session = part.session
        clues: dict[str, object] = {
            "session_id": session.session_id,
            "clue_state": part.clue_state,
            "clue_source": part.clue_source,
        }
        if not part.new:
            grown.append(clues)
            continue
        tail = tails.get(session.session_id)
        if tail is not None:
            grown.append(clues)
        else:
            sessions.append(
                clues
                | {
                    "uid": identity(memory, session.session_id),
                    "number": number,
                    "title": session.title,
                    "started_at": session.started_at,
                }
            )
        this_number = number if tail is None else int(tail["number"])
        number += tail is None
        position = 0 if tail is None else int(tail["position"])
        before = None if tail is None else (tail["uid"], _maybe(tail["embedding"]))
        if tail is not None and not _at_the_end(session, part.new):
            inserted.append((session, this_number))
        for one in part.new:
            position += 1
            said_at = one.given.said_at
            instant = int(UNDATED) if said_at is None else math.floor(said_at.timestamp())
            tokens = one.embedding.token_vectors
            rows.append(
                {
                    "uid": one.uid,
                    "utterance_id": one.given.utterance_id,
                    "session_id": session.session_id,
                    "ordinal": ordinal,
                    "position": position,
                    "speaker": one.given.speaker,
                    "speaker_key": speaker_key(one.given.speaker),
                    "text": one.given.text,
                    "asks": "?" in one.given.text,
                    "said_at": said_at,
                    "instant": instant,
                    "means_from": [start for start, _ in one.meant] or None,
                    "means_to": [end for _, end in one.meant] or None,
                    "vector": None if one.vector is None else to_vector(one.vector),
                    "token_vectors": None if tokens is None else tokens.tobytes(),
                    "piece_tokens": None if tokens is None else list(one.embedding.piece_tokens),
                }
            )
            if len(one.embedding.pieces) > 1:
                pieces.extend(
                    {"uid": f"{one.uid}:{index}", "utterance_uid": one.uid, "vector": to_vector(piece)}
                    for index, piece in enumerate(one.embedding.pieces)
                    if usable(piece, dimensions)
                )
            if before is not None:
                following.append({"from_uid": before[0], "to_uid": one.uid, "cosine": _cosine(before[1], one.vector)})
            before = (one.uid, one.vector)
            words[ordinal] = one.terms
            places[ordinal] = (this_number, position, len(one.terms), instant)
            ordinal += 1
    transaction.run(load("graph/write_sessions"), memory=memory, rows=sessions)
    transaction.run(load("graph/grow_sessions"), memory=memory, rows=grown)
    transaction.run(load("graph/write_utterances"), memory=memory, rows=rows)
    if pieces:
        transaction.run(load("graph/write_pieces"), memory=memory, rows=pieces)
    transaction.run(load("graph/write_next"), memory=memory, rows=following)
    add_words(transaction, memory, words)
    set_places(transaction, memory, dict(places))
    for session, _ in inserted:
        _reorder(transaction, memory, session, dimensions)
    return number


def _at_the_end(session: CheckedSession, new: Sequence[_NewUtterance]) -> bool:
    """Whether the new utterances are the last ones of the session as it was given."""
    last = [one.utterance_id for one in session.utterances[-len(new) :]]
    return last == [one.given.utterance_id for one in new]


def _reorder(transaction: Transaction, memory: str, session: CheckedSession, dimensions: int) -> None:
    """Put a session into the order it was given in; stored utterances that were not given keep their place."""
    stored = transaction.run(
        load("graph/session_order"), memory=memory, session_id=session.session_id, dimensions=dimensions
    )
    rank = {one.utterance_id: index for index, one in enumerate(session.utterances)}
    keyed: list[tuple[float, int, Record]] = []
    latest = -1.0
    for index, row in enumerate(stored):
        latest = float(rank.get(row["utterance_id"], latest))
        keyed.append((latest, index, row))
    keyed.sort(key=lambda one: one[:2])
    ordered = [row for _, _, row in keyed]
    transaction.run(load("graph/unlink_session"), memory=memory, session_id=session.session_id)
    transaction.run(
        load("graph/move_utterances"),
        memory=memory,
        rows=[{"uid": row["uid"], "position": position} for position, row in enumerate(ordered, start=1)],
    )
    transaction.run(load("graph/write_next"), memory=memory, rows=links(ordered))
    moved: dict[int, int] = {row["ordinal"]: position for position, row in enumerate(ordered, start=1)}
    move_places(transaction, memory, moved)


def links(ordered: Sequence[Record]) -> list[dict[str, object]]:
    """NEXT links between rows of uid and embedding, in their order."""
    return [
        {
            "from_uid": one["uid"],
            "to_uid": other["uid"],
            "cosine": _cosine(_maybe(one["embedding"]), _maybe(other["embedding"])),
        }
        for one, other in pairwise(ordered)
    ]


def _write_similar(
    transaction: Transaction, memory: str, new: Sequence[_NewUtterance], gamma: float, known: Known
) -> None:
    rows: list[dict[str, object]] = []
    for one in new:
        if one.vector is None:
            continue
        near = known.near_utterances(transaction, memory, one.vector, MOST_SIMILAR)
        rows.extend({"from_uid": one.uid, "to_uid": other, "score": score} for other, score in near if score > gamma)
        known.utterances.add(one.uid, one.vector)
    transaction.run(load("graph/write_similar_utterances"), memory=memory, rows=rows)


def _maybe(vector: object) -> NDArray[np.float32] | None:
    return None if vector is None else from_vector(vector)  # pyright: ignore[reportArgumentType]


def _cosine(one: NDArray[np.float32] | None, other: NDArray[np.float32] | None) -> float | None:
    if one is None or other is None:
        return None
    return round(float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other))), 6)
