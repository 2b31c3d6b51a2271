"""Cypher analytics by name: analytics list, analytics run."""

import csv
import sys
from datetime import date
from typing import Any

import click

from assomem.cli.options import given_settings, json_option, memory_option, open_memory
from assomem.cli.output import print_json, say, table


@click.group()
def analytics() -> None:
    """Statements about a memory: what it holds, what matters, how topics move over time."""


@analytics.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List the statements there are, with their parameters and defaults."""
    from assomem.analytics import list_analytics

    rows = list_analytics()
    if as_json:
        print_json(rows)
        return
    table(
        ["name", "parameters", "what it shows"],
        [
            (row["name"], " ".join(f"{one['name']}={one['default']}" for one in row["parameters"]), row["title"])
            for row in rows
        ],
        wide="what it shows",
    )


@analytics.command("run")
@click.argument("name")
@click.option(
    "--param", "given", multiple=True, metavar="NAME=VALUE", help="A parameter of the statement; can be repeated."
)
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV alone on stdout, with a head.")
@memory_option
@json_option
def run(name: str, given: tuple[str, ...], as_csv: bool, memory_name: str, as_json: bool) -> None:
    """Run a statement and show its rows."""
    if as_csv and as_json:
        raise click.UsageError("--csv and --json exclude each other")
    parameters = _read(name, given)
    with open_memory(memory_name, given_settings()) as memory:
        result = memory.analytics(name, **parameters)
    if as_json:
        print_json(result.as_json())
    elif as_csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(result.columns)
        writer.writerows([_cell(value) for value in row] for row in result.rows)
    elif result.rows:
        cells = list(zip(*result.rows, strict=True))
        long = [
            column
            for column, values in zip(result.columns, cells, strict=True)
            if any(isinstance(value, str) and len(value) > 60 for value in values)
        ]
        table(
            [
                (column, "right" if all(isinstance(value, int | float) for value in values) else "left")
                for column, values in zip(result.columns, cells, strict=True)
            ],
            result.rows,
            wide=long[0] if len(long) == 1 else "",  # one text is shortened to its line, several are folded
        )
    else:
        say("nothing found")


def _read(name: str, given: tuple[str, ...]) -> dict[str, object]:
    """The parameters of the command line, read by their declared types.

    Raises:
        click.UsageError: there is no such statement, or a parameter is not its own or not of its type.
    """
    from assomem.analytics import find_analytics, read_parameter
    from assomem.errors import InputError

    parameters: dict[str, object] = {}
    try:
        find_analytics(name)
        for one in given:
            parameter, equals, text = one.partition("=")
            if not equals:
                raise click.UsageError(f"--param {one}: must be NAME=VALUE, for example limit=5")
            if parameter in parameters:
                raise click.UsageError(f"--param {parameter}: is given twice")
            parameters[parameter] = read_parameter(name, parameter, text)
    except InputError as error:
        raise click.UsageError(str(error)) from None
    return parameters


def _cell(value: Any) -> Any:
    """A value for CSV: lists joined by semicolons, dates in ISO 8601."""
    if isinstance(value, date):
        return value.isoformat()
    return "; ".join(map(str, value)) if isinstance(value, list) else value  # pyright: ignore[reportUnknownArgumentType]
