"""Models of every kind in a memory on a real database: opened, changed, failing, counted."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import numpy as np
import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from assomem import AssoMem, Session, Settings, Utterance
from assomem.errors import BudgetSpent, EmbedderMismatch, ModelError
from assomem.models.chat import Completion, open_chat_model
from assomem.models.doubles import HashingEmbedder
from assomem.models.metered import Budget, metered
from assomem.models.plain import PlainEmbedder, Role, Row, character_pieces
from assomem.models.usage import Ledger, usage_file
from assomem.server import Address
from assomem.settings import read_settings

AT = datetime(2024, 5, 3, 10, tzinfo=UTC)


class SmallModel(Protocol):
    base_url: str
    name: str


class Source:
    """Vectors of an endpoint that is out of order for texts with a certain word."""

    def __init__(self, model: str, dimensions: int = 16, broken: str | None = None) -> None:
        self.fingerprint = f"test:{model}"
        self.broken = broken
        self.calls = 0
        self._inner = HashingEmbedder(dimensions)

    def pieces(self, text: str, prefix: str) -> list[tuple[str, int]]:
        del prefix
        return character_pieces(text)

    def vectors(self, texts: Sequence[str], role: Role) -> list[Row | None]:
        del role
        self.calls += 1
        if self.broken is not None and any(self.broken in text for text in texts):
            raise ModelError("embedder test: the endpoint failed (HTTP 500): try again later", kind="server_error")
        return list(self._inner.embed_phrases(texts))


def session(number: int, text: str = "We took the night train to Lisbon.") -> Session:
    return Session(f"s{number}", [Utterance(speaker="Mira", text=f"{text} Day {number}.")], started_at=AT)


def plain(name: str, source: Source) -> PlainEmbedder:
    return PlainEmbedder(name, source, delta=0.95, gamma=0.9)


@pytest.mark.parametrize(("other", "dimensions"), [("small", 32), ("other", 16)])
def test_a_changed_embedder_is_noticed_before_anything_is_written_or_searched(
    other: str, dimensions: int, server: Address, settings: Settings, memory_name: str
) -> None:
    del server
    with AssoMem(memory_name, settings=settings, embedder=plain("openai:small", Source("small"))) as memory:
        memory.remember([session(1)])
    changed = plain(f"openai:{other}", Source(other, dimensions))
    with AssoMem(memory_name, settings=settings, embedder=changed) as memory:
        for use in (lambda: memory.remember([session(2)]), lambda: memory.search("Where?", asked_at=AT)):
            with pytest.raises(EmbedderMismatch, match=rf"openai:small.*openai:{other}.*ASSOMEM_EMBEDDER"):
                use()
        assert len(memory.sessions()) == 1
    with AssoMem(memory_name, settings=settings, embedder=plain("openai:small", Source("small"))) as memory:
        assert memory.search("Which train?", asked_at=AT).evidence[0].session_id == "s1"


def test_an_endpoint_that_fails_on_the_way_loses_nothing_that_was_stored_and_the_rest_follows(
    server: Address, settings: Settings, memory_name: str
) -> None:
    del server
    source = Source("small", broken="Day 300")
    with AssoMem(memory_name, settings=settings, embedder=plain("openai:small", source)) as memory:
        sessions = [session(number) for number in range(320)]
        with pytest.raises(ModelError, match="HTTP 500"):
            memory.remember(sessions)
        stored = len(memory.sessions())
        assert stored == 256  # whole batches
        source.broken = None
        again = memory.remember(sessions)
        assert (again.new, again.unchanged) == (320 - stored, stored)
        assert not again.degraded


def test_models_of_langchains_can_be_passed_as_they_are(server: Address, settings: Settings, memory_name: str) -> None:
    del server
    replies = iter([AIMessage("By night train [1]."), AIMessage("By night train [1].")])
    with AssoMem(
        memory_name,
        settings=settings,
        embedder=DeterministicFakeEmbedding(size=24),
        chat=GenericFakeChatModel(messages=replies),
    ) as memory:
        memory.remember([session(1)])
        answer = memory.ask("How did we travel to Lisbon?", asked_at=AT)
        assert "night train" in answer.text
        assert [one.utterance_id for one in answer.citations] == ["s1:1"]
        totals = {total.purpose: total for total in Ledger(usage_file(settings)).totals(memory_name)}
        assert set(totals) == {"answer", "embed"}
        assert (totals["answer"].model, totals["answer"].calls) == ("GenericFakeChatModel", 1)
        assert totals["embed"].calls >= 2


def test_a_real_model_is_counted_cached_and_stopped_by_a_budget(small_model: SmallModel, tmp_path: Path) -> None:
    settings = read_settings(
        home=tmp_path, chat_model=small_model.name, openai_base_url=small_model.base_url, chat_timeout_seconds=200
    )
    chat = open_chat_model(settings)
    assert chat is not None
    budget = Budget(60)
    counted = metered(chat, settings, memory="ann", purpose="answer", budget=budget)
    first = counted.complete("Answer in one word.", "What is the capital of France?", max_tokens=60)
    again = counted.complete("Answer in one word.", "What is the capital of France?", max_tokens=60)
    assert (again.text, again.input_tokens, again.output_tokens) == (first.text, 0, 0)
    spent = budget.spent
    assert spent == first.input_tokens + first.output_tokens > 0
    asked = 0
    while budget.spent < 60:
        *_, whole = counted.stream("Answer briefly.", f"Name {asked + 2} colours.", max_tokens=12)
        assert isinstance(whole, Completion)
        asked += 1
    with pytest.raises(BudgetSpent, match="60 tokens"):
        counted.complete("Answer briefly.", "Name a colour.", max_tokens=12)
    assert budget.spent >= 60
    (total,) = Ledger(usage_file(settings)).totals("ann")
    assert (total.model, total.cached, total.calls) == ("smollm2", 1, asked + 2)
    assert total.input_tokens + total.output_tokens == budget.spent
    assert total.estimated_calls == 0
    assert np.isfinite(total.seconds)
