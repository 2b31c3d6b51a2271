"""Install, start, repair, stop: what `assomem.server` offers, for the managed server."""

import logging
import os
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assomem.downloads import Jar, fetch, locked
from assomem.errors import ServerError
from assomem.server.address import Address, external
from assomem.server.home import Home, Ports, free_port
from assomem.server.java import Java, environment, find_java, packaged_version
from assomem.server.process import decisive_line, is_alive, listens, running, start, stop, tail

if TYPE_CHECKING:
    import psutil

    from assomem.settings import Settings

log = logging.getLogger(__name__)

_USERNAME = "neo4j"
_DATABASE = "neo4j"
_START_TIMEOUT_SECONDS = 600  # for a server that recovers a large database after a crash; a failed one ends by itself
_UNAVAILABLE_SECONDS = 30
_ATTEMPTS = 4


@dataclass(frozen=True, slots=True)
class Status:
    """What is known about the server without asking it."""

    managed: bool
    running: bool | None
    """None: not our server, so only a login can tell."""
    uri: str | None
    """None: the managed server has never been started."""
    browser_url: str | None
    pid: int | None
    neo4j_version: str | None
    """Version of the managed server; None for another one."""
    gds_version: str | None
    java: str | None
    """Version of the packaged Java, or the program that the settings name."""
    home: Path | None
    cache: Path
    disk_bytes: int
    """Data, logs and configuration of the managed server."""
    cache_bytes: int
    """Downloads, which other homes may share."""
    log_file: Path | None


class _Refused(Exception):  # noqa: N818
    """The server is up and does not know our password."""


class _Failed(Exception):  # noqa: N818
    """The server ended or gave up; the text is the decisive line of its log."""


def locate(settings: "Settings", *, progress: bool = False) -> Address:
    """The server to use: the one that the settings name, contacted by nobody yet, else the managed one, running.

    Raises:
        SettingsError: the credentials file cannot be used.
        ServerError: see `up`.
    """
    address = external(settings)
    if address is None:
        address = up(settings, progress=progress)
    log.info("using %s Neo4j at %s", "the managed" if address.managed else "the given", address.uri)
    return address


def versions() -> tuple[str, str]:
    """Versions of Neo4j and its graph algorithms (OpenGDS) that the lock file names."""
    by_name = {jar.coordinates.rpartition(":")[0]: jar.coordinates.rpartition(":")[2] for jar in locked("lib")}
    gds = {
        jar.coordinates.rpartition(":")[2] for jar in locked("plugins") if jar.coordinates.startswith("org.neo4j.gds:")
    }
    return by_name["org.neo4j:neo4j"], gds.pop()


# -- up


def up(settings: "Settings", *, progress: bool = False) -> Address:
    """The managed server, installed if needed, started if needed, answering a login.

    Idempotent; processes that call it at the same time get the same server. It goes on running when the caller ends.
    The first call downloads 181 MB.

    Args:
        settings: `home`, `cache` and `java` are read.
        progress: draw a progress bar on stderr while downloading.

    Raises:
        DownloadError: something could not be downloaded; the next call goes on from there.
        ServerError: Java is missing or too old, the home cannot be written, or Neo4j does not start; the message has
            the decisive line of its log.
    """
    home = Home.at(settings.home)
    address = _answering(home)
    if address is not None:
        return address
    home.make_folders()
    with home.locked():
        address = _answering(home)
        if address is not None:
            return address
        process = running(home)
        if process is not None:
            address = _joined(home, process)
            if address is not None:
                return address
        try:
            return _started(home, find_java(settings.java), settings.cache, progress=progress)
        except OSError as error:
            raise ServerError(
                f"the home {home.folder} cannot be used ({error.strerror or type(error).__name__}: {error.filename}); "
                "free some space, or name another folder with ASSOMEM_HOME"
            ) from error


_PASSWORD_LOST = (
    "the password in {file} {what}; nothing was changed. Put the right one back, or let a new one be set: "
    "assomem down, then assomem up; what is stored stays"
)


def _jars() -> tuple[Jar, ...]:
    return locked("lib") + locked("plugins")


def _answering(home: Home) -> Address | None:
    """The server, if it runs and lets us in right now."""
    ports, password = home.ports(), home.password()
    if ports is None or password is None:
        return None
    process = running(home, quietly=True)
    if process is None or not (listens(process, ports.bolt) and listens(process, ports.http)):
        return None
    address = _address(ports, password)
    try:
        return address if _login(address) is None else None
    except (_Refused, _Failed):
        return None


