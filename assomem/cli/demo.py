"""The whole way in one command: start, import the sample, ask, look at the graph."""

import json
import os
import shutil
import sys
from typing import Any

import click

from assomem.cli.options import announce_start, given_settings, json_option, open_memory
from assomem.cli.output import bar, note, print_json, say

MEMORY = "assomem-demo"

QUESTION = "q12"
"""The question of the sample that is asked."""


@click.command()
@json_option
def demo(as_json: bool) -> None:
    """See it work.

    Starts the database, imports a sample memory, asks it a question, and says how to look at the graph. The sample goes
    into a memory of its own, assomem-demo.
    """
    from assomem import server
    from assomem.cli.asking import print_answer
    from assomem.cli.server import entrance, how_to_sign_in
    from assomem.importers import read
    from assomem.sample import sample_folder
    from assomem.store import load
    from assomem.times import parse_moment

    settings = given_settings()
    announce_start(settings)
    address = server.locate(settings, progress=True)
    note(f"using {'the managed' if address.managed else 'the given'} Neo4j at {address.uri}")

    with (sample_folder() / "memory.jsonl").open("rb") as stream:
        imported = read(stream)
    question = _question((sample_folder() / "queries.jsonl").read_text(encoding="utf-8"))
    total = sum(len(session.utterances) for session in imported.sessions)
    with open_memory(MEMORY, settings) as memory:
        note(f"importing the sample: {total} utterances of four housemates, January to November 2025")
        with bar("importing", total) as progress:
            remembered = memory.remember(imported.sessions, progress=progress)
        answer = memory.ask(question["question"], asked_at=parse_moment(question["query_time"], None), k=5)

    entry = entrance(settings, address)
    text = load("browser/clues_and_utterances").text
    query = text[text.index("CYPHER 25") :].rstrip()
    if as_json:
        print_json(
            {
                "memory": MEMORY,
                "sessions": remembered.sessions,
                "utterances": remembered.utterances,
                "new": remembered.new,
                "unchanged": remembered.unchanged,
                "ask": answer.as_json(),
                "server": entry,
            }
        )
        return
    say(f"memory {MEMORY}: {remembered.new} utterances new, {remembered.unchanged} unchanged")
    say()
    say(f"Question, asked on {answer.result.asked_at:%d %B %Y}: {question['question']}")
    print_answer(answer)
    say()
    if entry["browser_url"] is not None:
        for line in how_to_sign_in(entry):
            say(line)
    say()
    say("A first look at the graph. Run this there first:")
    say()
    say(f":param memory => '{MEMORY}'")
    say()
    say("and then:")
    say()
    say(query)
    say()
    program = _program()
    say(f'Ask more:  {program} ask --memory {MEMORY} "Who plays what?"')
    say(f"Clean up:  {program} forget --memory {MEMORY} --all --yes")
    if address.managed:
        say(f"Stop Neo4j: {program} down")


def _question(lines: str) -> dict[str, Any]:
    questions = (json.loads(line) for line in lines.split("\n") if line)
    return next(question for question in questions if question["query_id"] == QUESTION)


def _program() -> str:
    """How this program is called from here: `make demo` runs it from an environment that nobody has activated."""
    if shutil.which("assomem"):
        return "assomem"
    started = sys.argv[0]
    return os.path.relpath(started) if os.path.basename(started) == "assomem" else "python -m assomem"
