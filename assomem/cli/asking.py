"""Asking a memory: search, ask, explain."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assomem.cli.options import (
    asked_at_option,
    checked_moment,
    given_settings,
    json_option,
    k_option,
    memory_option,
    moment,
    open_memory,
    preset_option,
    weights_option,
)
from assomem.cli.output import degraded, print_json, said, say, say_on, shown, table, width

if TYPE_CHECKING:
    from assomem.evidence import Evidence, SearchResult
    from assomem.memory import Answer
    from assomem.settings import Settings

NARROW = 80
"""On fewer columns evidence is a list, not a table: a column of text would be left with nothing."""

WIDE = 110
"""From so many columns on the table has room for the time of day and whole headings."""

MIDNIGHT = time()

_SIGNALS = ("relevance", "importance", "temporal")
_SHORT = ("rel.", "imp.", "temp.")

_Command = TypeVar("_Command", bound=Callable[..., None])


def _filters(command: _Command) -> _Command:
    """The options that `search`, `ask` and `explain` share."""
    for option in reversed(
        (
            k_option,
            asked_at_option,
            preset_option,
            weights_option,
            click.option("--speaker", metavar="NAME", help="Only what this speaker said."),
            click.option("--session", metavar="ID", help="Only this session."),
            click.option("--after", callback=checked_moment, metavar="ISO", help="Only what was said then or later."),
            click.option("--before", callback=checked_moment, metavar="ISO", help="Only what was said before then."),
            memory_option,
            json_option,
        )
    ):
        command = option(command)
    return command


@click.command()
@click.argument("question")
@_filters
def search(
    question: str,
    k: int,
    asked_at: str | None,
    preset: str | None,
    weights: Path | None,
    speaker: str | None,
    session: str | None,
    after: str | None,
    before: str | None,
    memory_name: str,
    as_json: bool,
) -> None:
    """Find the utterances that support an answer."""
    settings = given_settings(preset=preset, weights=weights)
    moments = _moments(settings, asked_at, after, before)
    with open_memory(memory_name, settings) as memory:
        result = memory.search(question, k=k, speaker=speaker, session=session, **moments)
    if as_json:
        print_json(result.as_json())
    else:
        print_search(result)


@click.command()
@click.argument("question")
@click.option(
    "--hops",
    type=click.IntRange(1, 3),
    help="Searches at most: after each the language model may name what to look for next.  [default: 1]",
)
@click.option("--stream", is_flag=True, help="Print the answer as the language model writes it.")
@_filters
def ask(
    question: str,
    hops: int | None,
    stream: bool,
    k: int,
    asked_at: str | None,
    preset: str | None,
    weights: Path | None,
    speaker: str | None,
    session: str | None,
    after: str | None,
    before: str | None,
    memory_name: str,
    as_json: bool,
) -> None:
    """Answer a question, with citations.

    Without a language model (ASSOMEM_CHAT_MODEL) the best evidence is quoted. What the memory does not hold is answered
    with "not in memory" and the nearest misses.
    """
    if stream and as_json:
        raise click.UsageError("--stream prints text as it comes, --json one object at the end: choose one")
    settings = given_settings(preset=preset, weights=weights)
    moments = _moments(settings, asked_at, after, before)
    with open_memory(memory_name, settings) as memory:
        options: dict[str, Any] = {"hops": hops, "k": k, "speaker": speaker, "session": session, **moments}
        if stream:
            _print_stream(memory.ask_stream(question, **options))
            return
        answer = memory.ask(question, **options)
    if as_json:
        print_json(answer.as_json())
    else:
        print_answer(answer)


def _print_stream(pieces: "Iterator[str | Answer]") -> None:
    """The pieces as they come; then the rest, and the text again only where the pieces were not the answer."""
    printed = ""
    for piece in pieces:
        if isinstance(piece, str):
            printed += piece
            say_on(said(piece))
        else:
            say()
            print_answer(piece, with_text=printed.strip() != piece.text)


@click.command()
@click.argument("question")
@click.option("--utterance", "utterance_id", metavar="ID", help="Why this one was chosen, or why not.")
@_filters
def explain(
    question: str,
    utterance_id: str | None,
    k: int,
    asked_at: str | None,
    preset: str | None,
    weights: Path | None,
    speaker: str | None,
    session: str | None,
    after: str | None,
    before: str | None,
    memory_name: str,
    as_json: bool,
) -> None:
    """Show why each piece of evidence was chosen.

    Every reading, its weight, and what it adds to the score.
    """
    settings = given_settings(preset=preset, weights=weights)
    moments = _moments(settings, asked_at, after, before)
    with open_memory(memory_name, settings) as memory:
        explanations = memory.explain(
            question, utterance_id=utterance_id, k=k, speaker=speaker, session=session, **moments
        )
    if as_json:
        plain = [one.as_json() for one in explanations]
        print_json(plain if utterance_id is None else plain[0])
        return
    if not explanations:
        say("nothing was found")
    for one in explanations:
        say(f"{shown(one.utterance_id)}: {one.says}")
        table(
            ["signal", "reading", ("value", "right"), ("weight", "right"), ("adds", "right")],
            [(each.signal, each.reading, each.value, each.weight, each.adds) for each in one.contributions],
        )


def print_answer(answer: "Answer", *, with_text: bool = True) -> None:
    """The answer, what it cites, and the evidence, for a person."""
    if with_text:
        say(said(answer.text))
    pieces = {piece.utterance_id: piece for piece in answer.evidence}
    for citation in answer.citations:
        piece = pieces[citation.utterance_id]
        when = "" if piece.said_at is None else f", {shown(piece.said_at)}"
        say(f"  [{citation.marker}] {shown(piece.speaker)}{when} ({shown(piece.utterance_id)})")
    unsupported = [claim.text for claim in answer.claims if not claim.supported]
    for text in unsupported:
        say(f"  not supported by a citation: {_cut(said(text), 80)}")
    for further in answer.searches[1:]:
        say(f"  also searched for: {_cut(said(further), 80)}")
    say()
    print_search(answer.result, answer.degraded)


def print_search(result: "SearchResult", says: Sequence[str] | None = None) -> None:
    """The evidence and how it was found, for a person.

    Args:
        result: what was found.
        says: what did not work as configured, in place of what the result says.
    """
    if result.evidence:
        _print_evidence(result.evidence)
    else:
        say("nothing was found")
    kind, probability = max(result.question_type.items(), key=lambda one: one[1], default=("unknown", 0.0))
    say(f"weights: {_numbers(result.weights)}; question: {kind} ({probability:.0%})")
    if result.intervals:
        meant = "; ".join(f"{_day(one.start)} to {_day(one.end)} ({shown(one.text)})" for one in result.intervals)
        say(f"time meant: {meant}")
    say(f"asked at {shown(result.asked_at)}, {result.milliseconds.get('total', 0.0):.0f} ms")
    degraded(result.degraded if says is None else says)


def _print_evidence(evidence: "Sequence[Evidence]") -> None:
    columns = width()
    if columns < NARROW:
        for piece in evidence:
            say(f"{piece.rank}. {shown(piece.speaker)}, {shown(piece.said_at)}")
            say(f"   {_cut(shown(piece.text), columns - 3)}")
            parts = zip(_SHORT, (piece.signals[name] for name in _SIGNALS), strict=True)
            say(f"   {piece.score:.3f}: {', '.join(f'{name} {value:.2f}' for name, value in parts)}")
        return
    wide = columns >= WIDE
    table(
        [
            ("#", "right"),
            "said",
            "speaker",
            "text",
            ("score", "right"),
            *((name, "right") for name in (_SIGNALS if wide else _SHORT)),
        ],
        [
            (
                piece.rank,
                piece.said_at if wide or piece.said_at is None else f"{piece.said_at:%Y-%m-%d}",
                piece.speaker,
                piece.text,
                piece.score,
                *(piece.signals[name] for name in _SIGNALS),
            )
            for piece in evidence
        ],
        wide="text",
    )


def _moments(settings: "Settings", asked_at: str | None, after: str | None, before: str | None) -> dict[str, Any]:
    given = {"asked_at": asked_at, "after": after, "before": before}
    return {name: moment(text, f"--{name.replace('_', '-')}", settings) for name, text in given.items()}


def _cut(text: str, columns: int) -> str:
    return text if len(text) <= columns else f"{text[: max(columns - 3, 1)]}..."


def _day(moment_meant: datetime | None) -> str:
    """A day where the moment begins one, else with the time of day; `...` for an open end."""
    if moment_meant is None:
        return "..."
    return f"{moment_meant:%Y-%m-%d}" if moment_meant.time() == MIDNIGHT else shown(moment_meant)


def _numbers(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.2f}" for name, value in values.items())
