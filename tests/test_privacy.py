"""What people said, and secrets, stay out of logs, error texts and stderr."""

import logging
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from typing import Any

import pytest

from assomem import AssoMem, ReadyMadeClue, Session, Settings, Utterance, read_settings
from assomem.errors import AssoMemError, ModelError, StoreError
from assomem.models.doubles import FaultyEmbedder, HashingEmbedder, ScriptedChatModel
from assomem.server import Address
from assomem.store import Query, Store, load

CANARY = "canarybirdsong"
SECRET = "sk-canarysecretkey"


SLOW = Query(
    "tests/slow",
    "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN $value, sum(a * b) AS s",
    frozenset({"value"}),
    ("value", "s"),
)


def failures(
    settings: Settings, server: Address, store: Store, name: str, opened: ExitStack
) -> list[tuple[Callable[[], object], type[AssoMemError]]]:
    """Things that go wrong, each while the canary is at hand."""
    said = Utterance(f"{CANARY} speaker", f"I whispered {CANARY} twice")
    clue = ReadyMadeClue("s", "topic", f"{CANARY} clue", ("s:1",))
    memory = opened.enter_context(AssoMem(name, settings=settings, embedder=HashingEmbedder()))
    broken = FaultyEmbedder(HashingEmbedder(), {"break": "error"})
    broken_embedder = opened.enter_context(AssoMem(name, settings=settings, embedder=broken))
    nowhere = settings.model_copy(update={"neo4j_uri": "bolt://127.0.0.1:1"})
    unreachable = AssoMem(name, settings=nowhere, embedder=HashingEmbedder())
    hasty = Store(
        server.uri, username=server.username, password=server.password, database=server.database, timeout_seconds=1
    )
    opened.callback(hasty.close)
    memory.remember([Session("s", [said])], clues=[clue])
    row = {
        "uid": "u", "utterance_id": "s:1", "session_id": "s", "ordinal": 99, "position": 2, "speaker": CANARY,
        "speaker_key": CANARY, "text": CANARY, "said_at": None, "instant": 0, "means_from": None, "means_to": None,
        "vector": None, "token_vectors": None, "piece_tokens": None,
    }  # fmt: skip
    map_as_value = row | {"utterance_id": "new", "text": {"map": CANARY}}
    too_long = {"uid": "c", "kind": CANARY * 10_000, "text": CANARY, "vector": None}

    return [
        (lambda: memory.remember([Session("s", [Utterance(CANARY, CANARY, datetime(2026, 1, 1))])]), AssoMemError),
        (lambda: memory.remember([Session("s", [Utterance(CANARY, CANARY + "x" * 300_000)])]), AssoMemError),
        (lambda: memory.remember([Session("s", [Utterance(CANARY, f"other {CANARY}", None, "s:1")])]), AssoMemError),
        (lambda: memory.remember([Session("s", [Utterance(CANARY * 100, CANARY)])]), AssoMemError),
        (lambda: memory.search(f"{CANARY} " * 20_000), AssoMemError),
        (lambda: broken_embedder.append("s", Utterance(CANARY, f"break {CANARY}")), ModelError),
        (lambda: broken_embedder.search(f"break {CANARY}"), ModelError),
        (lambda: store.write(load("graph/write_utterances"), memory=name, rows=[row]), StoreError),
        (lambda: store.write(load("graph/write_utterances"), memory=name, rows=[map_as_value]), StoreError),
        (lambda: store.write(load("graph/write_clues"), memory=name, rows=[too_long]), StoreError),
        (lambda: hasty.read(SLOW, value=CANARY), StoreError),
        (lambda: unreachable.search(CANARY), StoreError),
    ]


def test_what_was_said_is_in_no_log_no_error_and_not_on_stderr(
    settings: Settings,
    server: Address,
    store: Store,
    memory_name: str,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    mine = read_settings(**(settings.model_dump(exclude_unset=True) | {"openai_api_key": SECRET, "timezone": None}))
    seen: list[str] = []
    with caplog.at_level(logging.INFO), ExitStack() as opened:
        for fail, kind in failures(mine, server, store, memory_name, opened):
            with pytest.raises(kind) as failed:
                fail()
            # As a program that ends with it would print it, causes included.
            seen.append("".join(traceback.format_exception(failed.value, limit=0)))
        talker = ScriptedChatModel([ModelError("the endpoint refused")])
        with AssoMem(memory_name, settings=mine, embedder=HashingEmbedder(), chat=talker) as memory:
            memory.search(f"Who said {CANARY}?")
            answer = memory.ask(f"Whispered {CANARY} twice?")
            assert CANARY in answer.text
            seen.extend(problem.says for problem in memory.doctor())
    written = capfd.readouterr()
    logged = [f"{record.name} {record.levelname} {record.getMessage()}" for record in caplog.records]
    assert any("remember: 1 sessions" in line for line in logged)
    for text in (*seen, *logged, written.out, written.err, repr(mine), str(mine)):
        assert CANARY not in text
        assert SECRET not in text


@pytest.mark.parametrize("field", ["openai_api_key", "neo4j_password"])
def test_a_secret_is_not_in_the_error_about_another_setting(field: str) -> None:
    wrong: dict[str, Any] = {field: SECRET, "query_timeout_seconds": -1, "timezone": SECRET}
    with pytest.raises(AssoMemError) as refused:
        read_settings(**wrong)
    assert SECRET not in str(refused.value)
    assert "query_timeout_seconds" in str(refused.value)