def _joined(home: Home, process: "psutil.Process") -> Address | None:
    """The server that another process started and did not see through; None after stopping one that is no use.

    Raises:
        ServerError: it runs and has another password than ours; it is left alone, for others may be using it.
    """
    ports, password = home.ports(), home.password()
    if ports is not None and password is None:
        raise ServerError(_PASSWORD_LOST.format(file=home.password_file, what="is missing or empty"))
    if ports is not None and password is not None:
        try:
            address = _address(ports, password)
            _wait(home, process, address, (ports.bolt, ports.http))
        except _Refused:
            what = "is not the one of the running Neo4j"
            raise ServerError(_PASSWORD_LOST.format(file=home.password_file, what=what)) from None
        except _Failed as failure:
            log.warning("the server does not get ready (%s); restarting it", failure)
        else:
            return address
    stop(home, process)
    return None


def _started(home: Home, java: Java, cache: Path, *, progress: bool) -> Address:
    paths = fetch(_jars(), cache, progress=progress)
    began = time.monotonic()
    password = home.password()
    reset = password is None and home.initialised
    # Earlier versions made passwords that the admin program could not be told.
    if password is None or (password.startswith("-") and not home.initialised):
        password = home.new_password()
    verified = False
    failure: _Failed | None = None
    for _ in range(_ATTEMPTS):
        if reset:
            home.link_jars(paths)
            _reset_password(home, java, password)
        home.link_jars(paths)
        ports = home.choose_ports()
        home.write_conf(ports)
        if not home.initialised:
            _set_first_password(home, java)
        address = _address(ports, password)
        process = start(home, java)
        try:
            _wait(home, process, address, (ports.bolt, ports.http))
        except _Refused:
            if reset:
                raise ServerError(
                    f"Neo4j in {home.folder} refuses the password that was just set; see {home.log_file}"
                ) from None
            log.warning("the server does not know the stored password; setting it anew")
            reset = True
            stop(home, process)
        except _Failed as failed:
            failure = failed
            stop(home, process)
            if "already in use" in str(failed):
                log.warning("another program took port %d or %d meanwhile; trying again", ports.bolt, ports.http)
            elif not verified:
                # A damaged jar shows itself in many ways, so before giving up every jar is hashed.
                verified = True
                inodes = [path.stat().st_ino for path in paths.values()]
                paths = fetch(_jars(), cache, progress=progress, rehash=True)
                home.link_jars(paths, anew=True)
                if inodes == [path.stat().st_ino for path in paths.values()]:  # nothing was damaged
                    break
            else:
                break
        else:
            log.info(
                "started Neo4j %s in %.1f s: %s, log in %s",
                versions()[0],
                time.monotonic() - began,
                address.uri,
                home.log_file,
            )
            return address
    foreign = home.foreign_jars()
    remedy = (
        f"In {home.folder} lie jars that do not belong to it, which may be why: {', '.join(foreign)}. "
        if foreign
        else ""
    )
    raise ServerError(f"Neo4j does not start: {failure}. {remedy}Its output is in {home.console_log}")


def _address(ports: Ports, password: str) -> Address:
    return Address(
        uri=f"bolt://127.0.0.1:{ports.bolt}",
        username=_USERNAME,
        password=password,
        database=_DATABASE,
        browser_url=f"http://127.0.0.1:{ports.http}/browser/",
        managed=True,
    )


def _wait(home: Home, process: "psutil.Process", address: Address, ports: tuple[int, ...]) -> None:
    """Return when the server lets us in and its graph algorithms are the right ones.

    Raises:
        _Refused: it does not know our password.
        _Failed: it ended, or is up and of no use.
    """
    until = time.monotonic() + _START_TIMEOUT_SECONDS
    listening_since: float | None = None
    reason: str | None = None
    while True:
        if not is_alive(process):
            raise _Failed(decisive_line(home))
        now = time.monotonic()
        if all(listens(process, port) for port in ports):  # HTTP comes last and may still end the server
            listening_since = listening_since or now
            reason = _login(address)
            if reason is None:
                return
        if now > until or (listening_since is not None and now - listening_since > _UNAVAILABLE_SECONDS):
            raise _Failed(f"{reason or 'it does not answer'}; last in its log: {decisive_line(home)}")
        time.sleep(0.1)


def _login(address: Address) -> str | None:
    """Log in and ask for the version of the graph algorithms; why that does not work yet, or None.

    Raises:
        _Refused: the password is not the server's.
        _Failed: the graph algorithms are not there, or not the right ones.
    """
    from neo4j import GraphDatabase
    from neo4j.exceptions import AuthError, DriverError, Neo4jError

    from assomem.store import load

    try:
        with GraphDatabase.driver(
            address.uri,
            auth=(address.username, address.password) if address.password else None,
            connection_timeout=5,
            connection_acquisition_timeout=10,
            max_transaction_retry_time=0,
            telemetry_disabled=True,
        ) as driver:
            records, _, _ = driver.execute_query(load("schema/gds").text, database_=_DATABASE)
    except AuthError:
        raise _Refused from None
    except Neo4jError as error:
        if error.code == "Neo.ClientError.Statement.SyntaxError":
            raise _Failed(f"the graph algorithms (OpenGDS {versions()[1]}) are not loaded") from None
        return f"{error.code}"
    except DriverError as error:
        return type(error).__name__
    loaded = str(records[0]["version"])
    if loaded != versions()[1]:
        raise _Failed(f"OpenGDS {loaded} is loaded, {versions()[1]} is needed")
    return None


