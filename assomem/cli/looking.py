"""Looking at what is there: memories, sessions, clues, show; and mending it: clues merge."""

import click
from click.core import ParameterSource

from assomem.cli.options import given_settings, json_option, memory_option, open_memory
from assomem.cli.output import console, counted, print_json, said, say, shown, table


@click.command()
@json_option
def memories(as_json: bool) -> None:
    """List the memories of the database."""
    with open_memory("default", given_settings()) as memory:
        rows = memory.memories()
    if as_json:
        print_json(rows)
    elif rows:
        table(
            ["memory", ("utterances", "right"), ("sessions", "right"), ("clues", "right"), "embedder", "made"],
            [
                (row["memory"], row["utterances"], row["sessions"], row["clues"], row["embedder"], row["created_at"])
                for row in rows
            ],
        )
    else:
        say("there are no memories yet; one begins with: assomem import FILE")


@click.command()
@memory_option
@json_option
def sessions(memory_name: str, as_json: bool) -> None:
    """List the sessions of a memory, oldest first."""
    with open_memory(memory_name, given_settings()) as memory:
        rows = memory.sessions()
    if as_json:
        print_json(rows)
        return
    table(
        ["session", "started", ("utterances", "right"), "speakers", "title or topics"],
        [
            (
                row["session_id"], row["started_at"], row["utterances"], row["speakers"],
                row["title"] or "; ".join(row["topics"]),
            )
            for row in rows
        ],
        wide="title or topics",
    )  # fmt: skip


@click.group(invoke_without_command=True)
@click.option(
    "--limit", type=click.IntRange(1, 100_000), default=100, show_default=True, metavar="N", help="At most so many."
)
@memory_option
@json_option
@click.pass_context
def clues(context: click.Context, limit: int, memory_name: str, as_json: bool) -> None:
    """List the clues of a memory.

    Those with the most utterances come first. `clues merge` makes two clues one.
    """
    if context.invoked_subcommand is not None:
        return
    with open_memory(memory_name, given_settings()) as memory:
        rows = memory.clues(limit=limit)
    if as_json:
        print_json(rows)
        return
    table(
        ["kind", "clue", ("utterances", "right"), ("sessions", "right")],
        [(row["kind"], row["text"], row["support"], row["sessions"]) for row in rows],
        wide="clue",
    )


@clues.command("merge")
@click.argument("clue")
@click.argument("other")
@memory_option
@json_option
@click.pass_context
def merge(context: click.Context, clue: str, other: str, memory_name: str, as_json: bool) -> None:
    """Make two clues one: OTHER becomes a wording of CLUE.

    Each is named by its uid (clues --json), by kind and text (person:Mira), or by its text alone where only one kind
    has it. What is written or extracted later for OTHER lands on CLUE, too.
    """
    if context.get_parameter_source("memory_name") is ParameterSource.DEFAULT and context.parent is not None:
        memory_name = context.parent.params["memory_name"]
    with open_memory(memory_name, given_settings()) as memory:
        row = memory.merge_clues(clue, other)
    if as_json:
        print_json(row)
    else:
        say(
            f"one clue now: {shown(row['kind'])} {shown(row['text'])} ({counted(row['support'], 'utterance')}; "
            f"wordings: {'; '.join(map(shown, row['wordings']))})"
        )


@click.command()
@click.argument("session_or_utterance")
@memory_option
@json_option
def show(session_or_utterance: str, memory_name: str, as_json: bool) -> None:
    """Show a session, or one utterance, in full."""
    from rich.text import Text

    with open_memory(memory_name, given_settings()) as memory:
        rows = memory.show(session_or_utterance)
    if as_json:
        print_json(rows)
        return
    screen = console()
    for row in rows:
        head = f"{shown(row['speaker'])}, {shown(row['said_at'])} ({shown(row['utterance_id'])})"
        screen.print(Text(head, style="bold"), soft_wrap=True)
        screen.print(Text(said(row["text"])))
        if row["clues"]:
            screen.print(Text(f"clues: {shown(row['clues'])}", style="dim"))
        say()
