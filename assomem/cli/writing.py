"""Putting things into a memory and taking them out: import, add, forget."""

import sys
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assomem.cli.extracting import report, while_storing
from assomem.cli.options import (
    checked_moment,
    checked_zone,
    confirmed,
    given_settings,
    json_option,
    memory_option,
    moment,
    open_memory,
)
from assomem.cli.output import bar, counted, degraded, note, print_json, reasons, say, shown, table

if TYPE_CHECKING:
    from assomem.clues import ReadyMadeClue
    from assomem.graph import Extracted, Remembered
    from assomem.importers import Imported
    from assomem.settings import Settings

NAMED_PROBLEMS = 20
"""So many broken records are named on stderr; the others are counted."""

PREVIEWED_UTTERANCES = 5
"""So many utterances of the first session a dry run shows to a person."""


@click.command("import")
@click.argument("path", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--format", "format_name", type=click.Choice(["jsonl"]), help="Its format.  [default: found out]")
@click.option(
    "--timezone",
    callback=checked_zone,
    metavar="ZONE",
    help="Read times without a zone in this one, such as Europe/Berlin.  [default: ASSOMEM_TIMEZONE]",
)
@click.option(
    "--clues",
    "clues_file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Ready-made clues (clues.jsonl) in place of extracted ones.",
)
@click.option(
    "--extract",
    "extracting",
    is_flag=True,
    help="Have the language model find clues in each session once it is stored, as assomem extract does.",
)
@click.option("--dry-run", is_flag=True, help="Show what would be imported. Needs no database.")
@memory_option
@json_option
def import_(
    path: Path,
    format_name: str | None,
    timezone: str | None,
    clues_file: Path | None,
    extracting: bool,
    dry_run: bool,
    memory_name: str,
    as_json: bool,
) -> None:
    """Import dialogues from a file.

    PATH is a file, a folder that holds one, or - for standard input. What is stored already is left as it is, so a file
    can be imported again. A record that cannot be used is named on stderr and left out; the exit code is then 1.
    """
    from assomem.errors import SettingsError
    from assomem.graph import NO_CHAT_MODEL
    from assomem.importers import read

    settings = given_settings(timezone=timezone)
    if extracting and settings.chat_model is None:
        raise SettingsError(f"import --extract: {NO_CHAT_MODEL}; nothing was imported")
    given = sys.stdin.buffer if str(path) == "-" else path
    imported = read(given, format_name=format_name, timezone=settings.timezone)
    clues = _ready_made(clues_file)
    extracted = None
    if dry_run:
        result = _previewed(imported, memory_name, settings)
    else:
        result, extracted = _stored(imported, clues, memory_name, settings, extracting=extracting)
    if as_json:
        print_json(result)
    else:
        _report(result)
        if extracted is not None:
            report(extracted)
    for problem in imported.problems[:NAMED_PROBLEMS]:
        note(f"skipped {problem}")
    if imported.problems:
        more = len(imported.problems) - NAMED_PROBLEMS
        rest = "would be imported" if dry_run else "were imported"
        note(
            (f"... and {more:,} more\n" if more > 0 else "")
            + f"assomem: {counted(len(imported.problems), 'record')} could not be used; the others {rest}"
        )
        raise click.exceptions.Exit(1)
    if extracted is not None and extracted.problems:
        raise click.exceptions.Exit(1)


@click.command()
@click.argument("text")
@click.option("--speaker", metavar="NAME", required=True, help="Who said it.")
@click.option("--session", "session_id", metavar="ID", help="The session it goes on.  [default: notes-<its date>]")
@click.option("--said-at", callback=checked_moment, metavar="ISO", help="When it was said.  [default: now]")
@memory_option
@json_option
def add(text: str, speaker: str, session_id: str | None, said_at: str | None, memory_name: str, as_json: bool) -> None:
    """Add one utterance."""
    from assomem.dialogue import Utterance

    settings = given_settings()
    when = moment(said_at, "--said-at", settings) or _now(settings)
    session_id = f"notes-{when:%Y-%m-%d}" if session_id is None else session_id
    with open_memory(memory_name, settings) as memory:
        remembered = memory.append(session_id, Utterance(speaker=speaker, text=text, said_at=when))
    if as_json:
        print_json(_counts(remembered, session_id=session_id))
        return
    say(f"added to session {session_id} of memory {memory_name}, {counted(remembered.clues, 'clue')}")
    degraded(remembered.degraded)


@click.command()
@click.option("--session", "session_id", metavar="ID", help="Forget this session.")
@click.option("--utterance", "utterance_id", metavar="ID", help="Forget this utterance.")
@click.option("--all", "everything", is_flag=True, help="Forget the whole memory.")
@click.option("--yes", is_flag=True, help="Do not ask before forgetting a whole memory.")
@memory_option
@json_option
def forget(
    session_id: str | None,
    utterance_id: str | None,
    everything: bool,
    yes: bool,
    memory_name: str,
    as_json: bool,
) -> None:
    """Forget a session, an utterance, or everything.

    Deleted are text, vectors, links, and the clues that nothing else supports.
    """
    if (session_id is not None) + (utterance_id is not None) + everything != 1:
        raise click.UsageError("say what to forget, exactly one of: --session ID, --utterance ID, --all")
    if yes and not everything:
        raise click.UsageError("--yes confirms --all; alone it means nothing")
    if everything and not confirmed(f"Forget everything in memory {memory_name}?", yes=yes):
        note("nothing was forgotten")
        raise click.exceptions.Exit(1)
    with open_memory(memory_name, given_settings()) as memory:
        forgotten = memory.forget(session_id=session_id, utterance_id=utterance_id, everything=everything)
    if as_json:
        print_json(asdict(forgotten))
    else:
        say(
            f"forgot {counted(forgotten.utterances, 'utterance')} and {counted(forgotten.clues, 'clue')} "
            f"of memory {memory_name}"
        )
        degraded(forgotten.degraded)


def _stored(
    imported: "Imported",
    clues: "list[ReadyMadeClue]",
    memory_name: str,
    settings: "Settings",
    *,
    extracting: bool,
) -> "tuple[dict[str, Any], Extracted | None]":
    """Import for good; also what a language model found in the sessions, if it was to read them."""
    total = sum(len(session.utterances) for session in imported.sessions)
    extracted = None
    with open_memory(memory_name, settings) as memory:

        def store(told: Callable[[], None]) -> "Remembered":
            with bar("importing", total) as progress:

                def stored(utterances: int) -> None:
                    told()
                    progress(utterances)

                return memory.remember(imported.sessions, clues=clues, progress=stored)

        if extracting:
            remembered, extracted = while_storing(memory, store)
        else:
            remembered = store(lambda: None)
            if settings.chat_model is not None and (waiting := memory.waiting()):
                note(f"{counted(len(waiting), 'session')} can be read by the language model: assomem extract")
    result = _counts(remembered, format=imported.format, skipped=dict(imported.skipped))
    return result | ({} if extracted is None else {"extracted": extracted.as_json()}), extracted


def _counts(remembered: "Remembered", **more: object) -> dict[str, Any]:
    return {
        "memory": remembered.memory,
        **more,
        "sessions": remembered.sessions,
        "utterances": remembered.utterances,
        "new": remembered.new,
        "unchanged": remembered.unchanged,
        "clues": remembered.clues,
        "degraded": list(remembered.degraded),
        "milliseconds": dict(remembered.milliseconds),
    }


def _previewed(imported: "Imported", memory_name: str, settings: "Settings") -> dict[str, Any]:
    """What an import would give; what only the database knows is null."""
    import time

    from assomem.dialogue import check_memory_name, check_sessions

    started = time.perf_counter()
    checked = check_sessions(
        imported.sessions,
        timezone_name=settings.timezone,
        max_text_characters=settings.max_text_characters,
    )
    return {
        "memory": check_memory_name(memory_name),
        "format": imported.format,
        "sessions": len(checked),
        "utterances": sum(len(session.utterances) for session in checked),
        "new": None,
        "unchanged": None,
        "skipped": dict(imported.skipped),
        "clues": None,
        "degraded": [],
        "milliseconds": {"total": round((time.perf_counter() - started) * 1000, 1)},
        "preview": [
            {
                "session_id": session.session_id,
                "title": session.title,
                "started_at": session.started_at,
                "utterances": [
                    {"speaker": one.speaker, "text": one.text, "said_at": one.said_at} for one in session.utterances
                ],
            }
            for session in checked
        ],
        "stripped": dict(imported.stripped),
        "warnings": dict(imported.warnings),
        "date_order": None,
    }


def _report(result: dict[str, Any]) -> None:
    what = f"{counted(result['utterances'], 'utterance')} in {counted(result['sessions'], 'session')}"
    if "preview" not in result:
        seconds = result["milliseconds"].get("total", 0.0) / 1000
        say(
            f"imported {what} ({result['format']}) into memory {result['memory']}: {result['new']:,} new, "
            f"{result['unchanged']:,} unchanged, {counted(result['clues'], 'clue')}, {seconds:.1f} s"
        )
    else:
        say(f"would import {what} ({result['format']}) into memory {result['memory']}; nothing was written")
        first = result["preview"][0]
        say(f"the first session, {shown(first['session_id'])}, begins:")
        table(
            ["said", "speaker", "text"],
            [(one["said_at"], one["speaker"], one["text"]) for one in first["utterances"][:PREVIEWED_UTTERANCES]],
            wide="text",
        )
    for name in ("skipped", "stripped", "warnings"):
        if result.get(name):
            say(f"{name}: {reasons(result[name])}")
    degraded(result["degraded"])


def _ready_made(file: Path | None) -> "list[ReadyMadeClue]":
    """The clues of a file.

    Raises:
        InputError: a line of it cannot be used, or it is not Unicode.
    """
    if file is None:
        return []
    from assomem.clues import read_ready_made
    from assomem.errors import InputError
    from assomem.importers import Source, lines

    with Source.of_file(file) as source:
        text = [line for _, line in lines(source)]
    well = [line for line in text if line is not None]
    if len(well) < len(text):
        raise InputError(f"{file}: line {text.index(None) + 1} holds bytes that are not UTF-8")
    return list(read_ready_made(well))


def _now(settings: "Settings") -> datetime:
    from zoneinfo import ZoneInfo

    zone = None if settings.timezone is None else ZoneInfo(settings.timezone)
    return datetime.now(zone).astimezone(zone)