# -- password


def _set_first_password(home: Home, java: Java) -> None:
    """Tell a server that has never been started its password. May be repeated until it has been."""
    done = subprocess.run(
        [
            str(java.program),
            "-XX:TieredStopAtLevel=1",
            "--sun-misc-unsafe-memory-access=allow",
            "-cp",
            "lib/*",
            "org.neo4j.cli.AdminTool",
            "dbms",
            "set-initial-password",
            "@password",  # read from the file: a command line can be seen by every user
        ],
        cwd=home.folder,
        env={**environment(), "NEO4J_HOME": str(home.folder), "NEO4J_CONF": str(home.conf)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        raise ServerError(f"Neo4j's initial password cannot be set: {done.stderr.strip().splitlines()[-1:]}")


def _reset_password(home: Home, java: Java, password: str) -> None:
    """Set the password of a database whose password was lost.

    As Neo4j's manual says: started once without authentication, on loopback, here also on a port that nobody knows
    and without HTTP.
    """
    log.info("setting a new password for the database in %s", home.folder)
    ports = Ports(free_port(), free_port())
    home.write_conf(ports, more={"dbms.security.auth_enabled": "false", "server.http.enabled": "false"})
    process = start(home, java)
    try:
        _wait(home, process, _address(ports, ""), (ports.bolt,))
        _alter_password(_address(ports, "").uri, password)
    except _Failed as failure:
        raise ServerError(f"Neo4j does not start: {failure}; see {home.console_log}") from None
    finally:
        stop(home, process)


def _alter_password(uri: str, password: str) -> None:
    from neo4j import GraphDatabase

    from assomem.store import load

    with GraphDatabase.driver(uri, telemetry_disabled=True) as driver:
        driver.execute_query(
            load("server/set_password").text,
            {"password": password},
            database_="system",
        )


# -- down, status, logs, remove


def down(settings: "Settings") -> bool:
    """Stop the managed server cleanly; True if it was running. Data stays. Touches no other process.

    Raises:
        ServerError: it does not stop.
    """
    home = Home.at(settings.home)
    if not home.folder.is_dir() or running(home, quietly=True) is None:
        return False
    with home.locked():
        return _down(home)


def _down(home: Home) -> bool:
    process = running(home)
    if process is None:
        home.pid_file.unlink(missing_ok=True)
        return False
    stop(home, process)
    log.info("stopped Neo4j (pid %d)", process.pid)
    return True


def status(settings: "Settings") -> Status:
    """What is known about the server without starting or asking it.

    Raises:
        SettingsError: the credentials file cannot be used.
    """
    cache_bytes = _size_bytes(settings.cache / "jars")
    given = external(settings)
    if given is not None:
        return Status(
            managed=False,
            running=None,
            uri=given.uri,
            browser_url=None,
            pid=None,
            neo4j_version=None,
            gds_version=None,
            java=None,
            home=None,
            cache=settings.cache,
            disk_bytes=0,
            cache_bytes=cache_bytes,
            log_file=None,
        )
    home = Home.at(settings.home)
    process, ports = running(home, quietly=True), home.ports()
    address = None if ports is None else _address(ports, "")
    neo4j_version, gds_version = versions()
    return Status(
        managed=True,
        running=process is not None,
        uri=None if address is None else address.uri,
        browser_url=None if address is None else address.browser_url,
        pid=None if process is None else process.pid,
        neo4j_version=neo4j_version,
        gds_version=gds_version,
        java=packaged_version() if settings.java is None else str(settings.java),
        home=home.folder,
        cache=settings.cache,
        disk_bytes=sum(_size_bytes(folder) for folder in (home.data, home.logs, home.conf)),
        cache_bytes=cache_bytes,
        log_file=home.log_file,
    )


def _size_bytes(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):  # a running server deletes files of its own
                total += (Path(parent) / name).stat().st_size
    return total


def logs(settings: "Settings", lines: int = 50) -> str:
    """The last lines of the managed server's log; empty when it has never been started.

    Raises:
        ServerError: the settings name another server, whose log is not ours to read.
    """
    given = external(settings)
    if given is not None:
        raise ServerError(f"the server at {given.uri} was not started by this program; read its log where it runs")
    home = Home.at(settings.home)
    return "\n".join(tail(home.log_file, lines) or tail(home.console_log, lines))


def remove(settings: "Settings") -> None:
    """Stop the managed server and delete its data, password, configuration and logs. Downloads stay.

    Raises:
        ServerError: it does not stop.
    """
    home = Home.at(settings.home)
    if not home.folder.is_dir():
        return
    with home.locked():
        _down(home)
        home.remove()
