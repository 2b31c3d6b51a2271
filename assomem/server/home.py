"""The folder of the managed server: what lies where, and how it is made ready for a start."""

import json
import logging
import os
import secrets
import shutil
import socket
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from assomem.downloads import Jar
from assomem.errors import ServerError
from assomem.server.java import memory_bytes, page_cache_mib

log = logging.getLogger(__name__)

_USUAL_PORTS = (7687, 7474)
_LOCK_TIMEOUT_SECONDS = 1800
_READ_BY_JETTY = ("lib/org.neo4j.client.neo4j-browser-", "lib/org.eclipse.jetty.ee8.")
_ALIAS_PREFIX = "assomem-browser-"

# The settings that do not depend on the machine. docker/compose.yaml has the same ones.
FIXED_SETTINGS: Mapping[str, str] = {
    "server.https.enabled": "false",
    "dbms.security.procedures.unrestricted": "gds.*",
    "dbms.usage_report.enabled": "false",
    "client.allow_telemetry": "false",
    "db.query.default_language": "CYPHER_25",
    # The log of changes is needed for a restart after a crash, not for backups that nobody takes.
    "db.tx_log.rotation.retention_policy": "keep_none",
    "db.tx_log.preallocate": "false",
    # Parameters of queries are what people said.
    "db.logs.query.enabled": "OFF",
}


@dataclass(frozen=True, slots=True)
class Ports:
    """Where the server listens, on 127.0.0.1 alone."""

    bolt: int
    http: int


