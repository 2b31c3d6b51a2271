"""Cypher analytics: the statements of `cypher/analytics/`, each about one memory, run by name.

They run as they lie in Neo4j Browser, too; here their parameters have the defaults that their headers declare. A
statement that needs an algorithm of Graph Data Science projects, runs and drops by itself. All of them only read.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from assomem.errors import InputError, StoreError
from assomem.store import Parameter, Query, Store, gds_version, load, names

if TYPE_CHECKING:
    from pandas import DataFrame

_FOLDER = "analytics"
_LARGEST = 1_000_000_000
_PYTHON = {"STRING": "text", "INTEGER": "a whole number", "FLOAT": "a number", "BOOLEAN": "true or false"}


@dataclass(frozen=True)
class AnalyticsResult:
    """What a statement found."""

    name: str
    """The statement: a file of `cypher/analytics/`."""
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    """Values in the order of the columns; times as datetimes."""

    def as_json(self) -> dict[str, Any]:
        """Name, columns and rows in plain values; dates in ISO 8601."""
        return {
            "name": self.name,
            "columns": list(self.columns),
            "rows": [[_written(value) for value in row] for row in self.rows],
        }

    def frame(self) -> "DataFrame":
        """The rows as a DataFrame of pandas."""
        import pandas

        return pandas.DataFrame(list(self.rows), columns=list(self.columns))


def list_analytics() -> list[dict[str, Any]]:
    """Every statement by name: name, title, parameters (name, type, default, says)."""
    return [
        {
            "name": name.removeprefix(f"{_FOLDER}/"),
            "title": query.title,
            "parameters": [
                {"name": one.name, "type": one.type, "default": one.default, "says": one.says} for one in _free(query)
            ],
        }
        for name in names(_FOLDER)
        for query in [load(name)]
    ]


def check_analytics(name: str, given: Mapping[str, object]) -> dict[str, Any]:
    """All parameters of a statement but the memory: those given, and defaults for the others.

    Raises:
        InputError: there is no statement of that name, or a parameter is not its own or not of its type.
    """
    allowed = {one.name: one for one in _free(find_analytics(name))}
    for unknown in given.keys() - allowed.keys():
        takes = f"it takes {', '.join(allowed)}" if allowed else "it takes none"
        raise InputError(f"analytics {name}: there is no parameter {unknown!r}; {takes}")
    for one in given:
        _check_value(name, allowed[one], given[one])
    return {one.name: given.get(one.name, one.default) for one in allowed.values()}


def read_parameter(name: str, parameter: str, text: str) -> str | int | float | bool:
    """A parameter's value from its text, read by its declared type.

    Raises:
        InputError: as `check_analytics`.
    """
    declared = {one.name: one for one in _free(find_analytics(name))}.get(parameter)
    value: str | int | float | bool = text
    if declared is not None and declared.type != "STRING":
        try:
            if declared.type == "BOOLEAN":
                value = {"true": True, "false": False}[text.strip().lower()]
            else:
                value = int(text) if declared.type == "INTEGER" else float(text)
        except (ValueError, KeyError):
            raise _wrong_value(name, declared, text) from None
    check_analytics(name, {parameter: value})
    return value


def run_analytics(store: Store, memory: str, name: str, given: Mapping[str, object]) -> AnalyticsResult:
    """Run a statement for one memory.

    Raises:
        InputError: as `check_analytics`.
        StoreError: Neo4j refused it, or has no Graph Data Science where that is needed.
    """
    query = find_analytics(name)
    parameters = check_analytics(name, given)
    try:
        found = store.read(query, memory=memory, **parameters)
    except StoreError as error:
        if "gds." in query.text and gds_version(store) is None:
            raise StoreError(query.name, "needs the Graph Data Science plugin, which this Neo4j has not") from error
        raise
    return AnalyticsResult(
        name, query.columns, tuple(tuple(_native(row[one]) for one in query.columns) for row in found)
    )


def find_analytics(name: str) -> Query:
    """A statement by name.

    Raises:
        InputError: there is none; names those that are near.
    """
    there = [one.removeprefix(f"{_FOLDER}/") for one in names(_FOLDER)]
    if name in there:
        return load(f"{_FOLDER}/{name}")
    near = get_close_matches(name.lower().replace("-", "_"), there, n=5, cutoff=0.5) or [
        one for one in there if any(part in one for part in name.lower().replace("-", "_").split("_") if len(part) > 3)
    ]
    hint = f"did you mean {', '.join(near)}?" if near else f"there are {', '.join(there)}."
    raise InputError(
        f"analytics: there is no statement {name[:80]!r}; {hint} All are listed by: assomem analytics list"
    )


def _free(query: Query) -> list[Parameter]:
    return [one for one in query.takes if one.name != "memory"]


def _check_value(name: str, parameter: Parameter, value: object) -> None:
    match parameter.type:
        case "STRING":
            right = isinstance(value, str)
        case "INTEGER":
            right = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST
        case "FLOAT":
            right = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        case _:
            right = isinstance(value, bool)
    if not right:
        raise _wrong_value(name, parameter, value)


def _wrong_value(name: str, parameter: Parameter, value: object) -> InputError:
    wanted = _PYTHON[parameter.type] + (f" from 0 to {_LARGEST:,}" if parameter.type == "INTEGER" else "")
    return InputError(f"analytics {name}: {parameter.name} must be {wanted}, not {str(value)[:80]!r}")


def _native(value: Any) -> Any:
    """Neo4j's times as Python's."""
    return value.to_native() if hasattr(value, "to_native") else value


def _written(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value
