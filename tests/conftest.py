"""One managed server for the whole run, in a temporary home; each test has a memory of its own."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from uuid import uuid4

import pytest

from assomem import AssoMem, Settings, read_settings
from assomem.models.doubles import HashingEmbedder
from assomem.server import Address, down, locate, up
from assomem.store import Store, gds_version, prepare, server_version

Run = Callable[..., subprocess.CompletedProcess[str]]

_GIVEN = {
    name: os.environ[name]
    for name in (
        "ASSOMEM_TEST_CACHE",
        "ASSOMEM_TEST_DATA",
        "ASSOMEM_TEST_NEO4J_URI",
        "ASSOMEM_TEST_NEO4J_PASSWORD",
        "ASSOMEM_CACHE",
    )
    if name in os.environ
}


def pytest_configure(config: pytest.Config) -> None:
    """Nothing of the user's environment reaches a test."""
    del config
    for name in list(os.environ):
        if name.startswith(("ASSOMEM_", "OPENAI_")) and name not in _GIVEN:
            del os.environ[name]
    os.environ.pop("ASSOMEM_CACHE", None)


@pytest.fixture(scope="session")
def cache() -> Path:
    """Verified downloads, shared with the user's own."""
    given = _GIVEN.get("ASSOMEM_TEST_CACHE") or _GIVEN.get("ASSOMEM_CACHE")
    return Path(given) if given else read_settings().cache


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Settings:
    """Settings of the test server: a temporary home, or the server that ASSOMEM_TEST_NEO4J_URI names."""
    given: dict[str, object] = {"home": tmp_path_factory.mktemp("home"), "cache": cache, "timezone": "UTC"}
    if "ASSOMEM_TEST_NEO4J_URI" in _GIVEN:
        given["neo4j_uri"] = _GIVEN["ASSOMEM_TEST_NEO4J_URI"]
        given["neo4j_password"] = _GIVEN.get("ASSOMEM_TEST_NEO4J_PASSWORD", "")
    return read_settings(**given)


@pytest.fixture(scope="session")
def server(settings: Settings) -> Iterator[Address]:
    """The address of a real Neo4j with GDS, running for the whole session."""
    yield locate(settings) if settings.neo4j_uri else up(settings)
    if not settings.neo4j_uri:
        down(settings)


@pytest.fixture(scope="session")
def store(server: Address) -> Iterator[Store]:
    """The test server's database, with its schema."""
    opened = Store(server.uri, username=server.username, password=server.password, database=server.database)
    prepare(opened)
    yield opened
    opened.close()


@pytest.fixture(scope="session", autouse=True)
def _say_versions(request: pytest.FixtureRequest, store: Store) -> None:
    """Put the versions of server and plugin at the head of the report: tests never run against anything else."""
    reporter = request.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        reporter.write_line(f"Neo4j {server_version(store)}, GDS {gds_version(store)}")


@pytest.fixture
def memory_name() -> str:
    """A name that no other test uses."""
    return f"test {uuid4().hex[:12]}"


@pytest.fixture
def memory(server: Address, settings: Settings, memory_name: str) -> Iterator[AssoMem]:
    """An empty memory with the double embedder: quick, and the same on every machine."""
    del server
    with AssoMem(memory_name, settings=settings, embedder=HashingEmbedder()) as opened:
        yield opened


@pytest.fixture
def open_memory(server: Address, settings: Settings) -> Iterator[Callable[[str], AssoMem]]:
    """Opens memories by name with the default embedder, and closes them."""
    del server
    opened: list[AssoMem] = []

    def open_one(name: str) -> AssoMem:
        opened.append(AssoMem(name, settings=settings))
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


@pytest.fixture
def environment(server: Address, settings: Settings, tmp_path: Path) -> dict[str, str]:
    """The environment of a user whose server is the test server, without anything else of ours in it."""
    del tmp_path
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ASSOMEM_", "OPENAI_"))}
    given = {"ASSOMEM_HOME": str(settings.home), "ASSOMEM_CACHE": str(settings.cache)}
    if not server.managed:
        given |= {"ASSOMEM_NEO4J_URI": server.uri, "ASSOMEM_NEO4J_PASSWORD": server.password}
    return kept | given


@pytest.fixture
def run(environment: dict[str, str], tmp_path: Path) -> Run:
    """Runs `python -m assomem ARGUMENTS` in an empty folder against the test server."""

    def run_one(
        *arguments: str, stdin: bytes | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "assomem", *arguments],
            input=stdin or b"",
            capture_output=True,
            cwd=tmp_path,
            env=environment | dict(env or {}),
            timeout=240,
            check=False,
        )
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8", "replace")
        )

    return run_one
