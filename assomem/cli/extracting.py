"""Having a language model read what is stored: extract, and import --extract."""

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from assomem.cli.options import given_settings, json_option, memory_option, open_memory
from assomem.cli.output import bar, counted, degraded, note, print_json, reasons, say, table

if TYPE_CHECKING:
    from assomem.graph import Extracted, Remembered
    from assomem.memory import AssoMem

NAMED_PROBLEMS = 20
"""So many sessions that were not read are named in the table; the others are counted."""

Store = Callable[[Callable[[], None]], "Remembered"]
"""Stores everything, and tells after each batch."""


@click.command()
@click.option("--session", "session_id", metavar="ID", help="Read this session alone.")
@click.option(
    "--budget-tokens",
    type=click.IntRange(min=1),
    metavar="N",
    help="Begin no session once the model has taken and given so many tokens.",
)
@click.option("--again", is_flag=True, help="Read also what a language model has read, or came with clues.")
@memory_option
@json_option
def extract(session_id: str | None, budget_tokens: int | None, again: bool, memory_name: str, as_json: bool) -> None:
    """Have the language model find the clues of stored sessions.

    It reads the sessions it has not read yet; its clues replace those found in words. Each session is stored as it
    comes: stopped at any moment, the command goes on where it was. The exit code is 1 when a session could not be read.
    """
    settings = given_settings()
    with open_memory(memory_name, settings) as memory:
        total = 1 if session_id is not None else len(memory.sessions() if again else memory.waiting())
        try:
            with bar("reading sessions", total) as progress:
                done = memory.extract(
                    session_id=session_id, budget_tokens=budget_tokens, again=again, progress=progress
                )
        except KeyboardInterrupt:
            left = counted(len(memory.waiting()), "session")
            note(f"stopped; {left} left, with which assomem extract --memory {memory_name} goes on")
            raise
    if as_json:
        print_json(done.as_json())
    else:
        report(done)
    if done.problems:
        raise click.exceptions.Exit(1)


def report(done: "Extracted") -> None:
    """What an extraction did, for a person."""
    seconds = done.milliseconds.get("total", 0.0) / 1000
    say(
        f"read {done.done:,} of {counted(done.sessions, 'session')} of memory {done.memory}: "
        f"{counted(done.clues, 'clue')}; {counted(done.usage['calls'], 'call')}, {done.usage['input_tokens']:,} tokens "
        f"in, {done.usage['output_tokens']:,} out, {seconds:.1f} s"
    )
    if done.rejected:
        say(f"left out: {reasons(done.rejected)}")
    if done.problems:
        say(f"{done.failed:,} failed and keep the clues they had; {done.left:,} left")
        table(
            ["session", "why it was not read"], list(done.problems.items())[:NAMED_PROBLEMS], wide="why it was not read"
        )
        if len(done.problems) > NAMED_PROBLEMS:
            say(f"... and {len(done.problems) - NAMED_PROBLEMS:,} more: assomem sessions --json")
    degraded(done.degraded)


def while_storing(memory: "AssoMem", store: Store) -> "tuple[Remembered, Extracted]":
    """Store, and have the language model read each session once it is stored.

    Raises:
        AssoMemError: storing or reading failed; what was acknowledged before is stored.
    """
    from assomem.errors import AssoMemError
    from assomem.graph import Extracted

    ended = threading.Event()
    done = Extracted(memory.memory)
    failures: list[AssoMemError] = []

    def read() -> None:
        last = False
        while not last:
            last = ended.is_set()
            try:
                # What could not be used a moment ago is not asked for again.
                part = memory.extract(retry_failed=False)
            except AssoMemError as error:
                failures.append(error)
                return
            done.add(part)
            if part.left:  # no answer: it would give none now either
                return
            ended.wait(0.5)

    reader = threading.Thread(target=read, name="assomem import --extract", daemon=True)
    started = threading.Event()

    def stored() -> None:
        # With the first batch: before that there may be no memory.
        if not started.is_set():
            started.set()
            reader.start()

    try:
        remembered = store(stored)
    finally:
        ended.set()
    if started.is_set():
        if reader.is_alive():
            note("all is stored; sessions are still being read (stopped now, assomem extract goes on later) ...")
        reader.join()
    if failures:
        raise failures[0]
    return remembered, done
