"""Options that several commands take."""

import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assomem.cli.output import note

if TYPE_CHECKING:
    from assomem.memory import AssoMem
    from assomem.settings import Settings


def checked_moment(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """A date or date-time of ISO 8601 as it was written; the settings say later how to read one without a zone.

    Raises:
        click.BadParameter: it is none.
    """
    from assomem.errors import InputError
    from assomem.times import parse_moment

    if value is not None:
        try:
            parse_moment(value, "UTC")
        except InputError as error:
            raise click.BadParameter(str(error), context, parameter) from None
    return value


def checked_zone(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """An IANA time zone name.

    Raises:
        click.BadParameter: it is none.
    """
    from assomem.errors import SettingsError
    from assomem.settings import read_settings

    if value is not None:
        try:
            read_settings(timezone=value)
        except SettingsError as error:
            if "timezone" not in str(error):
                return value  # something else is wrong in the environment, and is said later
            raise click.BadParameter(
                "is not an IANA time zone name such as Europe/Berlin or UTC", context, parameter
            ) from None
    return value


memory_option = click.option(
    "--memory", "memory_name", metavar="NAME", default="default", show_default=True, help="Which memory."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON alone on stdout; notes go to stderr.")
labelled_argument = click.argument(
    "paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(exists=True, path_type=Path)
)
labelled_clues_option = click.option(
    "--clues",
    type=click.Choice(["none", "built-in", "ready"]),
    default="built-in",
    show_default=True,
    help="Clues of the memories; ready: those of clues.jsonl.",
)
asked_at_option = click.option(
    "--asked-at",
    callback=checked_moment,
    metavar="ISO",
    help="When it is asked: “last week” is read from there, and nothing said after that day is found.  [default: now]",
)
k_option = click.option(
    "-k", "--k", type=click.IntRange(1, 600), default=10, show_default=True, help="How many pieces of evidence."
)
preset_option = click.option(
    "--preset", type=click.Choice(["default", "paper"]), help="How to rank.  [default: ASSOMEM_PRESET, or default]"
)
weights_option = click.option(
    "--weights",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A weights file in place of the shipped one.",
)


def moment(text: str | None, option: str, settings: "Settings") -> datetime | None:
    """The moment an option gives, read in the zone of the settings if it names none itself.

    Raises:
        TimezoneNeeded: there is no zone in the text nor in the settings.
    """
    from assomem.errors import TimezoneNeeded
    from assomem.times import parse_moment

    if text is None:
        return None
    try:
        return parse_moment(text, settings.timezone)
    except TimezoneNeeded:
        raise TimezoneNeeded(
            f"{option}: {text} has no time zone. Write it with one (a trailing Z, or +02:00), or say in which zone "
            "such times are meant: ASSOMEM_TIMEZONE, for example Europe/Paris"
        ) from None


def given_settings(**given: object) -> "Settings":
    """Settings from the options that were given, the environment and `.env`.

    Raises:
        SettingsError: one of them is wrong.
    """
    from assomem.settings import read_settings

    return read_settings(**{name: value for name, value in given.items() if value is not None})


def open_memory(name: str, settings: "Settings") -> "AssoMem":
    """A memory that shows downloads on stderr; close it."""
    from assomem.memory import AssoMem

    memory = AssoMem(name, settings=settings, progress=True)  # first: it refuses a wrong name
    announce_start(settings)
    return memory


def announce_start(settings: "Settings") -> None:
    """Say on stderr what takes so long, when the managed server has to be started first."""
    from assomem.server.address import external
    from assomem.server.home import Home
    from assomem.server.process import running

    home = Home.at(settings.home)
    if external(settings) is None and running(home, quietly=True) is None:
        first = home.password() is None
        note("installing and starting Neo4j (181 MB are downloaded once) ..." if first else "starting Neo4j ...")


def confirmed(question: str, *, yes: bool) -> bool:
    """Whether the user wants it: by `--yes`, or asked on a terminal.

    Raises:
        click.UsageError: neither; nothing is deleted unasked.
    """
    if yes:
        return True
    if not sys.stdin.isatty():
        raise click.UsageError("nothing was deleted: say --yes to confirm where nobody can be asked")
    return click.confirm(question, err=True)
