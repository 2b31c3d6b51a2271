"""What runs before a command does, and how a command ends."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import assomem
from assomem.cli import cli

Run = Callable[..., subprocess.CompletedProcess[str]]

HEAVY = ("neo4j", "numpy", "pydantic", "rich", "openai", "onnxruntime", "psutil")


@pytest.mark.parametrize(
    "statement",
    [
        "import assomem",
        "import assomem.cli",
        "import sys; sys.argv = ['assomem', '--help']\n"
        "import assomem.cli\n"
        "try: assomem.cli.main()\n"
        "except SystemExit: pass",
    ],
)
def test_neither_the_package_nor_its_help_loads_anything_heavy(statement: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"{statement}\nimport sys\nsys.stderr.write(' '.join(sys.modules))"],
        capture_output=True,
        check=True,
    )
    loaded = {name.split(".")[0] for name in done.stderr.decode().split()}
    assert "assomem" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_the_version_is_the_package_s(run: Run) -> None:
    assert run("--version").stdout == f"assomem {assomem.__version__}\n"


def test_every_command_has_help(run: Run) -> None:
    listed = run("--help").stdout
    for name, command in cli.commands.items():
        assert f"  {name} " in listed
        assert command.help


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("search",),
        ("search", "x", "--k", "0"),
        ("search", "x", "--asked-at", "soon"),
        ("search", "x", "--preset", "other"),
        ("search", "x", "--weights", "missing.json"),
        ("import", "x", "--format", "fax"),
        ("import", "-", "--timezone", "Europe/Nowhere"),
        ("add", "text without a speaker"),
        ("down", "--yes"),
        ("down", "--remove"),
        ("forget",),
        ("forget", "--session", "a", "--utterance", "b"),
        ("forget", "--all"),
        ("forget", "--session", "a", "--yes"),
    ],
)
def test_wrong_use_ends_with_2_and_a_message_on_stderr(run: Run, arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Error" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "changed", "says"),
    [
        (("search", "x", "--memory", "no such memory"), {}, "no memory of that name"),
        (("search", "x", "--memory", ""), {}, "memory"),
        (("memories",), {"ASSOMEM_QUERY_TIMEOUT_SECONDS": "-1"}, "query_timeout_seconds"),
        (("memories",), {"ASSOMEM_NEO4J_URI": "bolt://127.0.0.1:1"}, "could not be reached"),
        (("import", "missing.jsonl"), {}, "missing.jsonl"),
        (("add", "x", "--speaker", "Mira", "--session", ""), {}, "session"),
    ],
)
def test_a_failure_ends_with_1_and_one_clear_message(
    run: Run, arguments: tuple[str, ...], changed: dict[str, str], says: str
) -> None:
    done = run(*arguments, env=changed)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("assomem: ")
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_an_interrupt_ends_with_130(environment: dict[str, str], tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING], env=environment, cwd=tmp_path,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == b"reading\n"
    # Its input stays open until it has ended: at the end of an empty input it would fail for another reason. Sent
    # again, as people do: a signal that comes just before the wait for input begins interrupts nothing.
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(1)
    process.kill()
    _, said = process.communicate()
    assert process.returncode == 130, said
    assert b"assomem: interrupted" in said
    assert b"Traceback" not in said


WAITING = """
import signal, sys
# A shell starts what runs in its background with interrupts ignored, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
import assomem.cli, assomem.importers
read = assomem.importers.read
def read_and_say(*given, **options):
    print("reading", flush=True)
    return read(*given, **options)
assomem.importers.read = read_and_say
sys.argv = ["assomem", "import", "-", "--dry-run"]
assomem.cli.main()
"""
