"""The database server: up, down, status, logs, browser, doctor."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from assomem.cli.options import announce_start, confirmed, given_settings, json_option, open_memory
from assomem.cli.output import Justify, counted, note, print_json, reasons, say, table
from assomem.errors import InputError

if TYPE_CHECKING:
    from assomem.server import Address
    from assomem.settings import Settings


@click.command()
@json_option
def up(as_json: bool) -> None:
    """Start the database.

    It is installed if needed (181 MB, once) and goes on running until `assomem down`.
    """
    from assomem import server

    settings = given_settings()
    announce_start(settings)
    address = server.locate(settings, progress=True)
    if not address.managed:
        _ask_version(settings, address)
    entry = entrance(settings, address)
    if as_json:
        print_json(entry)
    elif address.managed:
        say(f"Neo4j is running at {address.uri}")
        say(f"Neo4j Browser: {address.browser_url}, user {address.username}, password in {entry['password_file']}")
        say("It goes on running; stop it with: assomem down")
    else:
        say(f"Neo4j answers at {address.uri}, the server of your settings; nothing was started")


@click.command()
@click.option("--remove", is_flag=True, help="Also delete its data: every memory in it.")
@click.option("--yes", is_flag=True, help="Do not ask before deleting.")
@json_option
def down(remove: bool, yes: bool, as_json: bool) -> None:
    """Stop the managed database. Its data stay, unless --remove."""
    from assomem import server

    settings = given_settings()
    if yes and not remove:
        raise click.UsageError("--yes confirms --remove; alone it means nothing")
    if settings.neo4j_uri is not None or settings.neo4j_file is not None:
        raise InputError(
            "ASSOMEM_NEO4J_URI or ASSOMEM_NEO4J_FILE names another server, which this program did not start and does "
            "not stop; unset it to stop the managed one"
        )
    if remove and not confirmed(f"Delete every memory in {settings.home}?", yes=yes):
        note("nothing was deleted")
        raise click.exceptions.Exit(1)
    stopped = server.down(settings)
    if remove:
        server.remove(settings)
    if as_json:
        print_json({"stopped": stopped, "removed": remove})
    else:
        say("Neo4j is stopped" if stopped else "Neo4j was not running")
        if remove:
            say(f"data, settings and password in {settings.home} are deleted; downloads in {settings.cache} stay")


@click.command()
@click.option("--usage", is_flag=True, help="What calls to models cost: tokens, seconds, failures; no server needed.")
@json_option
def status(usage: bool, as_json: bool) -> None:
    """Show the server, its versions and disk use.

    Starts nothing.
    """
    if usage:
        _show_usage(given_settings(), as_json=as_json)
        return
    import assomem
    from assomem import server
    from assomem.errors import StoreError

    settings = given_settings()
    known = server.status(settings)
    running, problem = known.running, None
    versions = {
        "assomem": assomem.__version__, "neo4j": known.neo4j_version, "gds": known.gds_version, "java": known.java,
    }  # fmt: skip
    if not known.managed:
        try:
            versions |= _ask_version(settings, server.locate(settings))
            running = True
        except StoreError as error:
            running, problem = False, str(error)
    found: dict[str, Any] = {
        "managed": known.managed,
        "running": running,
        "problem": problem,
        "versions": versions,
        "uri": known.uri,
        "browser_url": known.browser_url,
        "pid": known.pid,
        "home": None if known.home is None else str(known.home),
        "cache": str(known.cache),
        "disk_bytes": known.disk_bytes,
        "cache_bytes": known.cache_bytes,
        "log_file": None if known.log_file is None else str(known.log_file),
    }
    if as_json:
        print_json(found)
        return
    whose = "managed by this program" if known.managed else "the one that the settings name"
    rows: list[tuple[str, object]] = [("server", f"{'running' if running else 'not running'}, {whose}")]
    if problem is not None:
        rows.append(("problem", problem))
    rows += [
        ("address", known.uri),
        ("browser", known.browser_url),
        ("versions", ", ".join(f"{name} {version}" for name, version in versions.items() if version)),
        ("home", f"{known.home} ({_size(known.disk_bytes)})" if known.home is not None else None),
        ("downloads", f"{known.cache} ({_size(known.cache_bytes)})"),
        ("log", known.log_file),
    ]
    for name, value in rows:
        if value is not None:
            say(f"{name:<10} {value}")
    if known.managed and not running:
        say("start it with: assomem up")


@click.command()
@click.option("--lines", type=click.IntRange(1, 100_000), default=50, show_default=True, metavar="N", help="How many.")
def logs(lines: int) -> None:
    """Show the end of the database's log."""
    from assomem import server

    settings = given_settings()
    text = server.logs(settings, lines)
    if text:
        say(text)
    else:
        note("there is no log yet: the server has never been started")


