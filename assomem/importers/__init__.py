"""Other people's files as sessions: `read` finds the format, one module a format does the rest.

    source      a file or a stream, readable from its beginning as often as needed; its lines as text
    jsonl       our own format: one utterance a line

A format is a module with `recognises(head)` and `read(source, timezone)`, named in `FORMATS`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import IO, Protocol

from assomem.errors import InputError
from assomem.importers import jsonl
from assomem.importers.imported import Imported
from assomem.importers.source import Source, lines, seen
from assomem.times import parse_moment

__all__ = ["FORMATS", "Imported", "Source", "lines", "read"]

MEMORY_FILE = "memory.jsonl"
"""In a folder this file is the memory, whatever lies beside it."""


class Format(Protocol):
    """What a module of a format offers."""

    def recognises(self, head: str) -> bool:
        """Whether a file that begins so is of this format. The last line of the head may be cut."""
        ...

    def read(self, source: Source, timezone: str | None) -> Imported:
        """Everything in the source; times without a zone are read in `timezone`."""
        ...


FORMATS: Mapping[str, Format] = {"jsonl": jsonl}


def read(given: Path | IO[bytes], *, format_name: str | None = None, timezone: str | None = None) -> Imported:
    """The sessions of one file, with what was left out and why.

    Args:
        given: a file; a folder that holds `memory.jsonl` or else exactly one file of a known format; or a binary
            stream, read to its end.
        format_name: a key of `FORMATS`; None: found out from the content.
        timezone: IANA name or offset in which times without a zone are read.

    Raises:
        TimezoneNeeded: a time has no zone and `timezone` is None.
        UtteranceConflict: one utterance id stands for two different texts.
        InputError: the file cannot be read, its format is not known, or nothing in it could be used; says what was
            seen and quotes nothing of it.
    """
    if timezone is not None:
        parse_moment("2000-01-01", timezone)  # a wrong zone is refused here, not blamed on the lines
    if format_name is not None and format_name not in FORMATS:
        raise InputError(f"format: {format_name!r} is none of {', '.join(FORMATS)}")
    if isinstance(given, Path):
        source = Source.of_file(_file_in(given, format_name) if given.is_dir() else given)
    else:
        source = Source.of_stream(given)
    with source:
        return FORMATS[format_name or _only_format(source)].read(source, timezone)


def _only_format(source: Source) -> str:
    fitting = _formats(source)
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise InputError(f"{source.name}: may be {' or '.join(fitting)}; say which with --format")
    raise InputError(
        f"{source.name}: of no known format; it is {seen(source)}. Known are: {', '.join(FORMATS)}. If it is one of "
        "them all the same, name it with --format"
    )


def _formats(source: Source) -> list[str]:
    head = source.head()
    return [name for name, module in FORMATS.items() if module.recognises(head)]


def _file_in(folder: Path, format_name: str | None) -> Path:
    """The one file of a folder that is to be imported."""
    if (folder / MEMORY_FILE).is_file():
        return folder / MEMORY_FILE
    try:
        entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    except OSError as error:
        raise InputError(f"{folder}: cannot be read ({error.strerror})") from None
    fitting: list[Path] = []
    for entry in entries:
        if entry.is_file():
            with Source.of_file(entry) as source:
                formats = _formats(source)
            if formats and format_name in (None, *formats):
                fitting.append(entry)
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        names = ", ".join(entry.name for entry in fitting[:5])
        raise InputError(f"{folder}: holds {len(fitting)} files that could be imported ({names}); name one of them")
    inside = [entry.name for entry in entries if (entry / MEMORY_FILE).is_file()]
    if inside:
        raise InputError(
            f"{folder}: holds {len(inside)} folders with a {MEMORY_FILE} ({', '.join(inside[:5])}). One import is one "
            "memory: import each of them, with a --memory of its own"
        )
    raise InputError(
        f"{folder}: holds no {MEMORY_FILE} and no file of a known format ({', '.join(FORMATS)}); there are "
        f"{len(entries)} entries in it"
    )