@dataclass(frozen=True, slots=True)
class Home:
    """Paths in the home, and what is remembered there. Making one touches no file."""

    folder: Path

    @classmethod
    def at(cls, folder: Path) -> "Home":
        """The home at this path, the same for every way to spell it."""
        return cls(folder.expanduser().resolve())

    @property
    def conf(self) -> Path:
        """Neo4j's configuration, written at every start."""
        return self.folder / "conf"

    @property
    def data(self) -> Path:
        """The databases and their users."""
        return self.folder / "data"

    @property
    def logs(self) -> Path:
        """What Neo4j writes about itself."""
        return self.folder / "logs"

    @property
    def console_log(self) -> Path:
        """What the last start printed, until it ended."""
        return self.logs / "console.log"

    @property
    def log_file(self) -> Path:
        """Neo4j's own log, across starts."""
        return self.logs / "neo4j.log"

    @property
    def pid_file(self) -> Path:
        """Our record of the process; `neo4j.pid` beside it is Neo4j's own and read by nobody."""
        return self.folder / "run" / "server.pid"

    @property
    def password_file(self) -> Path:
        """The generated password of the user neo4j, for this user's eyes only."""
        return self.folder / "password"

    @property
    def ports_file(self) -> Path:
        """The ports of the last start, tried first at the next."""
        return self.folder / "ports.json"

    @property
    def initialised(self) -> bool:
        """The server was started here once, so its users are in the database."""
        return (self.data / "databases" / "system").is_dir()

    # -- folders

    def make_folders(self) -> None:
        """Make what is missing, for the user's eyes only.

        Raises:
            ServerError: the home cannot be written.
        """
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not any(self.folder.iterdir()):  # ours from now on, whoever made it
                self.folder.chmod(0o700)
            for name in ("conf", "data", "logs", "run", "import", "lib", "plugins"):
                (self.folder / name).mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise ServerError(
                f"the home {self.folder} cannot be written ({error.strerror}); name another folder with ASSOMEM_HOME"
            ) from error

    @contextmanager
    def locked(self) -> Generator[None]:
        """Let one process at a time start or stop the server. The lock file stays: deleting it would split the lock.

        Raises:
            ServerError: another process holds the lock for half an hour.
        """
        from filelock import FileLock, Timeout

        lock = FileLock(self.folder / ".lock", timeout=0)
        try:
            lock.acquire()
        except Timeout:
            log.info("another process starts or stops the server in %s; waiting for it", self.folder)
            try:
                lock.acquire(timeout=_LOCK_TIMEOUT_SECONDS)
            except Timeout:
                raise ServerError(
                    f"another process has been starting or stopping the server in {self.folder} for "
                    f"{_LOCK_TIMEOUT_SECONDS // 60} minutes; end it and try again"
                ) from None
        try:
            yield
        finally:
            lock.release()

    def link_jars(self, paths: Mapping[Jar, Path], *, anew: bool = False) -> None:
        """Make `lib` and `plugins` hold these jars and none that an earlier version put there.

        Jars that the user added are left alone. `anew` replaces what is there whatever it looks like.
        """
        self.drop_alias()
        listed = self.conf / "jars.txt"
        wanted = {f"{jar.folder}/{jar.file_name}": path for jar, path in paths.items()}
        with suppress(FileNotFoundError):
            for name in listed.read_text(encoding="utf-8").splitlines():
                if name not in wanted:
                    (self.folder / name).unlink(missing_ok=True)
        listed.write_text("\n".join(wanted) + "\n", encoding="utf-8")
        for name, path in wanted.items():
            if anew:
                (self.folder / name).unlink(missing_ok=True)
            _place(path, self.folder / name)
        read_by_jetty = [self.folder / name for name in wanted if name.startswith(_READ_BY_JETTY)]
        unreadable = [path for path in read_by_jetty if not str(path.resolve()).isascii()]
        if unreadable:
            _alias(unreadable)

    def drop_alias(self) -> None:
        """Delete what `link_jars` made outside the home; it is made again at the next start."""
        for path in (self.folder / "lib").glob("*.jar"):
            if path.is_symlink() and (folder := path.readlink().parent).name.startswith(_ALIAS_PREFIX):
                shutil.rmtree(folder, ignore_errors=True)
                path.unlink()

    def foreign_jars(self) -> list[str]:
        """Names of jars in `lib` and `plugins` that the user put there, sorted."""
        ours = set((self.conf / "jars.txt").read_text(encoding="utf-8").splitlines())
        found = {f"{name}/{path.name}" for name in ("lib", "plugins") for path in (self.folder / name).glob("*.jar")}
        return sorted(found - ours)

    # -- password

    def password(self) -> str | None:
        """The stored password, or None when there is none."""
        try:
            return self.password_file.read_text(encoding="utf-8").strip() or None
        except (FileNotFoundError, NotADirectoryError):
            return None

    def new_password(self) -> str:
        """Generate and store a password that only this user can read."""
        # Digits and a to f: Neo4j's admin program takes what begins with a hyphen for an option.
        password = secrets.token_hex(24)
        aside = self.folder / "password.new"
        aside.unlink(missing_ok=True)
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(password + "\n")
        aside.replace(self.password_file)
        return password

    # -- ports

    def ports(self) -> Ports | None:
        """The remembered ports, or None."""
        try:
            found: Any = json.loads(self.ports_file.read_bytes())
            return Ports(int(found["bolt"]), int(found["http"]))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (ValueError, TypeError, KeyError):
            log.warning("%s is damaged; choosing the ports anew", self.ports_file)
            return None

    def choose_ports(self) -> Ports:
        """Remembered ports if free, else the usual ones, else any; remembered from now on."""
        remembered = self.ports()
        before = (remembered.bolt, remembered.http) if remembered is not None else _USUAL_PORTS
        chosen: list[int] = []
        for kind, wishes in zip(("Bolt", "HTTP"), zip(before, _USUAL_PORTS, strict=True), strict=True):
            port = next((wish for wish in wishes if _is_free(wish) and wish not in chosen), None)
            if port is None:
                port = free_port()
                log.info("port %d is taken by another program; using %d for %s", wishes[0], port, kind)
            chosen.append(port)
        ports = Ports(*chosen)
        if ports != remembered:
            aside = self.folder / "ports.json.new"
            aside.write_text(json.dumps({"bolt": ports.bolt, "http": ports.http}), encoding="utf-8")
            aside.replace(self.ports_file)
        return ports

    # -- configuration

    def write_conf(self, ports: Ports, *, more: Mapping[str, str] | None = None) -> None:
        """Write neo4j.conf; `more` wins over what it usually says."""
        values = {
            "server.default_listen_address": "127.0.0.1",
            "server.bolt.listen_address": f"127.0.0.1:{ports.bolt}",
            # Neo4j Browser asks the HTTP port where Bolt is and is told this.
            "server.bolt.advertised_address": f"127.0.0.1:{ports.bolt}",
            "server.http.listen_address": f"127.0.0.1:{ports.http}",
            "server.http.advertised_address": f"127.0.0.1:{ports.http}",
            "server.memory.pagecache.size": f"{page_cache_mib(memory_bytes())}m",
            # Bolt would listen for another 5 s, twice, before a stop: 10 s instead of half a second.
            "internal.dbms.bolt.netty_server_shutdown_quiet_period": "0",
            **FIXED_SETTINGS,
            **(more or {}),
        }
        lines = ["# Written by AssoMem at every start; changes made here are lost."]
        lines += [f"{name}={value}" for name, value in values.items()]
        (self.conf / "neo4j.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")

    # -- removal

    def remove(self) -> None:
        """Delete what we made: data, replies, settings, logs, password. Files of the user and the lock file stay."""
        self.drop_alias()
        with suppress(FileNotFoundError):
            for name in (self.conf / "jars.txt").read_text(encoding="utf-8").splitlines():
                (self.folder / name).unlink(missing_ok=True)
        for folder in (self.data, self.conf, self.logs, self.folder / "run"):
            if folder.is_dir():
                shutil.rmtree(folder)
        # What language models replied quotes the memories.
        for file in (self.password_file, self.ports_file, *self.folder.glob("models.sqlite3*")):
            file.unlink(missing_ok=True)
        for name in ("lib", "plugins", "import"):
            with suppress(OSError):  # not empty: the user put something there
                (self.folder / name).rmdir()


