"""Cypher kept in files, loaded by name.

A query is one statement in one file under `cypher/`; its name is its path without the suffix:
`cypher/candidates/by_vector.cypher` is `load("candidates/by_vector")`. The file opens with a comment that says
what the statement does, which parameters it takes and which columns it returns, then begins with `CYPHER 25`:

    // Utterances of one memory whose vector is nearest to the question's, nearest first.
    //
    // $memory  STRING       the memory searched; no other is read
    // $limit   INTEGER      at most this many utterances, 1 or more
    //
    // -> uid     STRING
    // -> cosine  FLOAT      -1..1

A parameter may have a default, which is for whoever runs the statement to pass: text in single quotes, a number, true
or false.

    // $limit   INTEGER = 20  rows at most
    // $kind    STRING = ''   clues of this kind alone; '' all

`load` refuses a file whose comment and body disagree, so the two cannot drift.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import LiteralString, cast

from assomem.errors import QueryFileError, QueryParameterError

# Strings, quoted names and comments are matched first, so a $ inside one is not a parameter.
_PARAMETER = re.compile(
    r"""'(?:\\.|[^'\\])*' | "(?:\\.|[^"\\])*" | `(?:``|[^`])*` | //[^\n]* | /\*.*?\*/ | \$(\w+)""",
    re.VERBOSE | re.DOTALL,
)
_DECLARED = re.compile(r"^// \$(\w+)[ \t]+(\S.*)$", re.MULTILINE)
_TYPE = re.compile(r"[A-Z][A-Z<>]*(?: DATETIME)?(?![a-z])")
_DEFAULT = re.compile(r"[ \t]*=[ \t]*(?:'([^']*)'|(\S+))(?=[ \t]+\S)")
_COLUMN = re.compile(r"^// -> (\w+)[ \t]+\S", re.MULTILINE)
_TITLE = re.compile(r"// [A-Z].*[.:]")


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a query's comment says of one parameter."""

    name: str
    """Without the dollar sign."""
    type: str
    """STRING, INTEGER, LIST<STRING>, ..., as it is written."""
    default: str | int | float | bool | None
    """None when there is none: it must be given."""
    says: str
    """What it is for."""


@dataclass(frozen=True, slots=True)
class Query:
    """One query, ready to run."""

    name: str
    """`candidates/by_vector`: the path under `cypher/`, without the suffix."""

    text: LiteralString
    """The file as it stands, comment included."""

    parameters: frozenset[str]
    """Names the query takes, without the dollar sign."""

    columns: tuple[str, ...]
    """Names of the columns it returns, in order; empty when it returns nothing."""

    takes: tuple[Parameter, ...] = ()
    """The same parameters as the comment declares them, in its order."""

    @property
    def title(self) -> str:
        """The first line: what the statement does."""
        return self.text.splitlines()[0].removeprefix("// ")

    def check(self, given: Collection[str]) -> None:
        """Refuse parameters the query does not take: Neo4j itself would ignore them.

        Raises:
            QueryParameterError: names the query and every missing or unexpected parameter.
        """
        missing = self.parameters.difference(given)
        unexpected = frozenset(given) - self.parameters
        if missing or unexpected:
            raise QueryParameterError(f"{self.name}: missing {sorted(missing)}, unexpected {sorted(unexpected)}")


@cache
def load(name: str) -> Query:
    """Read `cypher/<name>.cypher`.

    Raises:
        QueryFileError: there is no such file, or its comment and body disagree.
    """
    file = cypher_folder().joinpath(*f"{name}.cypher".split("/"))
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise QueryFileError(f"{name}: no such file, looked for {file}") from None
    if not _TITLE.match(text):
        raise QueryFileError(f"{name}: the first line must say what it does: // Counts the sessions.")
    lines = (line.strip() for line in text.splitlines())
    body = [line for line in lines if line and not line.startswith("//")]
    if not body or not body[0].startswith("CYPHER 25"):
        raise QueryFileError(f"{name}: the statement must begin with CYPHER 25")
    used = frozenset(match[1] for match in _PARAMETER.finditer(text) if match[1])
    takes = tuple(_parameter(name, match[1], match[2]) for match in _DECLARED.finditer(text))
    declared = frozenset(one.name for one in takes)
    if used != declared:
        raise QueryFileError(
            f"{name}: used but not declared {sorted(used - declared)}, declared but not used {sorted(declared - used)}"
        )
    # The driver types query text as LiteralString to keep outside input out of it. This file ships
    # with the package, so it is as trusted as a literal; this is the only cast.
    return Query(name, cast(LiteralString, text), used, tuple(_COLUMN.findall(text)), takes)


def _parameter(query: str, name: str, declared: str) -> Parameter:
    """What stands behind a parameter's name: type, default, words.

    Raises:
        QueryFileError: there is no type, or the default is not of it.
    """
    kind = _TYPE.match(declared)
    if kind is None:
        raise QueryFileError(f"{query}: ${name} has no type: // ${name}  INTEGER  what it is for")
    rest = declared[kind.end() :]
    if not rest.lstrip().startswith("="):
        return Parameter(name, kind[0], None, rest.strip())
    written = _DEFAULT.match(rest)
    default = None if written is None else _value(kind[0], written[1], written[2])
    if written is None or default is None:
        raise QueryFileError(
            f"{query}: the default of ${name} must be a {kind[0]}, with words behind it: // ${name}  STRING = ''  all"
        )
    return Parameter(name, kind[0], default, rest[written.end() :].strip())


def _value(kind: str, quoted: str | None, bare: str | None) -> str | int | float | bool | None:
    """A default as Python's value; None when it is not of its type."""
    if quoted is not None or bare is None:
        return quoted if kind == "STRING" else None
    if kind == "BOOLEAN":
        return {"true": True, "false": False}.get(bare)
    if kind == "INTEGER" and re.fullmatch(r"-?\d+", bare):
        return int(bare)
    if kind == "FLOAT" and re.fullmatch(r"-?\d+\.\d+", bare):
        return float(bare)
    return None


def names(folder: str) -> list[str]:
    """Names of the queries directly in one folder of `cypher/`, sorted; empty when there is no such folder."""
    place = cypher_folder().joinpath(*folder.split("/"))
    if not place.is_dir():
        return []
    return sorted(
        f"{folder}/{file.name.removesuffix('.cypher')}" for file in place.iterdir() if file.name.endswith(".cypher")
    )


def cypher_folder() -> Traversable:
    """Find the folder of .cypher files: inside an installed package, beside it in a checkout.

    Raises:
        QueryFileError: the package was built without its queries.
    """
    installed = files("assomem").joinpath("cypher")
    if installed.is_dir():
        return installed
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / "pyproject.toml").is_file() and (checkout / "cypher").is_dir():
        return checkout / "cypher"
    raise QueryFileError(f"no cypher folder in {installed} or {checkout}: broken installation")
