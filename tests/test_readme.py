"""The README says what happens: its code runs, its commands work, its output is what comes out."""

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def shape(line: str) -> str:
    """A line without what may differ from machine to machine: blanks, and digits behind a point."""
    return re.sub(r"\.\d+", ".#", " ".join(line.split()))


def test_python_of_the_readme_runs(environment: dict[str, str], tmp_path: Path) -> None:
    (code,) = blocks("python")
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "We met Sarah at the harbour last Friday." in done.stdout


def test_commands_of_the_readme_work(run: Run) -> None:
    commands = [line[2:] for block in blocks("console") for line in block.splitlines() if line.startswith("$ assomem")]
    assert len(commands) >= 4
    for command in commands:
        done = run(*shlex.split(command)[1:])
        assert done.returncode == 0, (command, done.stderr)


def test_output_of_the_readme_is_what_the_demo_prints(run: Run) -> None:
    (shown,) = blocks("text")
    done = run("demo", env={"COLUMNS": "120"})
    assert done.returncode == 0, done.stderr
    printed = {shape(line) for line in done.stdout.splitlines()}
    missing = [line for line in shown.splitlines() if line.strip() and shape(line) not in printed]
    assert not missing, done.stdout


def test_every_make_target_of_the_readme_exists() -> None:
    makefile = (Path(__file__).parents[1] / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^\$ make (\S+)", README, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
