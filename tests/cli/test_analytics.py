"""analytics list and run."""

import csv
import io
import json
import subprocess
from collections.abc import Callable

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_the_list_names_at_least_25_statements(run: Run) -> None:
    done = run("analytics", "list", "--json")
    listed = json.loads(done.stdout)
    assert len(listed) >= 25
    assert all(set(row) == {"name", "title", "parameters"} for row in listed)
    shown = run("analytics", "list")
    assert shown.returncode == 0
    assert all(row["name"] in shown.stdout for row in listed)


def test_a_statement_prints_json_csv_or_a_table(run: Run, sample: str) -> None:
    found = json.loads(run("analytics", "run", "speakers", "--memory", sample, "--json").stdout)
    assert set(found) == {"name", "columns", "rows"}
    assert (found["name"], found["rows"][0][:2]) == ("speakers", ["Nadia", 37])
    assert all(len(row) == len(found["columns"]) for row in found["rows"])

    text = run("analytics", "run", "longest_sessions", "--memory", sample, "--param", "limit=2", "--csv").stdout
    head, *lines = csv.reader(io.StringIO(text))
    assert head[:3] == ["session_id", "title", "started_at"]
    assert [line[0] for line in lines] == ["s10", "s05"]
    assert lines[0][1:3] == ["", "2025-11-16T19:00:00+00:00"]
    assert "Nadia; Oskar; Priya; Wilf" in lines[0]

    shown = run("analytics", "run", "important_clues", "--memory", sample)
    assert shown.returncode == 0, shown.stderr
    assert "Mr. Pellow" in shown.stdout
    nothing = run("analytics", "run", "hubs", "--param", "kind=of nothing", "--memory", sample)
    assert (nothing.returncode, nothing.stdout) == (0, "nothing found\n")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["speaker"], "did you mean speakers"),
        (["speakers", "--param", "limits=3"], "it takes limit"),
        (["speakers", "--param", "limit"], "must be NAME=VALUE"),
        (["speakers", "--param", "limit=many"], "limit must be a whole number"),
        (["speakers", "--param", "limit=2", "--param", "limit=3"], "is given twice"),
        (["speakers", "--param", "memory=other"], "no parameter 'memory'"),
        (["speakers", "--csv", "--json"], "exclude each other"),
    ],
)
def test_what_cannot_be_run_is_wrong_use_and_says_what_can(run: Run, arguments: list[str], says: str) -> None:
    done = run("analytics", "run", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr


def test_an_unknown_memory_fails(run: Run) -> None:
    done = run("analytics", "run", "speakers", "--memory", "of nobody", "--json")
    assert (done.returncode, done.stdout) == (1, "")
    assert "of nobody" in done.stderr
