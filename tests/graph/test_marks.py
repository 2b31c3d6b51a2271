"""The mark of an import under way comes and goes, whichever plan Neo4j chooses for an almost empty database."""

from assomem import AssoMem, Session, Utterance
from assomem.store import Store, load


def test_marks_are_taken_away_by_the_import_that_completes_them(memory: AssoMem, store: Store) -> None:
    memory.remember([Session("s", [Utterance("Mira", "The first words")])])
    name = memory.memory
    for token, sessions in (("own", ["s"]), ("earlier", ["s"]), ("other", ["s", "elsewhere"])):
        store.write(load("graph/begin_import"), memory=name, token=token, session_ids=sessions)
    store.write(load("graph/end_import"), memory=name, token="own", session_ids=["s"])
    (left,) = [problem for problem in memory.doctor() if name in problem.says]
    assert (left.check, left.count, left.repairable) == ("unfinished_import", 1, True)
    store.write(load("graph/end_import"), memory=name, token="another", session_ids=["s", "elsewhere"])
    assert not [problem for problem in memory.doctor() if name in problem.says]
