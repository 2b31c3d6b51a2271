"""Taking things out of a memory, with everything that hangs on them."""

from collections.abc import Sequence
from dataclasses import dataclass

from neo4j import Record

from assomem.dialogue import identity
from assomem.graph.clues import clue_uid, count_support
from assomem.graph.nearest import Neighbours
from assomem.graph.words import remove_words, set_places
from assomem.graph.write import links
from assomem.store import Store, Transaction, load
from assomem.terms import terms

BATCH_NODES = 5_000
"""Nodes deleted in one transaction when a whole memory goes: bounded, whatever its size."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What a call of `forget` deleted."""

    memory: str
    utterances: int
    clues: int
    """Clues that nothing supports any more."""
    degraded: tuple[str, ...] = ()
    """What could not be deleted, in words."""


def forget_utterances(store: Store, memory: str, uids: Sequence[str], neighbours: Neighbours) -> Forgotten:
    """Delete utterances: text, vectors and links; join NEXT, lower supports, drop what stands alone now.

    One transaction: all of them go, or none. Unknown ones count 0.
    """
    if not uids:
        return Forgotten(memory, 0, 0)

    def work(transaction: Transaction) -> Forgotten:
        states = transaction.run(load("forget/lock_memory"), memory=memory)
        rows = transaction.run(load("forget/utterances"), memory=memory, uids=list(uids))
        if not rows or not states:
            return Forgotten(memory, 0, 0)
        remove_words(transaction, memory, {row["ordinal"]: terms(f"{row['speaker']}: {row['text']}") for row in rows})
        set_places(transaction, memory, dict.fromkeys((row["ordinal"] for row in rows), None))
        transaction.run(load("forget/delete_utterances"), memory=memory, uids=[row["uid"] for row in rows])
        for session_id in sorted({row["session_id"] for row in rows}):
            _mend_session(transaction, memory, session_id, states[0])
        clue_uids = sorted({uid for row in rows for uid in row["clue_uids"]})
        forgotten = {term for row in rows for term in terms(f"{row['speaker']}: {row['text']}")}
        _clear_wordings(transaction, memory, clue_uids, forgotten)
        deleted = count_support(transaction, memory, clue_uids)
        _clear_aliases(transaction, memory, clue_uids)
        transaction.run(
            load("graph/count_in"),
            memory=memory,
            utterances=-len(rows),
            dated=-sum(row["dated"] for row in rows),
            assistant=-sum(row["speaker_key"] == "assistant" for row in rows),
            next_ordinal=states[0]["next_ordinal"],
            next_session=states[0]["next_session"],
        )
        return Forgotten(memory, len(rows), deleted)

    done = store.transaction(work)
    neighbours.drop(memory)
    return done


def session_uids(store: Store, memory: str, session_id: str) -> list[str]:
    """Uids of the utterances of a session; empty when there is no such session."""
    rows = store.read(load("memories/show_session"), memory=memory, session_id=session_id)
    return [identity(memory, row["utterance_id"]) for row in rows]


def forget_memory(store: Store, memory: str, neighbours: Neighbours) -> Forgotten:
    """Delete a whole memory, in bounded transactions. Cut short, a repeat goes on; meanwhile nothing is found."""
    rows = store.write(load("forget/begin_all"), memory=memory)
    if not rows:
        return Forgotten(memory, 0, 0)
    clues = store.read(load("forget/count_clues"), memory=memory)[0]["clues"]
    while store.write(load("forget/some_nodes"), memory=memory, limit=BATCH_NODES)[0]["deleted"]:
        pass
    store.write(load("forget/end_all"), memory=memory)
    neighbours.drop(memory)
    return Forgotten(memory, rows[0]["utterances"], clues)


def _clear_wordings(transaction: Transaction, memory: str, uids: Sequence[str], forgotten: set[str]) -> None:
    """Take out of clues what only forgotten utterances said.

    A topic is made of phrases of several turns, and merged clues keep each other's wordings: a wording goes when it
    holds a forgotten term that nothing which still belongs to the clue says. A clue without any left is detached, to
    be deleted.
    """
    changed: list[dict[str, object]] = []
    for row in transaction.run(load("forget/wordings"), memory=memory, uids=list(uids)):
        said = {term for text in row["texts"] for term in terms(text)}
        only_forgotten = forgotten - said
        left = [wording for wording in row["wordings"] if only_forgotten.isdisjoint(terms(wording))]
        if left != row["wordings"]:
            text = row["text"] if row["text"] in left else (left[0] if left else None)
            changed.append({"uid": row["uid"], "text": text, "wordings": left})
    transaction.run(load("forget/set_wordings"), memory=memory, rows=changed)


def _clear_aliases(transaction: Transaction, memory: str, uids: Sequence[str]) -> None:
    """Take away what stands for spellings that only forgotten utterances had: even a hash can be guessed at."""
    left = [
        row["uid"]
        for row in transaction.run(load("forget/aliases"), memory=memory, uids=list(uids))
        if row["uid"] not in {clue_uid(memory, row["kind"], wording) for wording in row["wordings"]}
    ]
    if left:
        transaction.run(load("forget/drop_aliases"), memory=memory, uids=left)


def _mend_session(transaction: Transaction, memory: str, session_id: str, state: Record) -> None:
    """Join what is left of a session, or delete it when nothing is."""
    left = transaction.run(
        load("graph/session_order"), memory=memory, session_id=session_id, dimensions=state["dimensions"]
    )
    if left:
        transaction.run(load("graph/write_next"), memory=memory, rows=links(left))
    else:
        transaction.run(load("forget/delete_session"), memory=memory, session_id=session_id)
