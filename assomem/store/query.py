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
_DECLARED = re.compile(r"^// \$(\w+)[ \t]+\S", re.MULTILINE)
_COLUMN = re.compile(r"^// -> (\w+)[ \t]+\S", re.MULTILINE)
_TITLE = re.compile(r"// [A-Z].*[.:]")


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
    declared = frozenset(_DECLARED.findall(text))
    if used != declared:
        raise QueryFileError(
            f"{name}: used but not declared {sorted(used - declared)}, declared but not used {sorted(declared - used)}"
        )
    # The driver types query text as LiteralString to keep outside input out of it. This file ships
    # with the package, so it is as trusted as a literal; this is the only cast.
    return Query(name, cast(LiteralString, text), used, tuple(_COLUMN.findall(text)))


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
