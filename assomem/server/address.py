"""Where the database is: an address, and what a credentials file says."""

import logging
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from assomem.errors import SettingsError

if TYPE_CHECKING:
    from assomem.settings import Settings

log = logging.getLogger(__name__)

_SCHEMES = ("bolt://", "bolt+s://", "bolt+ssc://", "neo4j://", "neo4j+s://", "neo4j+ssc://")


@dataclass(frozen=True, slots=True)
class Address:
    """All it takes to log in to a Neo4j server. Printing it does not show the password."""

    uri: str
    username: str
    password: str = field(repr=False)
    database: str
    browser_url: str | None
    """Where Neo4j Browser is served, if we know."""
    managed: bool
    """True: this package started the server and may stop it."""


def external(settings: "Settings") -> Address | None:
    """The server that the settings name, or None: the managed one is to be used. Contacts nobody.

    Raises:
        SettingsError: the credentials file cannot be read or lacks something, or an address is given as well.
    """
    if settings.neo4j_file is not None:
        if settings.neo4j_uri is not None:
            raise SettingsError(
                "ASSOMEM_NEO4J_URI and ASSOMEM_NEO4J_FILE are both set and may name two servers; unset one of them"
            )
        return _from_file(settings.neo4j_file, settings.neo4j_database)
    if settings.neo4j_uri is None:
        return None
    return Address(
        uri=settings.neo4j_uri,
        username=settings.neo4j_username,
        password=settings.neo4j_password.get_secret_value(),
        database=settings.neo4j_database,
        browser_url=None,
        managed=False,
    )


def _from_file(path: Path, database: str) -> Address:
    try:
        text = path.expanduser().read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise SettingsError(
            f"neo4j_file: {path} cannot be read ({reason}); ASSOMEM_NEO4J_FILE must name the credentials file that "
            "Aura offers for download"
        ) from None
    values: dict[str, str] = {}
    for line in text.splitlines():
        key, equals, value = line.strip().partition("=")
        if equals and not key.startswith("#"):
            values[key.strip()] = _unquoted(value.strip())
    missing = [key for key in ("NEO4J_URI", "NEO4J_USERNAME", "NEO4J_PASSWORD") if not values.get(key)]
    if missing:
        raise SettingsError(
            f"neo4j_file: {path} has no {' and no '.join(missing)}; it must hold lines NEO4J_URI=…, "
            "NEO4J_USERNAME=…, NEO4J_PASSWORD=… and may hold NEO4J_DATABASE=…"
        )
    if not values["NEO4J_URI"].startswith(_SCHEMES):
        raise SettingsError(f"neo4j_file: NEO4J_URI in {path} must begin with one of {', '.join(_SCHEMES)}")
    return Address(
        uri=values["NEO4J_URI"],
        username=values["NEO4J_USERNAME"],
        password=values["NEO4J_PASSWORD"],
        database=values.get("NEO4J_DATABASE") or database,
        browser_url=None,
        managed=False,
    )


def _unquoted(value: str) -> str:
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value
