"""The gate before an endpoint, without any endpoint."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from assomem.models import gate as gates
from assomem.models.endpoint import Endpoint
from assomem.models.gate import LONGEST_CLOSED_SECONDS, Closed, Gate, asked_seconds, gate_of, pause_seconds


def test_no_more_than_the_limit_are_inside_and_everybody_gets_in() -> None:
    gate, counting, inside, most, done = Gate(3), threading.Lock(), [0], [0], [0]

    def call(number: int) -> None:
        del number
        with gate.turn(time.monotonic() + 20):
            with counting:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            time.sleep(0.005)
            with counting:
                inside[0] -= 1
                done[0] += 1

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(call, range(48)))
    assert most[0] == 3
    assert done[0] == 48


def test_a_closed_gate_lets_nobody_in_before_it_opens() -> None:
    gate = Gate(4)
    gate.close_for(0.2)
    gate.close_for(0.05)  # what was asked for earlier still holds
    opens = time.monotonic() + 0.2

    def enter(number: int) -> float:
        del number
        with gate.turn(time.monotonic() + 20):
            return time.monotonic()

    with ThreadPoolExecutor(4) as pool:
        assert min(pool.map(enter, range(4))) >= opens - 0.01


@pytest.mark.parametrize(("seconds", "deadline"), [(5.0, 1.0), (130.0, 600.0)])
def test_whoever_would_wait_too_long_is_turned_away_at_once(seconds: float, deadline: float) -> None:
    gate = Gate(4, max_wait_seconds=120)
    gate.close_for(seconds)
    started = time.monotonic()
    with pytest.raises(Closed) as caught, gate.turn(started + deadline):
        pass
    assert caught.value.told
    assert time.monotonic() - started < 0.5


def test_a_full_gate_is_waited_at_until_the_deadline() -> None:
    gate = Gate(1)
    with gate.turn(time.monotonic() + 1), pytest.raises(Closed) as caught, gate.turn(time.monotonic() + 0.05):
        pass
    assert not caught.value.told


def test_a_gate_is_closed_for_an_hour_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate(1, max_wait_seconds=3600)
    gate.close_for(1e12)
    later = time.monotonic() + LONGEST_CLOSED_SECONDS + 1
    monkeypatch.setattr(time, "monotonic", lambda: later)
    with gate.turn(later + 1):
        pass


def test_an_endpoint_has_one_gate_whoever_asks_with_the_latest_limits() -> None:
    first = gate_of("http://test/one", concurrency=4, max_wait_seconds=120)
    assert gate_of("http://test/one", concurrency=2, max_wait_seconds=5) is first
    assert (first.concurrency, first.max_wait_seconds) == (2, 5)
    assert Endpoint("http://test/one/").gate is first
    assert gate_of("http://test/two", concurrency=4, max_wait_seconds=120) is not first


def test_a_process_that_was_forked_off_starts_with_an_empty_gate_and_connections_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    endpoint = Endpoint("http://test/fork", concurrency=1)
    client = endpoint.client
    assert endpoint.client is client
    with endpoint.gate.turn(time.monotonic() + 1):
        forked: Callable[[], None] = gates._forked  # pyright: ignore[reportPrivateUsage]
        forked()
        with endpoint.gate.turn(time.monotonic() + 1):
            pass
    monkeypatch.setattr("os.getpid", lambda: -1)
    assert endpoint.client is not client


def test_pauses_double_and_vary() -> None:
    for tries in range(1, 6):
        found = {pause_seconds(tries, 0.5) for _ in range(50)}
        assert len(found) > 1
        assert all(0.25 * 2 ** (tries - 1) <= pause <= 0.5 * 2 ** (tries - 1) for pause in found)


def test_a_retry_after_is_read_in_seconds_and_as_a_date() -> None:
    assert asked_seconds("3") == 3
    assert asked_seconds(" 0.5 ") == 0.5
    assert asked_seconds("-1") == 0
    assert asked_seconds(None) is asked_seconds("soon") is asked_seconds("nan") is asked_seconds("") is None
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 28 < (asked_seconds(date) or 0) <= 30
    assert asked_seconds(format_datetime(datetime.now(UTC) - timedelta(days=1), usegmt=True)) == 0
    assert asked_seconds("Wed, 21 Oct 2099 07:28:00 -0000") is not None
