"""memories, sessions, clues, show; add and forget."""

import json
import subprocess
from collections.abc import Callable
from typing import Any

Run = Callable[..., subprocess.CompletedProcess[str]]


def parsed(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_what_is_there_can_be_listed(run: Run, sample: str) -> None:
    memories = {row["memory"]: row for row in parsed(run("memories", "--json"))}
    assert (memories[sample]["utterances"], memories[sample]["sessions"]) == (132, 10)
    sessions = parsed(run("sessions", "--memory", sample, "--json"))
    assert [row["session_id"] for row in sessions] == [f"s{number:02}" for number in range(1, 11)]
    assert sessions[0]["speakers"] == ["Nadia", "Oskar"]
    clues = parsed(run("clues", "--memory", sample, "--limit", "5", "--json"))
    assert len(clues) == 5
    assert {"kind", "text", "support"} <= set(clues[0])
    for command in (["memories"], ["sessions", "--memory", sample], ["clues", "--memory", sample]):
        assert run(*command).stdout.count("\n") >= 4


def test_a_session_and_an_utterance_can_be_shown(run: Run, sample: str) -> None:
    session = parsed(run("show", "s01", "--memory", sample, "--json"))
    assert [row["utterance_id"] for row in session] == [f"s01:{number}" for number in range(1, 13)]
    (utterance,) = parsed(run("show", "s01:3", "--memory", sample, "--json"))
    assert utterance["text"].startswith("Black, no sugar")
    assert utterance["said_at"] == "2025-01-11T09:43:32+00:00"
    assert "Black, no sugar, and I regret nothing." in run("show", "s01:3", "--memory", sample).stdout
    gone = run("show", "nothing", "--memory", sample)
    assert gone.returncode == 1
    assert "nothing" in gone.stderr


def test_an_utterance_is_added_shown_and_forgotten(run: Run, memory_name: str) -> None:
    said = ["--speaker", "Lea", "--memory", memory_name, "--said-at", "2026-11-30T09:00:00+01:00"]
    added = parsed(run("add", "The key is under the mat.", *said, "--json"))
    assert added["session_id"] == "notes-2026-11-30"
    assert (added["memory"], added["new"], added["unchanged"]) == (memory_name, 1, 0)
    run("add", "The spare one is at the neighbour's.", *said, "--session", "keys")
    (first,) = parsed(run("show", "notes-2026-11-30", "--memory", memory_name, "--json"))
    assert (first["speaker"], first["text"]) == ("Lea", "The key is under the mat.")
    assert first["said_at"] == "2026-11-30T09:00:00+01:00"

    gone = parsed(run("forget", "--utterance", first["utterance_id"], "--memory", memory_name, "--json"))
    assert set(gone) == {"memory", "utterances", "clues", "degraded"}
    assert (gone["memory"], gone["utterances"]) == (memory_name, 1)
    nowhere = run("forget", "--session", "nowhere", "--memory", memory_name)
    assert (nowhere.returncode, nowhere.stdout) == (1, "")
    assert "nothing was deleted" in nowhere.stderr
    assert "forgot 1 utterance " in run("forget", "--session", "keys", "--memory", memory_name).stdout


def test_r64_a_whole_memory_goes_only_by_all_and_yes(run: Run, memory_name: str, sample: str) -> None:
    run("add", "Something.", "--speaker", "Lea", "--memory", memory_name)
    refused = run("forget", "--all", "--memory", memory_name)
    assert refused.returncode == 2
    assert len(parsed(run("sessions", "--memory", memory_name, "--json"))) == 1
    for scope in ("", " "):
        assert run("forget", "--session", scope, "--memory", memory_name).returncode == 1
    assert parsed(run("forget", "--all", "--yes", "--memory", memory_name, "--json"))["utterances"] == 1
    assert parsed(run("sessions", "--memory", sample, "--json"))
