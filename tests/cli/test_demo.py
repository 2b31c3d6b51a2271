"""assomem demo: the whole way."""

import json
import subprocess
from collections.abc import Callable

from assomem.server import Address
from assomem.store import Store, load

Run = Callable[..., subprocess.CompletedProcess[str]]

SIGNALS = ("relevance", "importance", "temporal")


def test_the_demo_answers_its_question_and_a_second_run_adds_nothing(run: Run, server: Address, store: Store) -> None:
    first = run("demo")
    assert first.returncode == 0, first.stderr
    for part in (
        "Who repaired Oskar's bicycle in August?",
        "Hettie Sloane",
        "[1]",
        *SIGNALS,
        ":param memory",
        "CYPHER 25",
    ):
        assert part in first.stdout
    if server.managed:
        for part in (str(server.browser_url), "password", "assomem down"):
            assert part in first.stdout
    assert server.password not in first.stdout or not server.password

    again = json.loads(run("demo", "--json").stdout)
    assert (again["memory"], again["new"], again["unchanged"]) == ("assomem-demo", 0, 132)
    best = again["ask"]["evidence"][0]
    assert best["utterance_id"] == "s08:4"
    assert all(best["signals"][signal] > 0 for signal in SIGNALS)

    rows = store.read(load("browser/clues_and_utterances"), memory="assomem-demo")
    assert rows, "the graph that the demo invites to look at must not be empty"
    assert run("forget", "--memory", "assomem-demo", "--all", "--yes").returncode == 0
