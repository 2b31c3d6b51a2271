"""What is wrong with a database and its memories. Reads only."""

from dataclasses import dataclass

from assomem.store import Store, gds_version, load, names, server_version

REPAIRED_BY_REPEAT = frozenset({"unfinished_import", "unfinished_forgetting"})
"""Checks whose problem goes away when the user repeats what was cut short."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One check that failed."""

    check: str
    """Name of the check: a file under `cypher/invariants/`, or `gds`."""
    count: int
    """How many things are wrong."""
    says: str
    """What is wrong, where, and what to do."""
    repairable: bool
    """Whether repeating the operation that was cut short repairs it."""


def check(store: Store) -> list[Problem]:
    """Every problem of every memory; empty when all is well. Memories by name, checks by name."""
    problems: list[Problem] = []
    if gds_version(store) is None:
        problems.append(
            Problem(
                "gds",
                1,
                f"Neo4j {server_version(store)} has no Graph Data Science plugin. Needed is the GDS release for that "
                "server, for Neo4j 2026.01 GDS 2.26; until then PageRank runs in this program, slower on large graphs",
                repairable=False,
            )
        )
    for row in store.read(load("memories/list")):
        memory = row["memory"]
        for name in names("invariants"):
            query = load(name)
            found = store.read(query, memory=memory)
            count = found[0]["count"] if found else 0
            if count:
                check_name = name.rsplit("/", 1)[1]
                problems.append(
                    Problem(check_name, count, f"memory {memory!r}: {query.title}", check_name in REPAIRED_BY_REPEAT)
                )
    return problems
