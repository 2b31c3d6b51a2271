"""Clues → Neo4j: each once, merged by δ, linked to what is near, anchored; inside the caller's transaction."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from assomem.clues import STATEMENT_KINDS, may_merge, normalised
from assomem.dialogue import identity
from assomem.graph.nearest import Known, to_vector
from assomem.models.embedder import Embedder, usable
from assomem.store import Store, Transaction, load

MOST_SIMILAR = 10
"""At most so many SIMILAR links are laid from a new node (design decision: enough for walks, cheap to keep)."""

Source = Literal["words", "model", "given"]
"""Who anchored an utterance to a clue: the reading of words, a language model, or a file of ready-made clues."""


@dataclass(frozen=True, slots=True)
class NewClue:
    """A clue to be written, and the utterances it is anchored to."""

    kind: str
    text: str
    uid: str
    weight: float
    utterance_uids: list[str]
    source: Source


@dataclass(frozen=True, slots=True)
class ClueVectors:
    """The vectors of one clue."""

    vector: NDArray[np.float32]
    """(dimensions,)"""
    token_vectors: NDArray[np.int8] | None
    """(t, 128) of a clue that says something, as `UtteranceEmbedding.token_vectors`; None for names and topics."""


def new_clue(memory: str, kind: str, text: str, weight: float, anchors: list[str], source: Source) -> NewClue:
    """A clue with its uid."""
    return NewClue(kind, text, clue_uid(memory, kind, text), weight, anchors, source)


def clue_uid(memory: str, kind: str, text: str) -> str:
    """The uid of the clue of that kind and spelling."""
    return identity(memory, kind, normalised(text))


def clue_vectors(store: Store, memory: str, clues: Sequence[NewClue], embedder: Embedder) -> dict[str, ClueVectors]:
    """Vectors of the clues that are not stored yet, by uid."""
    uids = list({clue.uid for clue in clues})
    rows = store.read(load("graph/known_clues"), memory=memory, uids=uids)
    return embedded(clues, embedder, except_for={row["uid"] for row in rows if row["there"]})


def embedded(
    clues: Sequence[NewClue], embedder: Embedder, *, except_for: Collection[str] = ()
) -> dict[str, ClueVectors]:
    """Vectors of clues, by uid; a clue that has no usable one is left out."""
    found: dict[str, ClueVectors] = {}
    for clue in clues:
        if clue.uid in except_for or clue.uid in found:
            continue
        # One text a call: numbers may depend on what else is in the batch, which differs from import to import.
        row = embedder.embed_phrases([clue.text])[0]
        if usable(row, embedder.dimensions):
            states = clue.kind in STATEMENT_KINDS
            found[clue.uid] = ClueVectors(
                row, embedder.embed_utterances([clue.text])[0].token_vectors if states else None
            )
    return found


def write_clues(
    transaction: Transaction,
    memory: str,
    clues: Sequence[NewClue],
    vectors: Mapping[str, ClueVectors],
    embedder: Embedder,
    known: Known,
) -> set[str]:
    """Write clues and BELONGS, merging by δ; what a person merged lands where they merged it.

    Returns:
        The uids of the clues it touched; their support is yet to be counted.
    """
    wanted = sorted({clue.uid for clue in clues})
    found = {row["uid"]: row for row in transaction.run(load("graph/known_clues"), memory=memory, uids=wanted)}
    there = {str(row["clue_uid"]) for row in found.values() if row["there"]}
    merged: dict[str, str] = {}
    rows: list[dict[str, object]] = []
    similar: list[dict[str, object]] = []
    belongs: list[dict[str, object]] = []
    for clue in clues:
        uid = merged.get(clue.uid)
        if uid is None:
            row = found.get(clue.uid)
            uid, kind = (clue.uid, clue.kind) if row is None else (str(row["clue_uid"]), str(row["kind"]))
            found_vectors = None if uid in there else vectors.get(clue.uid)
            made = False
            if found_vectors is not None:
                vector = found_vectors.vector
                near = known.near_clues(transaction, memory, kind, vector, MOST_SIMILAR)
                same = [
                    other
                    for other, cosine in near
                    if cosine > embedder.delta and may_merge(kind, clue.text, known.clue_texts[other])
                ]
                # A person's word that two are one counts for more than a third that is near.
                if same and uid == clue.uid:
                    uid = same[0]
                else:
                    similar.extend(
                        {"from_uid": uid, "to_uid": other, "score": score}
                        for other, score in near
                        if score > embedder.gamma and other != uid
                    )
                    known.add_clue(kind, uid, clue.text, vector)
                    made = True
            there.add(uid)
            merged[clue.uid] = uid
            rows.append(
                {
                    "uid": uid,
                    "kind": kind,
                    "text": clue.text,
                    "vector": to_vector(found_vectors.vector) if found_vectors is not None and made else None,
                    "token_vectors": None
                    if found_vectors is None or found_vectors.token_vectors is None or not made
                    else found_vectors.token_vectors.tobytes(),
                }
            )
        belongs.extend(
            {"utterance_uid": anchor, "clue_uid": uid, "weight": clue.weight, "source": clue.source}
            for anchor in clue.utterance_uids
        )
    if rows:
        transaction.run(load("graph/write_clues"), memory=memory, rows=rows)
        transaction.run(load("graph/write_belongs"), memory=memory, rows=belongs)
        transaction.run(load("graph/write_similar_clues"), memory=memory, rows=similar)
    return set(merged.values())


def count_support(transaction: Transaction, memory: str, uids: Collection[str]) -> int:
    """Count the utterances of clues; how many had none left and were deleted."""
    if not uids:
        return 0
    counted = transaction.run(load("graph/count_support"), memory=memory, uids=sorted(uids))
    return int(counted[0]["deleted"]) if counted else 0
