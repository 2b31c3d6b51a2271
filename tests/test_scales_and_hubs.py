"""Cosines are cosines wherever they show, and what is everywhere decides nothing."""

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from assomem import AssoMem, ReadyMadeClue, Session, Settings, Utterance
from assomem.candidates import Filters, Layouts, MemoryState, find
from assomem.models.doubles import HashingEmbedder
from assomem.models.embedder import QuestionEmbedding, UtteranceEmbedding
from assomem.question import understand
from assomem.sample import sample_folder
from assomem.server import Address
from assomem.store import Store, load

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ASKED = NOON + timedelta(days=400)


class Compass(HashingEmbedder):
    """North is where every question points; a text points where it says."""

    def __init__(self) -> None:
        super().__init__(dimensions=16)

    def embed_utterances(self, texts: Sequence[str]) -> list[UtteranceEmbedding]:
        made = super().embed_utterances(texts)
        return [
            UtteranceEmbedding(_pointing(text), _pointing(text)[None], one.token_vectors, one.piece_tokens)
            for text, one in zip(texts, made, strict=True)
        ]

    def embed_question(self, text: str) -> QuestionEmbedding:
        made = super().embed_question(text)
        return QuestionEmbedding(_pointing("north"), made.token_vectors, made.token_words)


def _pointing(text: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    vector = np.zeros(16, np.float32)
    vector[1 if "east" in text else 0] = -1.0 if "south" in text else 1.0
    return vector


def test_r21_a_cosine_is_1_for_the_same_direction_0_across_and_minus_1_for_the_opposite(
    server: Address, settings: Settings, store: Store, memory_name: str
) -> None:
    del server
    with AssoMem(memory_name, settings=settings, embedder=Compass()) as memory:
        said = ["It lies in the north.", "It lies in the east.", "It lies in the south."]
        memory.remember([Session("s", [Utterance("Mira", text, NOON) for text in said])])
        row = store.read(load("memories/state"), memory=memory_name)[0]
        state = MemoryState(memory_name, row["key"], row["revision"], 16, 3, 3, 0)
        question = understand("Where does it lie?", ASKED, Compass(), max_characters=100)
        found = find(store, state, question, Filters(ASKED, ASKED), Layouts())
        assert found.cosine.tolist() == pytest.approx([1, 0, -1], abs=1e-6)
        # The reading's scale is the documented one: 1 for the best, 0 for the worst candidate.
        evidence = {one.text: one for one in memory.search("Where does it lie?", asked_at=ASKED).evidence}
        assert [
            next(one.value for one in evidence[text].contributions if one.reading == "cosine") for text in said
        ] == pytest.approx([1, 0.5, 0], abs=1e-6)
        for one in evidence.values():
            assert all(0 <= value <= 1 for value in one.signals.values())
            assert 0 <= one.score <= 1
        memory.forget(everything=True)


@pytest.fixture
def two(server: Address, settings: Settings) -> Iterator[tuple[AssoMem, AssoMem]]:
    del server
    with (
        AssoMem("test hubs, with", settings=settings, embedder=HashingEmbedder()) as hubs,
        AssoMem("test hubs, without", settings=settings, embedder=HashingEmbedder()) as plain,
    ):
        for memory in (hubs, plain):
            if memory.memory in {row["memory"] for row in memory.memories()}:
                memory.forget(everything=True)
        yield hubs, plain
        for memory in (hubs, plain):
            memory.forget(everything=True)


def test_r26_a_clue_of_every_utterance_changes_no_recall(two: tuple[AssoMem, AssoMem]) -> None:
    sessions: dict[str, list[Utterance]] = {}
    topics: dict[str, list[str]] = {}
    for line in (sample_folder() / "memory.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        said_at = datetime.fromisoformat(row["timestamp"]) if row["timestamp"] else None
        said_at = said_at.replace(tzinfo=UTC) if said_at is not None and said_at.tzinfo is None else said_at
        sessions.setdefault(row["session_id"], []).append(
            Utterance(row["speaker"], row["text"], said_at, row["utterance_id"])
        )
        topics.setdefault(row["session_id"], []).append(row["utterance_id"])
    talk = [Session(name, said) for name, said in sessions.items()]
    own = [ReadyMadeClue(name, "topic", f"the talk of {name}", tuple(ids)) for name, ids in topics.items()]
    everywhere = [
        ReadyMadeClue(name, "person", who, tuple(ids)) for name, ids in topics.items() for who in ("user", "assistant")
    ]
    hubs, plain = two
    hubs.remember(talk, clues=[*own, *everywhere])
    plain.remember(talk, clues=own)
    recalls: list[list[float]] = [[], []]
    for line in (sample_folder() / "queries.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if not row["evidence"]:
            continue
        for memory, found in zip((hubs, plain), recalls, strict=True):
            got = {one.utterance_id for one in memory.search(row["question"], asked_at=ASKED).evidence}
            found.append(len(got.intersection(row["evidence"])) / len(set(row["evidence"])))
    with_hubs, without = (sum(found) / len(found) for found in recalls)
    assert len(recalls[0]) >= 25
    assert without > 0.5
    assert abs(with_hubs - without) <= 0.01


# -- R37: work per question is bounded


def test_r37_a_search_that_runs_out_of_time_answers_and_names_what_it_left_out(
    settings: Settings, memory: AssoMem
) -> None:
    memory.remember(
        [Session("s", [Utterance("Mira", "The heron nests by the weir.", datetime(2026, 5, 1, tzinfo=UTC))])]
    )
    hasty = settings.model_copy(update={"search_seconds": 1e-6})
    with AssoMem(memory.memory, settings=hasty, embedder=HashingEmbedder()) as opened:
        result = opened.search("Where does the heron nest?", asked_at=datetime(2026, 6, 1, tzinfo=UTC))
    assert result.evidence[0].text == "The heron nests by the weir."
    assert [reason.split(" was left out")[0] for reason in result.degraded] == ["late interaction", "importance"]
    assert sum(one.adds for one in result.evidence[0].contributions) == pytest.approx(
        result.evidence[0].score, abs=1e-9
    )
    unhurried = memory.search("Where does the heron nest?", asked_at=datetime(2026, 6, 1, tzinfo=UTC))
    assert unhurried.degraded == ()
