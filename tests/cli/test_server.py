"""up, status, logs, browser, doctor; nothing here stops the server of the other tests."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from neo4j import GraphDatabase

from assomem.models.usage import Call, Ledger
from assomem.server import Address

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_status_shows_the_server_and_starts_nothing(run: Run, tmp_path: Path) -> None:
    home = tmp_path / "new home"
    done = run("status", "--json", env={"ASSOMEM_HOME": str(home), "ASSOMEM_NEO4J_URI": ""})
    assert done.returncode == 0, done.stderr
    status = json.loads(done.stdout)
    assert {"running", "managed", "versions", "uri", "browser_url", "home", "cache", "disk_bytes"} <= set(status)
    assert (status["managed"], status["running"], status["home"]) == (True, False, str(home))
    assert status["disk_bytes"] == 0
    assert set(status["versions"]) == {"assomem", "neo4j", "gds", "java"}
    assert not home.exists()
    assert "not running" in run("status", env={"ASSOMEM_HOME": str(home), "ASSOMEM_NEO4J_URI": ""}).stdout


def test_usage_of_models_is_shown_without_any_server(run: Run, tmp_path: Path) -> None:
    home = tmp_path / "home"
    env = {"ASSOMEM_HOME": str(home), "ASSOMEM_NEO4J_URI": "bolt://127.0.0.1:1"}
    assert "no calls to models yet" in run("status", "--usage", env=env).stdout
    empty = json.loads(run("status", "--usage", "--json", env=env).stdout)
    assert (empty["usage"], empty["total"]["calls"]) == ([], 0)
    assert not home.exists()
    ledger = Ledger(home / "models.sqlite3")
    ledger.note(Call("ann", "answer", "small", 1200, 300, 2.5, "ok", failed_tries=("rate_limited",)))
    ledger.note(Call("ann", "answer", "small", 0, 0, 0.0, "cached"))
    ledger.note(Call("bob", "extract", "small", 100, 0, 1.0, "timeout", estimated=True, failed_tries=("timeout",)))
    env |= {"ASSOMEM_PRICE_INPUT_PER_MILLION": "10", "ASSOMEM_PRICE_OUTPUT_PER_MILLION": "20"}
    shown = json.loads(run("status", "--usage", "--json", env=env).stdout)
    answer, extract = shown["usage"]
    assert answer == {
        "model": "small", "purpose": "answer", "calls": 2, "cached": 1, "input_tokens": 1200, "output_tokens": 300,
        "estimated_calls": 0, "seconds": 2.5, "failed_calls": 0, "failures": {"rate_limited": 1}, "cost": 0.018,
    }  # fmt: skip
    assert (extract["purpose"], extract["failed_calls"], extract["failures"]) == ("extract", 1, {"timeout": 1})
    assert (shown["total"]["calls"], shown["total"]["input_tokens"]) == (3, 1300)
    table = run("status", "--usage", env=env).stdout
    for part in ("small", "extract", "1,200", "~100", "0.0180", "1 rate limited", "estimated"):
        assert part in table
    assert "ann" not in table


def test_status_says_what_runs(run: Run, server: Address) -> None:
    status = json.loads(run("status", "--json").stdout)
    assert (status["running"], status["managed"], status["uri"]) == (True, server.managed, server.uri)
    assert status["versions"]["neo4j"].startswith("20")


def test_status_of_a_server_that_cannot_be_reached_says_why_and_ends_with_0(run: Run) -> None:
    done = run("status", "--json", env={"ASSOMEM_NEO4J_URI": "bolt://127.0.0.1:1"})
    assert done.returncode == 0
    status = json.loads(done.stdout)
    assert (status["managed"], status["running"]) == (False, False)
    assert "could not be reached" in status["problem"]


def test_up_on_a_running_server_says_where_it_is_and_shows_no_password(run: Run, server: Address) -> None:
    done = run("up", "--json")
    assert done.returncode == 0, done.stderr
    entry = json.loads(done.stdout)
    assert entry["uri"] == server.uri
    assert server.password not in done.stdout
    if server.managed:
        assert Path(entry["password_file"]).read_text(encoding="utf-8").strip() == server.password
    assert server.uri in run("up").stdout


def test_browser_says_how_to_sign_in(run: Run, server: Address) -> None:
    done = run("browser", "--no-open")
    if server.managed:
        assert done.returncode == 0
        assert str(server.browser_url) in done.stdout
        assert "password" in done.stdout
        assert server.password not in done.stdout
    else:
        assert done.returncode == 1
        assert server.uri in done.stderr


def test_down_where_nothing_runs_says_so(run: Run, tmp_path: Path) -> None:
    done = run("down", "--json", env={"ASSOMEM_HOME": str(tmp_path / "home")})
    assert json.loads(done.stdout) == {"stopped": False, "removed": False}
    assert "not running" in run("down", env={"ASSOMEM_HOME": str(tmp_path / "home")}).stdout


def test_logs_are_empty_before_the_first_start(run: Run, tmp_path: Path) -> None:
    done = run("logs", "--lines", "5", env={"ASSOMEM_HOME": str(tmp_path / "home"), "ASSOMEM_NEO4J_URI": ""})
    assert (done.returncode, done.stdout) == (0, "")
    assert "no log" in done.stderr


def test_doctor_finds_nothing_wrong_with_what_was_imported(run: Run, sample: str) -> None:
    done = run("doctor", "--json")
    found = json.loads(done.stdout)
    assert set(found) == {"ok", "problems"}
    assert not [problem for problem in found["problems"] if repr(sample) in problem["says"]]
    assert found["ok"] is (found["problems"] == [])
    assert done.returncode == (0 if found["ok"] else 1)


def test_doctor_ends_with_1_and_names_what_is_wrong(run: Run, memory_name: str, server: Address) -> None:
    run("add", "hello", "--speaker", "Lea", "--memory", memory_name)
    with GraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver:
        driver.execute_query("MATCH (m:Memory {name: $name}) SET m.utterances = 7", name=memory_name)
    done = run("doctor", "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert found["ok"] is False
    wrong = [problem for problem in found["problems"] if repr(memory_name) in problem["says"]]
    assert wrong
    assert all(set(problem) == {"check", "count", "says", "repairable"} for problem in found["problems"])
    assert "assomem: " in run("doctor").stderr
    assert run("forget", "--memory", memory_name, "--all", "--yes").returncode == 0
