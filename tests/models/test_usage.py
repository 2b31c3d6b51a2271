"""The ledger, the cache of replies, the budget, and the model that has them before it."""

import logging
import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from assomem.errors import BudgetSpent, ModelError
from assomem.models.chat import Completion
from assomem.models.doubles import ScriptedChatModel
from assomem.models.metered import Budget, MeteredChatModel, metered
from assomem.models.usage import Call, Ledger, ReplyCache, Total, forget_replies, sum_of, usage_file
from assomem.server.home import Home
from assomem.settings import read_settings

PRIVATE = "CANARYWORD"


class Scripted(ScriptedChatModel):
    """A scripted model that may be cached."""

    fingerprint = "scripted at home"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "home" / "models.sqlite3"


def put_before(model: ScriptedChatModel, file: Path, budget: Budget | None = None) -> MeteredChatModel:
    return MeteredChatModel(
        model, ledger=Ledger(file), cache=ReplyCache(file), memory="ann", purpose="answer", budget=budget
    )


def only(file: Path) -> Total:
    (total,) = Ledger(file).totals()
    return total


def test_the_same_question_is_asked_once_and_costs_nothing_the_second_time(file: Path) -> None:
    model = Scripted([Completion("Lisbon", "stop", 12, 3), "Rome"])
    chat = put_before(model, file)
    assert chat.complete("rules", "Where?", max_tokens=10).input_tokens == 12
    again = chat.complete("rules", "Where?", max_tokens=10)
    assert again == Completion("Lisbon", "stop", 0, 0)
    assert chat.complete("rules", "Where to?", max_tokens=10).text == "Rome"
    assert len(model.calls) == 2
    total = only(file)
    assert (total.calls, total.cached, total.failed_calls) == (3, 1, 0)


@pytest.mark.parametrize(
    "other",
    [
        {"system": "other"},
        {"user": "other"},
        {"max_tokens": 11},
        {"schema": {"type": "object"}},
        {"fingerprint": "other"},
    ],
)
def test_whatever_decides_a_reply_is_part_of_its_key(other: dict[str, Any]) -> None:
    asked: dict[str, Any] = {"fingerprint": "m", "system": "s", "user": "u", "max_tokens": 10, "schema": None}
    assert ReplyCache.key(**asked) == ReplyCache.key(**asked)
    assert ReplyCache.key(**asked) != ReplyCache.key(**asked | other)


@pytest.mark.parametrize(
    "reply",
    [Completion("In Lis", "length", 1, 1), Completion("In Lis", None, 1, 1), Completion("", "stop", 1, 1)],
)
def test_half_an_answer_and_none_are_not_kept(reply: Completion, file: Path) -> None:
    model = Scripted([reply, reply, reply, "Lisbon"])
    chat = put_before(model, file)
    assert list(chat.stream("rules", "Where?", max_tokens=10))[-1] == reply
    chat.complete("rules", "Where?", max_tokens=10)
    list(chat.stream("rules", "Where?", max_tokens=10))
    assert chat.complete("rules", "Where?", max_tokens=10).text == "Lisbon"
    assert len(model.calls) == 4


def test_a_failed_call_is_not_kept_but_counted_with_each_of_its_tries(file: Path) -> None:
    error = ModelError("busy", kind="server_error", tries=("rate_limited", "server_error"))
    chat = put_before(Scripted([error, Completion("Lisbon", "stop", 1, 1, failed_tries=("timeout",))]), file)
    with pytest.raises(ModelError, match="busy"):
        chat.complete("rules", "Where?", max_tokens=10)
    assert chat.complete("rules", "Where?", max_tokens=10).text == "Lisbon"
    total = only(file)
    assert (total.calls, total.failed_calls) == (2, 1)
    assert total.failures == {"rate_limited": 1, "server_error": 1, "timeout": 1}


def test_a_stream_is_kept_when_it_came_whole_and_given_again(file: Path) -> None:
    chat = put_before(Scripted(["In Lisbon, in May."]), file)
    first, second = (list(chat.stream("rules", "Where?", max_tokens=10)) for _ in range(2))
    for pieces in (first, second):
        assert "".join(map(str, pieces[:-1])) == "In Lisbon, in May."
        assert isinstance(pieces[-1], Completion)
    assert only(file).cached == 1


