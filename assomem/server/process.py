"""The server's process: started detached, recognised without a doubt, stopped cleanly."""

import json
import logging
import os
import re
import socket
import subprocess
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assomem.errors import ServerError
from assomem.server.home import Home
from assomem.server.java import Java, environment, home_argument, server_command

if TYPE_CHECKING:
    import psutil

log = logging.getLogger(__name__)

_STOP_TIMEOUT_SECONDS = 180
_CLOCK_STEP_SECONDS = 5.0
_MAIN_CLASS = "org.neo4j.server.Neo4jCommunity"


def running(home: Home, *, quietly: bool = False) -> "psutil.Process | None":
    """The server of this home, or None. `quietly`: no warning about a record that does not hold.

    A pid alone says nothing: it may be left from before a crash or a reboot and belong to another program by now. So
    the record also holds the start time and the boot, and the process must have been started with this home. Without
    a record that holds, our server is looked for among all processes.
    """
    import psutil

    recorded = _recorded(home, logging.DEBUG if quietly else logging.WARNING)
    if recorded is not None and _is_server(recorded, home):
        return recorded
    if not home.data.is_dir():
        return None
    for process in psutil.process_iter():
        if _is_server(process, home):
            return process
    return None


def _recorded(home: Home, level: int) -> "psutil.Process | None":
    """The process that the pid file names, if it is still that one."""
    import psutil

    try:
        record: Any = json.loads(home.pid_file.read_bytes())
        pid, started_at, boot = int(record["pid"]), float(record["started_at"]), str(record["boot"])
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, TypeError, KeyError):
        log.log(level, "%s is damaged; looking for the server among all processes", home.pid_file)
        return None
    if boot != _boot():
        log.log(level, "%s is from before this machine was restarted; it is not used", home.pid_file)
        return None
    try:
        process = psutil.Process(pid)
        same = abs(process.create_time() - started_at) < _CLOCK_STEP_SECONDS
    except (psutil.Error, ValueError, OverflowError):
        log.log(level, "the server (pid %d) ended without being stopped", pid)
        return None
    if not same:
        log.log(
            level,
            "%s names process %d, which is another program by now; it is left alone",
            home.pid_file,
            pid,
        )
        return None
    return process


def _is_server(process: "psutil.Process", home: Home) -> bool:
    import psutil

    try:
        arguments = process.cmdline()  # empty for a process that ended and was not yet collected
        return _MAIN_CLASS in arguments and home_argument(home.folder) in arguments
    except psutil.Error:  # ended meanwhile, or somebody else's
        return False


def _boot() -> str:
    """Which boot of the machine this is."""
    import psutil

    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return str(round(psutil.boot_time() / 60))  # the clock may have been set a little since


def start(home: Home, java: Java) -> "psutil.Process":
    """Start the server, detached from this process and its terminal, and record it."""
    import psutil

    with home.console_log.open("wb") as console:
        child = subprocess.Popen(
            server_command(java, home.folder),
            cwd=home.folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    # Collects the process if it ends while we live; else it would stay in the process table.
    threading.Thread(target=child.wait, name="assomem-server", daemon=True).start()
    try:
        process = psutil.Process(child.pid)
        record = {"pid": process.pid, "started_at": process.create_time(), "boot": _boot()}
    except psutil.Error:
        raise ServerError(f"Neo4j ended at once: {decisive_line(home)}; see {home.console_log}") from None
    aside = home.pid_file.with_name("server.pid.new")
    aside.write_text(json.dumps(record), encoding="utf-8")
    aside.replace(home.pid_file)
    return process


def is_alive(process: "psutil.Process") -> bool:
    """It runs, and its pid was not given to another process; one that merely waits to be collected does not."""
    import psutil

    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def listens(process: "psutil.Process", port: int) -> bool:
    """The process itself listens on this port: whoever answers there is it, not another program."""
    import psutil

    with closing(socket.socket()) as asked:  # cheap, and no for most of a start
        asked.settimeout(1)
        if asked.connect_ex(("127.0.0.1", port)) != 0:
            return False
    try:
        return any(
            connection.status == psutil.CONN_LISTEN and connection.laddr.port == port
            for connection in process.net_connections(kind="tcp")
        )
    except psutil.Error:
        return False


def stop(home: Home, process: "psutil.Process") -> None:
    """Let the server close its files and end; about 10 s.

    Raises:
        ServerError: it has not ended after three minutes.
    """
    import psutil

    with suppress(psutil.NoSuchProcess):
        process.terminate()
    until = time.monotonic() + _STOP_TIMEOUT_SECONDS
    while is_alive(process):
        if time.monotonic() > until:
            raise ServerError(
                f"Neo4j (pid {process.pid}) was asked to stop and still runs after {_STOP_TIMEOUT_SECONDS} s; see "
                f"{home.log_file}. `kill -9 {process.pid}` ends it; it recovers at its next start"
            )
        time.sleep(0.05)
    home.pid_file.unlink(missing_ok=True)
    home.drop_alias()


def decisive_line(home: Home) -> str:
    """The line of the last start's output that says why it failed."""
    lines = [line.strip() for line in tail(home.console_log, 400) if line.strip()]
    errors = [line for line in lines if " ERROR " in line or "Exception" in line or line.startswith("Error")]
    if not errors:
        return lines[-1] if lines else "it printed nothing"
    first = re.sub(r'^(Exception in thread "main"|[-\d]+ [:.\d]+\S* ERROR) *', "", errors[0])
    causes = [line.removeprefix("Caused by:").strip() for line in lines if line.startswith("Caused by:")]
    if not causes or causes[-1] in first:
        return first
    return f"{first} ({causes[-1]})"


def tail(path: Path, lines: int) -> list[str]:
    """The last lines of a text file, at most 64 KiB; none when there is no such file."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 65536))
            return file.read().decode("utf-8", errors="replace").splitlines()[-lines:]
    except FileNotFoundError:
        return []
