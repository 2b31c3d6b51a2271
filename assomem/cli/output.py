"""What commands print. With `--json` stdout holds the JSON alone; everything else goes to stderr."""

import json
import shutil
import sys
import unicodedata
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.console import Console

PIPED_WIDTH = 120
"""Columns of a table that goes to a file or a pipe; the variable COLUMNS changes it, as everywhere."""

Justify = Literal["left", "right"]


def print_json(value: object) -> None:
    """Write one JSON document to stdout; beyond ASCII it is escaped where stdout could not show it."""
    text = json.dumps(value, ensure_ascii=not _shows_unicode(), indent=2, allow_nan=False, default=_plain)
    sys.stdout.write(text + "\n")


def say(text: str = "") -> None:
    """One line for a person on stdout."""
    sys.stdout.write(text + "\n")


def say_on(text: str) -> None:
    """Part of a line for a person on stdout, at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


def note(text: str) -> None:
    """One line on stderr."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def degraded(lines: Iterable[str]) -> None:
    """What did not work as configured, in yellow."""
    from rich.text import Text

    screen = console()
    for line in lines:
        screen.print(Text(f"degraded: {shown(line)}", style="yellow"), soft_wrap=True)


def table(columns: Sequence[str | tuple[str, Justify]], rows: Iterable[Sequence[object]], *, wide: str = "") -> None:
    """A table as wide as the terminal.

    Args:
        columns: headings, each with where its cells stand (left by default).
        rows: as many cells each.
        wide: the heading of the column that takes what is left of the width; its text is shortened to it. The
            cells of the others are never cut.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=bool(wide))
    for column in columns:
        name, justify = (column, "left") if isinstance(column, str) else column
        if name == wide:
            grid.add_column(name, ratio=1, no_wrap=True, overflow="ellipsis" if _shows_unicode() else "crop")
        else:
            grid.add_column(name, justify=justify, overflow="fold")
    for row in rows:
        # As Text: square brackets and colons in what people said are not rich's markup.
        grid.add_row(*(Text(shown(cell)) for cell in row))
    console().print(grid)


def console() -> "Console":
    """Where people read: stdout, as wide as the terminal."""
    from rich.console import Console

    return Console(file=sys.stdout, width=width(), highlight=False, markup=False, emoji=False)


def width() -> int:
    """Columns to write in."""
    return shutil.get_terminal_size((PIPED_WIDTH, 40)).columns


def shown(value: object) -> str:
    """A value in one line, control characters out: what somebody said must not command the terminal."""
    if value is None:
        return "–" if _shows_unicode() else "-"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M")
    if isinstance(value, float):
        return f"{value:.3f}"
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)  # pyright: ignore[reportUnknownArgumentType]
    return " ".join(said(text).split())


def said(text: str) -> str:
    """What somebody said, as it was said but for control characters: only line breaks and tabs are left."""
    return "".join(" " if unicodedata.category(one) == "Cc" and one not in "\n\t" else one for one in text)


def counted(number: int, thing: str) -> str:
    """`1 session`, `2 sessions`."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def reasons(counts: Mapping[str, int]) -> str:
    """`3 duplicate, 1 empty`, sorted by name."""
    return ", ".join(f"{count:,} {reason}" for reason, count in sorted(counts.items()))


@contextmanager
def bar(what: str, total: int) -> Generator[Callable[[int], None]]:
    """A progress bar on stderr if that is a terminal, else nothing.

    It appears with the first progress: before that a download may show a bar of its own, and two draw over each other.
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    progress = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
        console=Console(stderr=True),
    )  # fmt: skip
    task = progress.add_task(what, total=total)

    def advance(done: int) -> None:
        progress.start()
        progress.advance(task, done)

    try:
        yield advance
    finally:
        progress.stop()


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _shows_unicode() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