def test_a_stream_that_nobody_reads_to_its_end_is_counted(file: Path) -> None:
    stream = put_before(Scripted(["In Lisbon, in May."]), file).stream("rules", "Where?", max_tokens=10)
    assert next(stream) == "In"
    stream.close()  # pyright: ignore[reportAttributeAccessIssue]
    total = only(file)
    assert (total.calls, total.estimated_calls, total.failed_calls) == (1, 1, 0)
    assert total.input_tokens > 0


def test_tokens_that_nobody_counted_are_estimated_and_marked(file: Path) -> None:
    chat = put_before(Scripted([Completion("x" * 40, "stop", 0, 0)]), file)
    found = chat.complete("r" * 60, "u" * 40, max_tokens=10)
    assert (found.input_tokens, found.output_tokens, found.estimated) == (25, 10, True)
    assert only(file).estimated_calls == 1


def test_a_model_without_a_fingerprint_is_asked_every_time(file: Path) -> None:
    model = ScriptedChatModel(["one", "two"])
    chat = put_before(model, file)
    assert [chat.complete("rules", "Where?", max_tokens=10).text for _ in range(2)] == ["one", "two"]
    assert only(file).calls == 2


def test_a_reply_of_no_use_can_be_discarded(file: Path) -> None:
    chat = put_before(Scripted(["no JSON", "{}"]), file)
    schema = {"type": "object"}
    assert chat.complete("rules", "Where?", max_tokens=10, schema=schema).text == "no JSON"
    chat.discard("rules", "Where?", max_tokens=10, schema=schema)
    assert chat.complete("rules", "Where?", max_tokens=10, schema=schema).text == "{}"


def test_a_spent_budget_stops_before_the_next_call(file: Path) -> None:
    budget = Budget(20)
    model = Scripted([Completion("a", "stop", 9, 2), Completion("b", "stop", 9, 2), "c"])
    chat = put_before(model, file, budget)
    for user in ("one", "two"):
        chat.complete("rules", user, max_tokens=10)
    assert budget.spent == 22
    with pytest.raises(BudgetSpent, match="20 tokens"):
        chat.complete("rules", "three", max_tokens=10)
    with pytest.raises(BudgetSpent):
        next(chat.stream("rules", "three", max_tokens=10))
    assert len(model.calls) == 2
    assert chat.complete("rules", "two", max_tokens=10).text == "b"  # from the cache


def test_a_budget_shared_by_threads_counts_every_token() -> None:
    budget = Budget(10**9)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(budget.spend, [3] * 2000))
    assert budget.spent == 6000


def test_nothing_that_was_said_is_in_the_file_but_the_reply_and_forgetting_takes_that_out(file: Path) -> None:
    chat = put_before(Scripted([f"The reply {PRIVATE}"]), file)
    chat.complete("rules of CANARYRULE", "what CANARYQUESTION", max_tokens=10)

    def content() -> bytes:
        return b"".join(one.read_bytes() for one in file.parent.iterdir())

    assert b"CANARYRULE" not in content()
    assert b"CANARYQUESTION" not in content()
    assert PRIVATE.encode() in content()
    other = ReplyCache(file)
    other.put("bob", "key", Completion("of bob", "stop", 1, 1))
    assert other.clear("ann")
    assert PRIVATE.encode() not in content()
    assert other.get("bob", "key") == Completion("of bob", "stop", 0, 0)


def test_a_reply_of_one_memory_is_not_given_to_another(file: Path) -> None:
    cache = ReplyCache(file)
    cache.put("ann", "key", Completion("of ann", "stop", 1, 1))
    assert cache.get("bob", "key") is None


def test_forgetting_everything_takes_the_name_out_and_leaves_what_it_cost(tmp_path: Path) -> None:
    settings = read_settings(home=tmp_path)
    chat = metered(Scripted([Completion(PRIVATE, "stop", 5, 5)]), settings, memory="ann CANARYNAME", purpose="judge")
    chat.complete("rules", "?", max_tokens=10)
    assert forget_replies(settings, "ann CANARYNAME", everything=True)
    content = b"".join(one.read_bytes() for one in tmp_path.iterdir())
    assert PRIVATE.encode() not in content
    assert b"CANARYNAME" not in content
    assert sum_of(Ledger(usage_file(settings)).totals()).input_tokens == 5


