"""Downloads are all or nothing, checked, kept, and never asked for again."""

import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import assomem.downloads
from assomem.downloads import Jar, fetch, locked
from assomem.errors import DownloadError


class Registry(ThreadingHTTPServer):
    """A small real registry; `trouble` says what happens to the paths that hold a given text."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.trouble: dict[str, str] = {}
        self.asked: list[str] = []

    def jar(self, name: str, content: bytes | None = None) -> Jar:
        content = name.encode() * 5000 if content is None else content
        self.files[f"/org/example/{name}/1.0/{name}-1.0.jar"] = content
        return Jar("lib", f"org.example:{name}:1.0", hashlib.sha256(content).hexdigest(), len(content))

    def times_asked(self, name: str) -> int:
        return sum(path.endswith(f"/{name}-1.0.jar") for path in self.asked)


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        registry = self.server
        assert isinstance(registry, Registry)
        registry.asked.append(self.path)
        content = registry.files.get(self.path)
        trouble = next((says for text, says in registry.trouble.items() if f"/{text}-" in self.path), "")
        if content is None or trouble == "missing":
            self.send_error(404)
            return
        if trouble == "page":
            content = b"<!doctype html><title>Please sign in</title>"
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if trouble == "cut" else content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the base class's name)
        pass


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Registry]:
    with Registry() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        jgo_configuration = tmp_path / "jgo.conf"
        jgo_configuration.write_text(
            f"[repositories]\ncentral = http://127.0.0.1:{server.server_address[1]}\n", encoding="utf-8"
        )
        monkeypatch.setenv("JGO_CONFIG_FILE", str(jgo_configuration))
        yield server
        server.shutdown()
        thread.join()


def contents(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_lock_file_names_every_jar_once_with_a_hash_and_a_size() -> None:
    jars = locked("lib") + locked("plugins") + locked("model")
    assert len({jar.file_name for jar in jars}) == len(jars) == 393
    assert all(len(jar.sha256) == 64 and jar.size_bytes > 0 for jar in jars)
    assert {jar.folder for jar in jars} == {"lib", "plugins", "model"}
    with pytest.raises(KeyError):
        locked("nowhere")


def test_a_file_name_begins_with_the_group_and_ends_with_the_classifier() -> None:
    plain = Jar("plugins", "org.neo4j.gds:annotations:2.26.0", "0" * 64, 1)
    native = Jar("lib", "io.netty:netty-epoll:4.2.9.Final:linux-x86_64", "0" * 64, 1)
    assert plain.file_name == "org.neo4j.gds.annotations-2.26.0.jar"
    assert native.file_name == "io.netty.netty-epoll-4.2.9.Final-linux-x86_64.jar"


def test_a_jar_is_downloaded_once_kept_once_and_needs_no_network_afterwards(registry: Registry, tmp_path: Path) -> None:
    jars = [registry.jar("a"), registry.jar("b")]
    paths = fetch(jars, tmp_path / "cache")
    assert [path.read_bytes() for path in paths.values()] == [b"a" * 5000, b"b" * 5000]
    assert contents(tmp_path / "cache" / "jars") == [
        ".checked.json",
        ".lock",
        "org.example.a-1.0.jar",
        "org.example.b-1.0.jar",
    ]
    registry.files.clear()
    assert fetch(jars, tmp_path / "cache") == paths
    assert (registry.times_asked("a"), registry.times_asked("b")) == (1, 1)


def test_a_full_cache_is_used_without_loading_the_downloader(registry: Registry, tmp_path: Path) -> None:
    jar = registry.jar("a")
    fetch([jar], tmp_path)
    script = (
        "import sys, pathlib; from assomem.downloads import Jar, fetch\n"
        f"jar = Jar({jar.folder!r}, {jar.coordinates!r}, {jar.sha256!r}, {jar.size_bytes})\n"
        "fetch([jar], pathlib.Path(sys.argv[1]))\n"
        "sys.exit(len({'jgo', 'requests', 'rich'} & set(sys.modules)))"
    )
    package = Path(assomem.downloads.__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": str(package)},
        check=False,
    )
    assert done.returncode == 0


@pytest.mark.parametrize("trouble", ["cut", "page", "missing"])
def test_a_bad_download_is_named_leaves_nothing_half_done_and_the_next_fetch_repairs_it(
    registry: Registry, tmp_path: Path, trouble: str
) -> None:
    jars = [registry.jar("good"), registry.jar("bad")]
    registry.trouble["bad"] = trouble
    with pytest.raises(DownloadError, match=r"org\.example:bad:1\.0.* 1 of 2 files .*run the same command again"):
        fetch(jars, tmp_path)
    assert contents(tmp_path / "jars") == [".checked.json", ".lock", "org.example.good-1.0.jar"]
    registry.trouble.clear()
    paths = fetch(jars, tmp_path)
    assert paths[jars[1]].read_bytes() == b"bad" * 5000
    assert registry.times_asked("good") == 1


def test_a_network_that_is_away_is_named(registry: Registry, tmp_path: Path) -> None:
    jar = registry.jar("a")
    registry.socket.close()
    with pytest.raises(DownloadError, match=r"org\.example:a:1\.0: the connection failed"):
        fetch([jar], tmp_path)


def test_a_damaged_jar_in_the_cache_is_fetched_again(registry: Registry, tmp_path: Path) -> None:
    jars = [registry.jar("a"), registry.jar("b")]
    paths = fetch(jars, tmp_path)
    paths[jars[0]].write_bytes(b"x" * 5000)
    assert fetch(jars, tmp_path)[jars[0]].read_bytes() == b"a" * 5000
    assert (registry.times_asked("a"), registry.times_asked("b")) == (2, 1)


def test_damage_that_kept_size_and_time_is_found_by_hashing_again(registry: Registry, tmp_path: Path) -> None:
    jar = registry.jar("a")
    path = fetch([jar], tmp_path)[jar]
    before = path.stat()
    path.write_bytes(b"x" * 5000)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    registry.trouble["a"] = "missing"
    with pytest.raises(DownloadError, match=r"org\.example:a"):
        fetch([jar], tmp_path, rehash=True)
    with pytest.raises(DownloadError, match=r"org\.example:a"):  # and is not trusted again after the failure
        fetch([jar], tmp_path)
    registry.trouble.clear()
    assert fetch([jar], tmp_path)[jar].read_bytes() == b"a" * 5000


@pytest.mark.parametrize("stamp", ["", "{", "[]", '{"org.example.a-1.0.jar": "x"}'])
def test_a_damaged_stamp_costs_a_hash_and_no_download(registry: Registry, tmp_path: Path, stamp: str) -> None:
    jar = registry.jar("a")
    fetch([jar], tmp_path)
    (tmp_path / "jars" / ".checked.json").write_text(stamp, encoding="utf-8")
    fetch([jar], tmp_path)
    assert registry.times_asked("a") == 1


def test_what_a_killed_download_left_behind_is_cleared(registry: Registry, tmp_path: Path) -> None:
    left = tmp_path / "jars" / ".incoming" / "0" / "0" / "org" / "example" / "a" / "1.0" / "a-1.0.jar"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"half")
    jar = registry.jar("a")
    assert fetch([jar], tmp_path)[jar].read_bytes() == b"a" * 5000
    assert not (tmp_path / "jars" / ".incoming").exists()


def test_those_who_fetch_at_the_same_time_download_once(registry: Registry, tmp_path: Path) -> None:
    jars = [registry.jar(f"jar{number}") for number in range(20)]
    with ThreadPoolExecutor(4) as pool:
        results = [task.result() for task in [pool.submit(fetch, jars, tmp_path) for _ in range(4)]]
    assert all(result == results[0] for result in results)
    assert {registry.times_asked(f"jar{number}") for number in range(20)} == {1}


def test_a_cache_that_cannot_be_written_is_named(registry: Registry, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DownloadError, match="ASSOMEM_CACHE"):
        fetch([registry.jar("a")], tmp_path / "file")


def test_progress_goes_to_stderr_alone(registry: Registry, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fetch([registry.jar("a")], tmp_path, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    assert "downloading" in err
