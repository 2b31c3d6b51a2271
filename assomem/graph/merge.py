"""A person repairs the graph: two clues are one, and stay one whatever is written later."""

from neo4j import Record

from assomem.clues import KINDS
from assomem.errors import InputError
from assomem.graph.clues import clue_uid, count_support
from assomem.graph.nearest import Neighbours
from assomem.store import Store, Transaction, load

_MERGED = "nothing was merged; assomem clues --json lists the clues there are, each with its uid"


def merge_clues(store: Store, memory: str, clue: str, other: str, neighbours: Neighbours) -> str:
    """Merge the clue `other` into `clue`: utterances, wordings, support. What is written for `other` lands there then.

    A clue is named by its uid, by kind and text (`person:Mira`), or by its text alone where only one kind has it; the
    text may be any of its wordings. Merging what is one already changes nothing.

    Returns:
        The uid of the clue that stays.

    Raises:
        InputError: there is no such clue, or several; says which of the two names it is. Nothing was changed.
    """

    def work(transaction: Transaction) -> str:
        # Locked first: no write may bring back what goes.
        transaction.run(load("graph/lock_memory"), memory=memory)
        stays, goes = (_found(transaction, memory, name, which) for name, which in ((clue, "first"), (other, "second")))
        if stays["uid"] == goes["uid"]:
            return str(stays["uid"])
        wordings = list(dict.fromkeys([*stays["wordings"], *goes["wordings"]]))
        transaction.run(
            load("graph/merge_clues"), memory=memory, uid=stays["uid"], merged=goes["uid"], wordings=wordings
        )
        spellings = {goes["uid"], *(clue_uid(memory, goes["kind"], wording) for wording in goes["wordings"])}
        transaction.run(
            load("graph/write_aliases"),
            memory=memory,
            merged=goes["uid"],
            clue_uid=stays["uid"],
            clue_kind=stays["kind"],
            rows=[{"uid": uid, "kind": goes["kind"]} for uid in sorted(spellings - {stays["uid"]})],
        )
        count_support(transaction, memory, {stays["uid"]})
        return str(stays["uid"])

    uid = store.transaction(work)
    neighbours.drop(memory)
    return uid


def _found(transaction: Transaction, memory: str, name: str, which: str) -> Record:
    """The one clue of a name."""
    head, colon, tail = name.partition(":")
    kind, text = head.strip().lower(), tail.strip()
    uids = [name, *(clue_uid(memory, one, name) for one in KINDS), *([clue_uid(memory, kind, text)] if colon else [])]
    found = transaction.run(load("graph/find_clue"), memory=memory, uids=uids)
    if not found and colon:
        found = transaction.run(load("graph/find_wording"), memory=memory, kinds=[kind], text=text)
    found = found or transaction.run(load("graph/find_wording"), memory=memory, kinds=list(KINDS), text=name.strip())
    if not found:
        raise InputError(
            f"clues merge: the {which} name is no clue of memory {memory!r}. A clue is named by its uid, or by kind "
            f"and text, such as person:Mira (kinds: {', '.join(KINDS)}); {_MERGED}"
        )
    if len(found) > 1:
        kinds = ", ".join(f"{row['kind']} {row['uid']}" for row in found)
        raise InputError(
            f"clues merge: the {which} name is that of {len(found)} clues ({kinds}); say the uid, or the kind before "
            f"the text, such as person:Mira; {_MERGED}"
        )
    return found[0]