@click.command()
@click.option("--no-open", is_flag=True, help="Only say where it is.")
@json_option
def browser(no_open: bool, as_json: bool) -> None:
    """Open Neo4j Browser and say how to sign in.

    With --json nothing is opened.
    """
    from assomem import server
    from assomem.errors import ServerError

    settings = given_settings()
    announce_start(settings)
    address = server.locate(settings, progress=True)
    if address.browser_url is None:
        raise ServerError(
            f"the server at {address.uri} was not started by this program, so where its Neo4j Browser is served is not "
            "known. Usually that is port 7474 of the same host, path /browser/; for Aura use its console"
        )
    entry = entrance(settings, address)
    if as_json:
        print_json(entry)
        return
    for line in how_to_sign_in(entry):
        say(line)
    if not no_open and not _opened(address.browser_url):
        say("There is no display to open it on: paste the address into a browser of this machine.")


@click.command()
@json_option
def doctor(as_json: bool) -> None:
    """Check every memory of the database.

    Reads only. The exit code is 1 if something is wrong.
    """
    with open_memory("default", given_settings()) as memory:
        problems = memory.doctor()
    if as_json:
        print_json({"ok": not problems, "problems": [asdict(problem) for problem in problems]})
    elif problems:
        table(
            ["check", ("count", "right"), "repairable", "says"],
            [(one.check, one.count, "by repeating" if one.repairable else "no", one.says) for one in problems],
        )
    else:
        say("all is well")
    if problems:
        note(f"assomem: {counted(len(problems), 'problem')} found")
        raise click.exceptions.Exit(1)


def _show_usage(settings: "Settings", *, as_json: bool) -> None:
    """Calls to models by model and purpose, of every memory of this home."""
    from assomem.models.usage import Ledger, sum_of, usage_file

    totals = Ledger(usage_file(settings)).totals()
    whole = sum_of(totals)
    if as_json:
        rows = [asdict(one) | {"cost": one.cost(settings)} for one in totals]
        sums = {name: value for name, value in asdict(whole).items() if name not in {"model", "purpose"}}
        print_json({"usage": rows, "total": sums | {"cost": whole.cost(settings)}})
        return
    if not totals:
        say("no calls to models yet")
        return
    priced = whole.cost(settings) is not None
    right: list[tuple[str, Justify]] = [
        (name, "right") for name in ("calls", "cached", "input tokens", "output tokens", "seconds")
    ]
    if priced:
        right.append(("cost", "right"))
    table(
        ["model", "purpose", *right, "failures"],
        [
            (
                one.model,
                one.purpose,
                f"{one.calls:,}",
                f"{one.cached:,}",
                *(f"{'~' if one.estimated_calls else ''}{count:,}" for count in (one.input_tokens, one.output_tokens)),
                f"{one.seconds:,.1f}",
                *([f"{one.cost(settings) or 0.0:,.4f}"] if priced else []),
                reasons({kind.replace("_", " "): count for kind, count in one.failures.items()}) or None,
            )
            for one in (*totals, *([whole] if len(totals) > 1 else []))
        ],
    )
    if whole.estimated_calls:
        say("~: partly estimated, about four characters a token, where the endpoint does not count")


def entrance(settings: "Settings", address: "Address") -> dict[str, Any]:
    """How to get into the database by other programs, as plain values. The password stays in its file."""
    from assomem.server.home import Home

    return {
        "managed": address.managed,
        "uri": address.uri,
        "username": address.username,
        "database": address.database,
        "browser_url": address.browser_url,
        "password_file": str(Home.at(settings.home).password_file) if address.managed else None,
    }


def how_to_sign_in(entry: dict[str, Any]) -> list[str]:
    """Lines that lead a person into Neo4j Browser."""
    return [
        f"Neo4j Browser: {entry['browser_url']}",
        f"  Connect URL   {entry['uri']}",
        f"  Username      {entry['username']}",
        f"  Password      the content of {entry['password_file']}",
    ]


def _ask_version(settings: "Settings", address: "Address") -> dict[str, str | None]:
    """Versions of a server that is not ours, which it tells after a login."""
    from assomem.store import Store, gds_version, server_version

    store = Store(
        address.uri, username=address.username, password=address.password, database=address.database,
        timeout_seconds=settings.query_timeout_seconds,
    )  # fmt: skip
    try:
        return {"neo4j": server_version(store), "gds": gds_version(store)}
    finally:
        store.close()


def _opened(url: str) -> bool:
    """Open a page in a browser with windows; False where there is none: one that fills the terminal is no help."""
    import webbrowser

    try:
        found = webbrowser.get()
    except webbrowser.Error:
        return False
    return type(found) is not webbrowser.GenericBrowser and found.open(url)


def _size(number: int) -> str:
    return f"{number / 1e6:,.0f} MB"
