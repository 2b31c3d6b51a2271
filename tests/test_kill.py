"""Clients and servers killed at the worst moment: what was acknowledged is there, and a repeat completes the rest."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest

from assomem import AssoMem, Session, Settings, Utterance, read_settings
from assomem.errors import StoreUnavailable
from assomem.models.doubles import HashingEmbedder
from assomem.server import Address, down, up
from assomem.server.home import Home
from assomem.server.java import find_java
from assomem.server.process import listens, running, start
from assomem.store import Store

Dump = dict[str, dict[str, Any]]
DumpOf = Callable[[Store, str], Dump]

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
SUBJECTS = ("tulip bulbs", "the kayak", "grandmother's clock", "a cello lesson", "the harbour", "blue paint", "Utrecht")
SESSIONS = [
    Session(
        f"s{day}",
        [
            Utterance(
                ("Mira", "Tove")[turn % 2],
                f"On day {day} at turn {turn} we spoke about {SUBJECTS[turn % 7]} and {SUBJECTS[day % 7]}.",
                NOON + timedelta(days=day, minutes=turn),
            )
            for turn in range(38)
        ],
    )
    for day in range(8)
]
"""304 utterances: two transactions."""

VICTIM = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from test_kill import SESSIONS
from assomem import AssoMem
from assomem.models.doubles import HashingEmbedder
from assomem.store import Transaction

def dying(run, times):
    left = [int(times)]
    def counted(*arguments, **given):
        done = run(*arguments, **given)
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return done
    return counted

Transaction.run = dying(Transaction.run, sys.argv[3])
progress = dying(lambda done: None, sys.argv[4])
with AssoMem(sys.argv[2], embedder=HashingEmbedder()) as memory:
    memory.remember(SESSIONS, progress=progress)
"""


def killed_import(memory: str, environment: dict[str, str], *, queries: int = -1, batches: int = -1) -> None:
    """An import in another process that is killed after so many queries inside transactions, or after a batch."""
    command = [sys.executable, "-c", VICTIM, str(Path(__file__).parent), memory, str(queries), str(batches)]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


@pytest.fixture(scope="module")
def undisturbed(server: Address, settings: Settings, store: Store, contents: DumpOf) -> Dump:
    """What an import that nobody disturbed leaves."""
    del server
    with AssoMem("test kill, undisturbed", settings=settings, embedder=HashingEmbedder()) as memory:
        if "test kill, undisturbed" in {row["memory"] for row in memory.memories()}:
            memory.forget(everything=True)
        assert memory.remember(SESSIONS).new == 304
        found = contents(store, memory.memory)
        memory.forget(everything=True)
    return found


@pytest.mark.parametrize(
    "point",
    [
        pytest.param({"queries": 5}, id="as it begins"),
        pytest.param({"queries": 11}, id="in the first transaction"),
        pytest.param({"batches": 1}, id="between transactions"),
        pytest.param({"queries": 30}, id="in the second transaction"),
        pytest.param({"batches": 2}, id="at the very end"),
    ],
)
def test_an_import_whose_client_was_killed_is_completed_by_a_repeat(
    memory: AssoMem,
    store: Store,
    contents: DumpOf,
    undisturbed: Dump,
    environment: dict[str, str],
    point: dict[str, int],
) -> None:
    killed_import(memory.memory, environment, **point)
    says = [problem for problem in memory.doctor() if repr(memory.memory) in problem.says]
    assert [problem.check for problem in says] == ["unfinished_import"]
    assert says[0].repairable
    kept = 0 if "queries" in point and point["queries"] < 20 else 266
    done = memory.remember(SESSIONS)
    assert done.unchanged == (304 if point.get("batches") == 2 else kept)
    assert done.new + done.unchanged == 304
    assert not [problem for problem in memory.doctor() if repr(memory.memory) in problem.says]
    assert contents(store, memory.memory) == undisturbed


@pytest.fixture(scope="module")
def own_settings(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Iterator[Settings]:
    """Settings of a server of this module's own, which is killed."""
    mine = read_settings(home=tmp_path_factory.mktemp("kill") / "home", cache=cache, timezone="UTC")
    yield mine
    down(mine)


def kill(settings: Settings) -> None:
    process = running(Home.at(settings.home))
    assert process is not None
    process.kill()
    process.wait(30)


@pytest.mark.timeout(600)
def test_a_server_killed_in_the_middle_of_an_import_loses_nothing_that_was_acknowledged(
    own_settings: Settings, contents: DumpOf, undisturbed: Dump
) -> None:
    address = up(own_settings)
    acknowledged: list[int] = []

    def kill_after_the_first_batch(done: int) -> None:
        acknowledged.append(done)
        kill(own_settings)

    with AssoMem("killed", settings=own_settings, embedder=HashingEmbedder()) as memory:
        with pytest.raises(StoreUnavailable):
            memory.remember(SESSIONS, progress=kill_after_the_first_batch)
        assert acknowledged == [266]
        again = up(own_settings)
        assert again.uri == address.uri
        # The same object goes on, without being opened anew.
        assert len(memory.search("tulip bulbs", asked_at=NOON + timedelta(days=20)).evidence) == 10
        done = memory.remember(SESSIONS)
        assert (done.unchanged, done.new) == (266, 38)
        with closing(opened(again)) as store:
            assert contents(store, "killed") == undisturbed
        assert memory.doctor() == []


def opened(address: Address) -> Store:
    return Store(address.uri, username=address.username, password=address.password, database=address.database)


@pytest.mark.timeout(600)
def test_without_the_graph_plugin_the_evidence_is_the_same_and_the_answer_says_so(own_settings: Settings) -> None:
    asked_at = NOON + timedelta(days=20)
    question = "What did Mira say about grandmother's clock?"
    address = up(own_settings)
    presets = ("default", "paper")
    with AssoMem("plugin", settings=own_settings, embedder=HashingEmbedder()) as memory:
        memory.remember(SESSIONS[:4])
        before = [memory.search(question, asked_at=asked_at, preset=preset) for preset in presets]
        assert all(one.degraded == () for one in before)
    down(own_settings)
    home = Home.at(own_settings.home)
    for jar in (home.folder / "plugins").iterdir():
        jar.unlink()
    process = start(home, find_java(None))
    port = int(address.uri.rsplit(":", 1)[1])
    until = time.monotonic() + 120
    while not listens(process, port):
        assert time.monotonic() < until
        assert process.status() != psutil.STATUS_ZOMBIE
        time.sleep(0.1)
    given = read_settings(neo4j_uri=address.uri, neo4j_password=address.password, timezone="UTC")
    with AssoMem("plugin", settings=given, embedder=HashingEmbedder()) as memory:
        for preset, one in zip(presets, before, strict=True):
            after = memory.search(question, asked_at=asked_at, preset=preset)
            assert [piece.utterance_id for piece in after.evidence] == [piece.utterance_id for piece in one.evidence]
            assert [piece.score for piece in after.evidence] == pytest.approx([piece.score for piece in one.evidence])
            if preset == "paper":  # the default walks only where rare clues link sessions
                assert any("no Graph Data Science plugin" in said for said in after.degraded)
        problem = next(problem for problem in memory.doctor() if problem.check == "gds")
        assert "2026.01" in problem.says
        assert "2.26" in problem.says
        assert not problem.repairable
