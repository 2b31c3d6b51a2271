"""One managed server for the whole run, in a temporary home; each test has a memory of its own."""

import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import hypothesis
import pytest

from assomem import AssoMem, Settings, graph, read_settings
from assomem.models.doubles import HashingEmbedder
from assomem.postings import GONE, Layout, unpack_postings
from assomem.server import Address, down, locate, up
from assomem.store import Query, Store, Transaction, gds_version, load, prepare, server_version

Dump = dict[str, dict[str, Any]]
"""Nodes and links by names that do not depend on the memory's name, each with its properties."""

# A busy machine must not fail a property.
hypothesis.settings.register_profile("assomem", deadline=None)
hypothesis.settings.load_profile("assomem")

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
def shared_settings(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Settings:
    """Settings of the test server: a temporary home, or the server that ASSOMEM_TEST_NEO4J_URI names."""
    given: dict[str, object] = {"home": tmp_path_factory.mktemp("home"), "cache": cache, "timezone": "UTC"}
    if "ASSOMEM_TEST_NEO4J_URI" in _GIVEN:
        given["neo4j_uri"] = _GIVEN["ASSOMEM_TEST_NEO4J_URI"]
        given["neo4j_password"] = _GIVEN.get("ASSOMEM_TEST_NEO4J_PASSWORD", "")
    return read_settings(**given)


@pytest.fixture(scope="session")
def settings(shared_settings: Settings) -> Settings:
    """The same under a shorter name, which the tests of the server itself use for their own."""
    return shared_settings


@pytest.fixture(scope="session")
def server(shared_settings: Settings) -> Iterator[Address]:
    """The address of a real Neo4j with GDS, running for the whole session."""
    settings = shared_settings
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


@dataclass(frozen=True)
class SmallModel:
    """A real language model, SmolLM2-135M, behind OpenAI's protocol on loopback. About 50 tokens a second."""

    base_url: str
    name: str

    @property
    def environment(self) -> dict[str, str]:
        """What a user sets to have it."""
        return {"OPENAI_BASE_URL": self.base_url, "ASSOMEM_CHAT_MODEL": self.name}


@pytest.fixture(scope="session")
def small_model() -> Iterator[SmallModel]:
    """Started once, at the first test that wants it; ends with the tests, also when they are killed."""
    program = Path(__file__).parent / "serve_small_model.py"
    with subprocess.Popen(
        [sys.executable, str(program)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8",
    ) as serving:  # fmt: skip
        assert serving.stdout is not None
        address = serving.stdout.readline().strip()
        assert address, f"the small model did not start; see what this says: {sys.executable} {program}"
        yield SmallModel(f"{address}/v1", "smollm2")
        serving.terminate()


@pytest.fixture
def memory_name(store: Store) -> Iterator[str]:
    """A name that no other test uses; every memory whose name begins with it is forgotten afterwards."""
    name = f"test {uuid4().hex[:12]}"
    yield name
    for row in store.read(load("memories/list")):
        if row["memory"].startswith(name):
            graph.forget_memory(store, row["memory"], graph.Neighbours())


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


_NODES = Query(
    "tests/nodes",
    "CYPHER 25 MATCH (node) WHERE node.memory = $memory OR (node:Memory AND node.name = $memory) "
    "RETURN elementId(node) AS id, labels(node) AS labels, properties(node) AS properties",
    frozenset({"memory"}),
    ("id", "labels", "properties"),
)
_LINKS = Query(
    "tests/links",
    "CYPHER 25 MATCH (one)-[link]->(other) WHERE one.memory = $memory OR other.memory = $memory "
    "RETURN elementId(one) AS one, elementId(other) AS other, type(link) AS type, properties(link) AS properties",
    frozenset({"memory"}),
    ("one", "other", "type", "properties"),
)
_OF_ITS_MEMORY = frozenset({"memory", "name", "uid", "key", "revision", "created_at"})
"""Properties that differ between two memories that hold the same."""
_OF_ITS_HISTORY = frozenset({"ordinal", "number", "next_ordinal", "next_session"})
"""Properties that differ between two memories that came to hold the same in different ways."""


@pytest.fixture(scope="session")
def dump() -> Callable[[Store | Transaction, str], Dump]:
    """Gives every node and link of a memory with all of its properties."""
    return _dump


@pytest.fixture(scope="session")
def contents() -> Callable[[Store | Transaction, str], Dump]:
    """Gives the same without what differs between two memories that hold the same: equal for equal imports."""

    def of_memory(store: Store | Transaction, memory: str) -> Dump:
        return {name: _without(properties, _OF_ITS_MEMORY) for name, properties in _dump(store, memory).items()}

    return of_memory


@pytest.fixture(scope="session")
def meaning() -> Callable[[Store | Transaction, str], Dump]:
    """Gives the same with ordinals resolved and SIMILAR undirected: equal whatever was forgotten on the way."""
    return _meaning


def _dump(store: Store | Transaction, memory: str) -> Dump:
    read = store.run if isinstance(store, Transaction) else store.read
    nodes = {row["id"]: row for row in read(_NODES, memory=memory)}
    utterances = {
        row["properties"]["uid"]: row["properties"]["utterance_id"]
        for row in nodes.values()
        if "Utterance" in row["labels"]
    }
    names = {identifier: _name(row["labels"], row["properties"], utterances) for identifier, row in nodes.items()}
    links = [
        (f"{names.get(row['one'])} -{row['type']}-> {names.get(row['other'])}", row["properties"])
        for row in read(_LINKS, memory=memory)
    ]
    return _by_name([*((names[key], row["properties"]) for key, row in nodes.items()), *links])


def _name(labels: list[str], properties: Mapping[str, Any], utterances: Mapping[str, str]) -> str:
    match "".join(labels):
        case "Utterance":
            rest = [properties["utterance_id"]]
        case "Session":
            rest = [properties["session_id"]]
        case "Clue":
            rest = [properties["kind"], properties["text"]]
        case "Piece":
            uid, _, index = str(properties["uid"]).partition(":")
            rest = [utterances[uid], index]
        case "Posting":
            rest = [properties["term"], properties["chunk"]]
        case "Layout":
            rest = [properties["chunk"]]
        case _:
            rest = []
    return " ".join(map(str, [*labels, *rest]))


def _by_name(found: Iterable[tuple[str, Mapping[str, Any]]]) -> Dump:
    """By name; a second thing of the same name gets a number and is not hidden."""
    named: Dump = {}
    for name, properties in found:
        number, unique = 1, name
        while unique in named:
            number += 1
            unique = f"{name} ({number})"
        named[unique] = {key: _plain(value) for key, value in sorted(properties.items())}
    return named


def _plain(value: Any) -> Any:
    if hasattr(value, "iso_format"):
        return value.iso_format()
    if isinstance(value, list):
        return [_plain(one) for one in value]  # pyright: ignore[reportUnknownVariableType]
    return value


def _without(properties: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    return {key: value for key, value in properties.items() if key not in names}


def _meaning(store: Store | Transaction, memory: str) -> Dump:
    found = _dump(store, memory)
    left = _OF_ITS_MEMORY | _OF_ITS_HISTORY
    spoken = {one["ordinal"]: name for name, one in found.items() if name.startswith("Utterance ") and "ordinal" in one}
    sessions = {one["number"]: name for name, one in found.items() if name.startswith("Session ") and "number" in one}
    result: Dump = defaultdict(dict)
    layouts = sorted((one["chunk"], one["places"]) for name, one in found.items() if name.startswith("Layout "))
    layout = Layout.unpack([places for _, places in layouts])
    for ordinal in range(len(layout.session)):
        if layout.session[ordinal] != GONE:
            result["Layout"][spoken[ordinal]] = (
                sessions[int(layout.session[ordinal])],
                int(layout.position[ordinal]),
                int(layout.length[ordinal]),
                int(layout.instant[ordinal]),
            )
    for name, properties in found.items():
        if name.startswith("Posting "):
            ordinals, counts = unpack_postings(properties["entries"])
            entries = Counter({spoken[int(one)]: int(count) for one, count in zip(ordinals, counts, strict=True)})
            assert len(entries) == len(ordinals), f"{name}: an utterance is listed twice"
            result[f"Posting {properties['term']}"] |= entries
        elif " -SIMILAR-> " in name:
            # a @ b and b @ a may differ in their last bits.
            score = round(properties["score"], 4)
            result[" -SIMILAR- ".join(sorted(name.split(" -SIMILAR-> ")))] = {"score": score}
        elif not name.startswith("Layout "):
            result[name] = _without(properties, left)
    return dict(result)