def test_forgetting_where_nothing_was_kept_makes_no_file(tmp_path: Path) -> None:
    settings = read_settings(home=tmp_path / "home")
    assert forget_replies(settings, "ann", everything=True)
    assert not settings.home.exists()


def test_removing_the_home_removes_what_was_replied(tmp_path: Path) -> None:
    ReplyCache(usage_file(read_settings(home=tmp_path))).put("ann", "key", Completion("x", "stop", 1, 1))
    Home.at(tmp_path).remove()
    assert not list(tmp_path.glob("models*"))


def test_the_file_is_the_users_alone(file: Path) -> None:
    ReplyCache(file).put("ann", "key", Completion("x", "stop", 1, 1))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_cache_has_a_size_and_the_longest_unused_go_first(file: Path) -> None:
    cache = ReplyCache(file, most_bytes=100)
    for key in "abc":
        cache.put("ann", key, Completion(key * 33, "stop", 1, 1))
    assert cache.get("ann", "a") is not None
    cache.put("ann", "d", Completion("d" * 40, "stop", 1, 1))
    assert [key for key in "abcd" if cache.get("ann", key) is not None] == ["a", "d"]
    cache.put("ann", "e", Completion("e" * 101, "stop", 1, 1))
    assert cache.get("ann", "e") is None
    assert cache.get("ann", "d") is not None


@pytest.mark.parametrize("trouble", ["no folder", "no database", "locked"])
def test_a_file_that_cannot_be_used_is_said_once_and_stops_no_call(
    trouble: str, file: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assomem.models.usage._BUSY_SECONDS", 0.01)
    caplog.set_level(logging.WARNING)
    chat = put_before(Scripted(["one", "two", "three"]), file)
    if trouble == "no folder":
        file.parent.write_text("a file where the folder should be", encoding="utf-8")
    elif trouble == "no database":
        file.parent.mkdir()
        file.write_text("not a database, but long enough to be looked at" * 20, encoding="utf-8")
    else:
        Ledger(file).note(Call("ann", "answer", "m", 1, 1, 0.1, "ok"))
    with closing(sqlite3.connect(file if trouble == "locked" else ":memory:")) as holding:
        holding.execute("BEGIN IMMEDIATE")
        for number in range(3):
            assert chat.complete("rules", f"{PRIVATE} {number}", max_tokens=10).text
        holding.rollback()
    assert 1 <= caplog.text.count("cannot be used") <= 2  # of the ledger, and of the cache
    assert PRIVATE not in caplog.text


def test_many_threads_may_note_at_once(file: Path) -> None:
    def note(number: int) -> None:
        Ledger(file).note(Call("ann", "extract", f"m{number % 2}", 1, 2, 0.5, "ok"))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(note, range(80)))
    totals = Ledger(file).totals()
    assert [(one.model, one.calls, one.output_tokens, one.seconds) for one in totals] == [
        ("m0", 40, 80, 20.0),
        ("m1", 40, 80, 20.0),
    ]


def test_what_calls_cost_follows_from_the_prices(file: Path) -> None:
    Ledger(file).note(Call("ann", "answer", "m", 2_000_000, 500_000, 1.0, "ok"))
    total = only(file)
    assert total.cost(read_settings()) is None
    assert total.cost(read_settings(price_input_per_million=0.5, price_output_per_million=2)) == pytest.approx(2.0)


def test_usage_of_one_memory_can_be_told_apart(file: Path) -> None:
    ledger = Ledger(file)
    ledger.note(Call("ann", "answer", "m", 1, 1, 1.0, "ok"))
    ledger.note(Call("bob", "answer", "m", 2, 2, 1.0, "timeout", failed_tries=("timeout",)))
    (ann,) = ledger.totals("ann")
    assert (ann.input_tokens, ann.failures) == (1, {})
    (both,) = ledger.totals()
    assert (both.calls, both.failed_calls, both.failures) == (2, 1, {"timeout": 1})
