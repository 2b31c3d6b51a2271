"""assomem import: from a file, a folder and a stream, with and without a database."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assomem import AssoMem

Run = Callable[..., subprocess.CompletedProcess[str]]

CLOSED = {"ASSOMEM_NEO4J_URI": "bolt://127.0.0.1:1"}
"""A database that cannot be reached."""

COUNTS = {
    "memory", "format", "sessions", "utterances", "new", "unchanged", "skipped", "clues", "degraded", "milliseconds",
}  # fmt: skip


def line(text: str, utterance_id: str, **changes: object) -> str:
    fields: dict[str, object] = {
        "session_id": "s", "timestamp": "2026-01-02T10:00:00+01:00", "utterance_id": utterance_id, "speaker": "Lea",
        "text": text,
    }  # fmt: skip
    return json.dumps(fields | changes, ensure_ascii=False) + "\n"


TALK = line("The tent leaks at the seam.", "u1") + line("Then we buy another tent.", "u2", speaker="Max")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "chats" / "memory.jsonl"
    path.parent.mkdir()
    path.write_text(TALK, encoding="utf-8")
    return path


def parsed(done: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(done.stdout)


def test_a_second_import_adds_nothing(run: Run, file: Path, memory_name: str) -> None:
    first = run("import", str(file), "--memory", memory_name, "--json")
    assert (first.returncode, first.stderr) == (0, "")
    result = parsed(first)
    assert set(result) == COUNTS
    assert (result["memory"], result["format"]) == (memory_name, "jsonl")
    assert (result["sessions"], result["utterances"], result["new"], result["unchanged"]) == (1, 2, 2, 0)
    assert result["skipped"] == {}
    assert result["milliseconds"]["total"] > 0
    again = parsed(run("import", str(file.parent), "--memory", memory_name, "--json"))
    assert (again["new"], again["unchanged"]) == (0, 2)
    third = run("import", "-", "--memory", memory_name, stdin=TALK.encode())
    assert "0 new, 2 unchanged" in third.stdout


def test_r53_broken_records_are_named_and_end_with_1_and_the_others_are_stored(
    run: Run, memory_name: str, open_memory: Callable[[str], AssoMem]
) -> None:
    bad = TALK + '{"session_id": "s", "speak\n' + line("my secret", "u3", timestamp="one day") + line(" ", "u4")
    undated = bad + line("And a stove.", "u5", timestamp=None)
    done = run("import", "-", "--memory", memory_name, "--json", stdin=undated.encode())
    assert done.returncode == 1
    result = parsed(done)
    assert result["skipped"] == {"broken": 2, "empty": 1}
    assert result["new"] == 3
    assert "line 3" in done.stderr
    assert "line 4" in done.stderr
    assert "assomem: 2 records could not be used" in done.stderr
    assert "secret" not in done.stderr
    assert [row["utterance_id"] for row in open_memory(memory_name).show("s")] == ["u1", "u2", "u5"]
    again = run("import", "-", "--memory", memory_name, "--json", stdin=undated.encode())
    assert (again.returncode, parsed(again)["new"]) == (1, 0)


def test_many_broken_records_do_not_flood_the_terminal(run: Run) -> None:
    done = run("import", "-", "--dry-run", stdin=(TALK + "{\n" * 500).encode())
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) < 30
    assert "and 480 more" in done.stderr


@pytest.mark.parametrize("source", ["file", "folder", "stdin"])
def test_a_dry_run_needs_no_database_and_shows_what_would_be_imported(run: Run, file: Path, source: str) -> None:
    path = {"file": str(file), "folder": str(file.parent), "stdin": "-"}[source]
    stdin = file.read_bytes() if source == "stdin" else b""
    done = run("import", path, "--dry-run", "--json", env=CLOSED, stdin=stdin)
    assert (done.returncode, done.stderr) == (0, "")
    result = parsed(done)
    assert set(result) == COUNTS | {"preview", "stripped", "warnings", "date_order"}
    assert (result["sessions"], result["utterances"]) == (1, 2)
    assert (result["new"], result["unchanged"], result["clues"], result["date_order"]) == (None, None, None, None)
    assert result["preview"] == [
        {
            "session_id": "s",
            "title": None,
            "started_at": "2026-01-02T10:00:00+01:00",
            "utterances": [
                {"speaker": "Lea", "text": "The tent leaks at the seam.", "said_at": "2026-01-02T10:00:00+01:00"},
                {"speaker": "Max", "text": "Then we buy another tent.", "said_at": "2026-01-02T10:00:00+01:00"},
            ],
        }
    ]


def test_a_dry_run_for_a_person_shows_the_beginning(run: Run, file: Path) -> None:
    done = run("import", str(file), "--dry-run", env=CLOSED)
    assert done.returncode == 0
    assert "would import 2 utterances in 1 session" in done.stdout
    assert "The tent leaks" in done.stdout


def test_times_without_a_zone_are_refused_until_one_is_named(run: Run) -> None:
    naive = line("Hello", "u1", timestamp="2026-07-01T10:00:00").encode()
    refused = run("import", "-", "--dry-run", stdin=naive)
    assert refused.returncode == 1
    assert "--timezone" in refused.stderr
    by_option = run("import", "-", "--dry-run", "--json", "--timezone", "Europe/Berlin", stdin=naive)
    assert parsed(by_option)["preview"][0]["started_at"] == "2026-07-01T10:00:00+02:00"
    by_setting = run("import", "-", "--dry-run", "--json", stdin=naive, env={"ASSOMEM_TIMEZONE": "Asia/Tokyo"})
    assert parsed(by_setting)["preview"][0]["started_at"] == "2026-07-01T10:00:00+09:00"


def test_an_id_with_another_text_is_refused_and_nothing_is_written(
    run: Run, memory_name: str, open_memory: Callable[[str], AssoMem]
) -> None:
    assert run("import", "-", "--memory", memory_name, stdin=TALK.encode()).returncode == 0
    changed = line("Something new.", "u9") + line("The tent is dry.", "u1")
    done = run("import", "-", "--memory", memory_name, stdin=changed.encode())
    assert done.returncode == 1
    assert "'u1'" in done.stderr
    assert [row["utterance_id"] for row in open_memory(memory_name).show("s")] == ["u1", "u2"]


def test_ready_made_clues_are_used_only_where_they_are_named(
    run: Run, file: Path, memory_name: str, open_memory: Callable[[str], AssoMem]
) -> None:
    clues = file.parent / "clues.jsonl"
    ready = {"session_id": "s", "kind": "event", "text": "the night of the storm", "utterance_ids": ["u1", "u2"]}
    clues.write_text(json.dumps(ready), encoding="utf-8")
    run("import", str(file.parent), "--memory", memory_name)
    run("import", str(file.parent), "--memory", f"{memory_name} ready", "--clues", str(clues))
    without = {clue["text"] for clue in open_memory(memory_name).clues()}
    ready_made = {clue["text"]: clue["support"] for clue in open_memory(f"{memory_name} ready").clues()}
    assert "the night of the storm" not in without
    assert ready_made == {"the night of the storm": 2}


def test_a_clues_file_that_cannot_be_used_is_refused_before_anything_is_written(run: Run, file: Path) -> None:
    clues = file.parent / "clues.jsonl"
    clues.write_text('{"session_id": "s"}', encoding="utf-8")
    done = run("import", str(file), "--clues", str(clues), env=CLOSED)
    assert done.returncode == 1
    assert "line 1" in done.stderr
