"""The way to Neo4j: errors in one clear sentence, one try at a wrong password, nothing shared between processes."""

import multiprocessing
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assomem import AssoMem, Settings, Utterance
from assomem.errors import ClosedError, LoginRefused, QueryParameterError, StoreError, StoreUnavailable
from assomem.models.doubles import HashingEmbedder
from assomem.server import Address
from assomem.server.home import free_port
from assomem.store import Query, Store, Transaction, gds_version, load, prepare, server_version

ONE = Query("tests/one", "RETURN $value AS value", frozenset({"value"}), ("value",))
MAKE = Query("tests/make", "CREATE (:TestStore {name: $name})", frozenset({"name"}), ())
COUNT = Query("tests/count", "MATCH (n:TestStore {name: $name}) RETURN count(n) AS n", frozenset({"name"}), ("n",))
CLEAR = Query("tests/clear", "MATCH (n:TestStore {name: $name}) DELETE n", frozenset({"name"}), ())


def opened(server: Address, uri: str | None = None, password: str | None = None) -> Store:
    return Store(
        uri or server.uri, username=server.username, password=password or server.password, database=server.database
    )


def test_a_closed_port_is_named_in_seconds_with_what_to_check(server: Address) -> None:
    uri = f"bolt://127.0.0.1:{free_port()}"
    started = time.monotonic()
    with pytest.raises(StoreUnavailable, match="could not be reached") as refused:
        opened(server, uri).read(ONE, value=1)
    assert time.monotonic() - started < 10
    assert uri in str(refused.value)
    assert "host and port" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_routing_address_that_does_not_answer_names_the_scheme_to_try(server: Address) -> None:
    uri = f"neo4j://127.0.0.1:{free_port()}"
    started = time.monotonic()
    with pytest.raises(StoreUnavailable, match=r"bolt://127\.0\.0\.1") as refused:
        opened(server, uri).read(ONE, value=1)
    assert time.monotonic() - started < 10
    assert uri in str(refused.value)


def test_the_routing_scheme_works_where_the_server_advertises_itself(server: Address) -> None:
    store = opened(server, server.uri.replace("bolt://", "neo4j://"))
    assert store.read(ONE, value=1)[0]["value"] == 1
    store.close()


def test_a_wrong_password_is_tried_once_by_all_threads_together(server: Address) -> None:
    store = opened(server, password="not the password")
    ready = threading.Barrier(8)

    def read() -> str:
        ready.wait()
        with pytest.raises(LoginRefused) as refused:
            store.read(ONE, value=1)
        return str(refused.value)

    with ThreadPoolExecutor(8) as pool:
        said = {future.result() for future in [pool.submit(read) for _ in range(8)]}
    assert len(said) == 1
    assert "keeps the password it was made with" in said.pop()
    with pytest.raises(LoginRefused):
        store.transaction(lambda transaction: transaction.run(ONE, value=1))
    assert _driver_of(store) is None
    store.close()


def _driver_of(store: Store) -> object:
    return vars(store)["_driver"]


def test_all_of_a_transaction_happens_or_nothing(store: Store, memory_name: str) -> None:
    def work(transaction: Transaction) -> None:
        transaction.run(MAKE, name=memory_name)
        assert transaction.run(COUNT, name=memory_name)[0]["n"] == 1
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.transaction(work)
    assert store.read(COUNT, name=memory_name)[0]["n"] == 0


def test_a_deadlock_is_tried_again_and_reaches_nobody(store: Store, memory_name: str) -> None:
    lock = Query("tests/lock", "MATCH (n:TestStore {name: $name}) SET n.by = $by", frozenset({"name", "by"}), ())
    names = (f"{memory_name} one", f"{memory_name} two")
    for name in names:
        store.write(MAKE, name=name)
    both_hold_one = threading.Barrier(2)
    tries = [0, 0]

    def cross(worker: int) -> None:
        def work(transaction: Transaction) -> None:
            tries[worker] += 1
            transaction.run(lock, name=names[worker], by=worker)
            if tries[worker] == 1:
                both_hold_one.wait(30)
            transaction.run(lock, name=names[1 - worker], by=worker)

        store.transaction(work)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(cross, range(2)))
    assert max(tries) > 1
    for name in names:
        store.write(CLEAR, name=name)


def test_a_refused_query_is_named_and_quotes_no_value(store: Store) -> None:
    wrong = Query("tests/wrong", "RETURN toInteger($value).name AS x", frozenset({"value"}), ("x",))
    for run in (
        lambda: store.read(wrong, value='said "in\nconfidence'),
        lambda: store.transaction(lambda transaction: transaction.run(wrong, value='said "in\nconfidence')),
    ):
        with pytest.raises(StoreError, match=r"^tests/wrong: Neo\.ClientError") as refused:
            run()
        assert "confidence" not in str(refused.value)
        assert "said" not in str(refused.value)
        assert refused.value.query == "tests/wrong"


def test_a_missing_or_unknown_parameter_is_refused_before_anything_is_sent(store: Store) -> None:
    for run in (lambda: store.read(ONE), lambda: store.write(ONE, value=1, other=2)):
        with pytest.raises(QueryParameterError, match="tests/one"):
            run()


def test_a_query_that_takes_too_long_is_given_up(server: Address) -> None:
    store = Store(
        server.uri, username=server.username, password=server.password, database=server.database, timeout_seconds=1
    )
    slow = Query(
        "tests/slow", "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN sum(a * b) AS s",
        frozenset(), ("s",),
    )  # fmt: skip
    started = time.monotonic()
    with pytest.raises(StoreError, match="tests/slow"):
        store.read(slow)
    assert time.monotonic() - started < 60
    store.close()


def test_a_closed_store_says_so_and_closes_twice(server: Address) -> None:
    store = opened(server)
    store.close()
    store.close()
    with pytest.raises(ClosedError):
        store.read(ONE, value=1)


def test_versions_of_server_and_plugin_are_told(store: Store) -> None:
    assert server_version(store).startswith("20")
    assert gds_version(store) is not None


def _ask(name: str, settings: Settings, memory: AssoMem, number: int, folder: Path) -> None:
    """In a forked process: questions to a memory of its own, and to the one that was open before the fork."""
    with AssoMem(name, settings=settings, embedder=HashingEmbedder()) as mine:
        for _ in range(5):
            texts = [piece.text for piece in mine.search("the key").evidence]
            assert texts == [f"The key of number {number}"]
            assert [piece.text for piece in memory.search("the key").evidence] == ["The key of number 0"]
    (folder / str(number)).touch()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_connections_do_not_cross_processes(
    server: Address, settings: Settings, memory_name: str, tmp_path: Path
) -> None:
    del server
    opened_here = [
        AssoMem(f"{memory_name} {number}", settings=settings, embedder=HashingEmbedder()) for number in range(3)
    ]
    for number, memory in enumerate(opened_here):
        memory.append("s", Utterance("Mira", f"The key of number {number}"))
    context = multiprocessing.get_context("fork")
    workers = [
        context.Process(target=_ask, args=(f"{memory_name} {number}", settings, opened_here[0], number, tmp_path))
        for number in (1, 2)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0
    assert {path.name for path in tmp_path.iterdir()} == {"1", "2"}
    for number, memory in enumerate(opened_here):
        assert [piece.text for piece in memory.search("the key").evidence] == [f"The key of number {number}"]
        memory.forget(everything=True)
        memory.close()


def test_preparing_again_changes_nothing(store: Store) -> None:
    before = [dict(row) for row in store.read(load("schema/indexes"))]
    prepare(store)
    assert [dict(row) for row in store.read(load("schema/indexes"))] == before