def _place(source: Path, target: Path) -> None:
    """Let the target be the source: the same file where the file system can do that, else a link, else a copy."""
    with suppress(OSError):
        if target.samefile(source):
            return
        now, then = target.stat(), source.stat()
        if (now.st_size, now.st_mtime_ns) == (then.st_size, then.st_mtime_ns) and not target.is_symlink():
            return  # a copy made earlier
    target.unlink(missing_ok=True)
    # A second name first: it costs no space and outlives a cleaned cache.
    for link in (os.link, os.symlink):
        with suppress(OSError):
            link(source, target)
            return
    shutil.copy2(source, target)


def _alias(jars: Sequence[Path]) -> None:
    """Give these jars a path in ASCII: a second name, or a copy, in the temporary folder.

    Jetty, which serves Neo4j Browser, cannot read a jar in a folder with an accent in its name ("Bad escape"), and Java
    follows links before Jetty sees the path.
    """
    aside = Path(tempfile.mkdtemp(prefix=_ALIAS_PREFIX, dir=None if tempfile.gettempdir().isascii() else "/tmp"))
    for jar in jars:
        try:
            os.link(jar.resolve(), aside / jar.name)
        except OSError:  # another file system
            shutil.copy2(jar, aside / jar.name)
        jar.unlink()
        jar.symlink_to(aside / jar.name)


def _is_free(port: int) -> bool:
    with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as asked:
        asked.settimeout(1)
        if asked.connect_ex(("127.0.0.1", port)) == 0:
            return False
    with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does: a port just left is free
        try:
            bound.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """A port of this machine nobody listens on."""
    with closing(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) as bound:
        bound.bind(("127.0.0.1", 0))
        return cast(int, bound.getsockname()[1])
