"""Any console, any locale, any text."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

SPOKEN = "Zoë brought 日本 sweets 😀 for everyone"

CONSOLES = [
    {"LANG": "C", "LC_ALL": "C"},
    {"PYTHONIOENCODING": "cp1252"},
    {"PYTHONIOENCODING": "ascii"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
]


@pytest.mark.parametrize("console", CONSOLES)
def test_r63_unicode_is_stored_intact_and_shown_as_well_as_the_console_can(
    environment: dict[str, str], tmp_path: Path, memory_name: str, console: dict[str, str]
) -> None:
    line = json.dumps(
        {"session_id": "s", "timestamp": None, "utterance_id": "u1", "speaker": "Zoë", "text": SPOKEN},
        ensure_ascii=False,
    )

    def run(*arguments: str, stdin: bytes = b"") -> bytes:
        done = subprocess.run(
            [sys.executable, "-m", "assomem", *arguments, "--memory", memory_name],
            input=stdin, capture_output=True, env=environment | console, cwd=tmp_path, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("import", "-", stdin=b"\xef\xbb\xbf" + line.encode() + b"\r\n")
    (shown,) = json.loads(run("show", "u1", "--json"))
    assert (shown["text"], shown["speaker"]) == (SPOKEN, "Zoë")
    for command in (["ask", "Who brought sweets?"], ["show", "s"]):
        assert b"brought" in run(*command)
    assert b"Zo" in run("sessions")
    assert b"brought" in run("import", "-", "--dry-run", stdin=line.encode())


SYNTAX = "AND OR NOT + - \" ~ / \\ : ( ) [bold] [/bold] [/] { } * ? ` ' :smile: $memory"


def test_r18_what_people_type_is_never_syntax(run: Run, memory_name: str) -> None:
    name = f"{memory_name} {SYNTAX}"
    added = run("add", SYNTAX, "--speaker", SYNTAX, "--session", SYNTAX, "--memory", name)
    assert added.returncode == 0, added.stderr
    (shown,) = json.loads(run("show", SYNTAX, "--memory", name, "--json").stdout)
    assert (shown["text"], shown["speaker"], shown["session_id"]) == (SYNTAX, SYNTAX, SYNTAX)
    for command, question in (("search", SYNTAX), ("ask", SYNTAX), ("explain", SYNTAX), ("search", "* ? [/red]")):
        done = run(command, question, "--memory", name)
        assert done.returncode == 0, done.stderr
    wide = run("show", SYNTAX, "--memory", name, env={"COLUMNS": "400"})
    assert SYNTAX in wide.stdout
    assert json.loads(run("search", "x", "--speaker", SYNTAX, "--memory", name, "--json").stdout)["evidence"]


def test_what_somebody_said_does_not_command_the_terminal(run: Run, memory_name: str) -> None:
    line = json.dumps(
        {"session_id": "s", "timestamp": None, "speaker": "Eve\x1b[2J", "text": "hello \x1b]0;owned\x07 there\x9b31m"}
    )
    run("import", "-", "--memory", memory_name, stdin=line.encode())
    for command in (["ask", "hello"], ["show", "s"], ["sessions"], ["clues"]):
        shown = run(*command, "--memory", memory_name).stdout
        assert not {"\x1b", "\x07", "\x9b"} & set(shown)


def test_progress_and_colour_are_for_terminals_alone(
    environment: dict[str, str], tmp_path: Path, memory_name: str
) -> None:
    line = json.dumps({"session_id": "s", "timestamp": None, "speaker": "Lea", "text": "hello"}).encode()
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "assomem", "import", "-", "--json", "--memory", memory_name],
        env=environment | {"TERM": "xterm", "COLUMNS": "100"}, cwd=tmp_path,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    out, _ = process.communicate(line, timeout=120)
    drawn = b""
    while True:
        try:
            chunk = os.read(ours, 65_536)
        except OSError:  # Linux: the other end is closed
            break
        if not chunk:
            break
        drawn += chunk
    os.close(ours)
    assert process.returncode == 0, drawn
    assert json.loads(out)["new"] == 1
    assert b"importing" in drawn
