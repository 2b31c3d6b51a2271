"""The command line. `assomem --help` and `--version` import click and nothing heavier.

    options     what several commands take: --memory, --json, moments
    output      what they print: JSON alone on stdout, tables for people, notes on stderr
    server      up, down, status, logs, browser, doctor
    writing     import, add, forget
    extracting  extract
    asking      search, ask, explain
    looking     memories, sessions, clues, show
    analytics   analytics list, analytics run
    evaluate    evaluate
    fit         fit
    demo        demo

Exit codes: 0 done, 1 failed, 2 wrong use, 130 interrupted.
"""

import io
import logging
import os
import sys
from typing import NoReturn

import click

from assomem import __version__
from assomem.cli import asking, looking, server, writing
from assomem.cli.analytics import analytics
from assomem.cli.demo import demo
from assomem.cli.evaluate import evaluate
from assomem.cli.extracting import extract
from assomem.cli.fit import fit
from assomem.errors import AssoMemError

__all__ = ["cli", "main"]


class _AsWritten(click.Group):
    """Lists its commands in the order in which they were added: the way one meets them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(cls=_AsWritten, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="assomem", message="%(prog)s %(version)s")
def cli() -> None:
    """Long-term memory for assistants and people, kept in Neo4j.

    Start with `assomem demo`, or with `assomem import FILE` and `assomem ask "QUESTION"`. The database is the managed
    local one, unless ASSOMEM_NEO4J_URI names another.
    """


for _command in (
    demo,
    writing.import_,
    writing.add,
    extract,
    asking.search,
    asking.ask,
    asking.explain,
    looking.memories,
    looking.sessions,
    looking.clues,
    looking.show,
    analytics,
    writing.forget,
    evaluate,
    fit,
    server.up,
    server.down,
    server.status,
    server.logs,
    server.browser,
    server.doctor,
):
    cli.add_command(_command)


def main() -> NoReturn:
    """Run the command line and end the process with its exit code."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A console that cannot show a character shows a question mark; it never ends the command.
        sys.stdout.reconfigure(errors="replace")
    # The driver's own words about tries that it repeats help nobody; what fails in the end is said once.
    logging.getLogger("neo4j").setLevel(logging.CRITICAL)
    # Whatever the locale, arguments are UTF-8: a locale that cannot hold them must not change what is stored.
    sys.argv[1:] = [os.fsencode(argument).decode("utf-8", "surrogateescape") for argument in sys.argv[1:]]
    try:
        code = cli.main(prog_name="assomem", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except click.Abort:
        code = _failed("interrupted; what was finished before is stored", 130)
    except AssoMemError as error:
        code = _failed(str(error), 1)
    except OSError as error:
        code = _failed(f"{error.filename}: {error.strerror}" if error.filename else str(error), 1)
    sys.exit(code)


def _failed(message: str, code: int) -> int:
    sys.stderr.write(f"assomem: {message}\n")
    return code
