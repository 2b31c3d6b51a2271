"""A memory never sees another: not its words, not its vectors, not in its scores."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from assomem import AssoMem, Session, Settings, Utterance
from assomem.dialogue import identity
from assomem.models.doubles import HashingEmbedder
from assomem.server import Address

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
LATER = NOON + timedelta(days=400)
WORDS = (
    "tulip kayak clock cello harbour paint Utrecht garden letter bicycle violin soup ladder market river window "
    "grandmother train museum lantern orchard teapot"
).split()
EMBEDDER = HashingEmbedder(meanings={"boat": "kayak", "port": "harbour"})


def sentence(source: random.Random) -> str:
    return " ".join(source.choices(WORDS, k=source.randint(3, 9)))


def sessions(seed: int, count: int, turns: int, mark: str = "") -> list[Session]:
    source = random.Random(seed)
    return [
        Session(
            f"s{number}",
            [
                Utterance(
                    source.choice(["Mira", "Tove"]), f"{sentence(source)} {mark}".strip(), NOON + timedelta(days=number)
                )
                for _ in range(turns)
            ],
        )
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def pair(server: Address, settings: Settings) -> Iterator[tuple[AssoMem, AssoMem]]:
    """Two memories with the same ids and nearly the same texts, written turn about."""
    del server
    names = ("test isolation", "test isolation ")  # a blank is all that tells them apart
    opened = [AssoMem(name, settings=settings, embedder=EMBEDDER) for name in names]
    for memory in opened:
        if memory.memory in {row["memory"] for row in memory.memories()}:
            memory.forget(everything=True)
    for one, other in zip(sessions(1, 12, 8, "one"), sessions(1, 12, 8, "other"), strict=True):
        opened[0].remember([one])
        opened[1].remember([other])
    yield opened[0], opened[1]
    for memory in opened:
        memory.forget(everything=True)
        memory.close()


def test_two_hundred_random_questions_bring_nothing_of_the_other_memory(pair: tuple[AssoMem, AssoMem]) -> None:
    source = random.Random(7)
    for number in range(200):
        mine = pair[number % 2]
        mark = ("one", "other")[number % 2]
        question = " ".join([*sentence(source).split()[:4], ("one", "other")[source.randrange(2)]])
        options: dict[str, Any] = {"preset": source.choice(["default", "default", "default", "paper"])}
        if source.random() < 0.3:
            options["speaker"] = "mira"
        if source.random() < 0.2:
            options["session"] = f"s{source.randrange(12)}"
        found = mine.search(question, asked_at=LATER, k=20, **options)
        for piece in found.evidence:
            assert piece.text.endswith(f" {mark}")
            assert piece.uid == identity(mine.memory, piece.utterance_id)
    for memory, mark in zip(pair, ("one", "other"), strict=True):
        assert {row["text"].rsplit(" ", 1)[1] for number in range(12) for row in memory.show(f"s{number}")} == {mark}


def test_answers_and_explanations_are_of_their_own_memory(pair: tuple[AssoMem, AssoMem]) -> None:
    for memory, mark in zip(pair, ("one", "other"), strict=True):
        answer = memory.ask("tulip harbour clock", asked_at=LATER)
        assert answer.evidence
        assert all(piece.text.endswith(f" {mark}") for piece in answer.evidence)
        assert memory.show("s3:2")[0]["text"].endswith(f" {mark}")
        assert len(memory.explain("tulip harbour clock", utterance_id="s3:2", asked_at=LATER)) == 1


def test_scores_do_not_depend_on_a_neighbour_and_a_small_memory_is_complete_beside_a_large_one(
    memory: AssoMem, settings: Settings
) -> None:
    small = [Session("s", [Utterance("Mira", f"{' '.join(WORDS[n : n + 4])} number {n}", NOON) for n in range(5)])]
    memory.remember(small)
    questions = ("tulip kayak harbour", "where is the boat at the port", "clock", "what did Mira say yesterday?")
    presets = ("default", "paper")

    def results() -> list[dict[str, Any]]:
        found = [
            memory.search(question, asked_at=LATER, preset=preset).as_json()
            for question in questions
            for preset in presets
        ]
        return [{key: value for key, value in one.items() if key != "milliseconds"} for one in found]

    before = results()
    with AssoMem(f"{memory.memory}, large", settings=settings, embedder=EMBEDDER) as large:
        large.remember(sessions(3, 60, 50))
        assert results() == before
        for question in questions:
            evidence = memory.search(question, asked_at=LATER).evidence
            assert {piece.utterance_id for piece in evidence} == {f"s:{n}" for n in range(1, 6)}
        large.forget(everything=True)


@pytest.mark.parametrize(
    "pair_of_names",
    [
        ("Alice", "alice"),
        ("alice", "alices"),
        ("alice-2", "alice"),
        ("é", "e\u0301"),
        ("a OR b", "a"),
        ("*", "?"),
        ("\U0001f9a9", "\U0001f9aa"),
    ],
)
def test_names_that_are_nearly_the_same_are_two_memories(
    settings: Settings, memory_name: str, pair_of_names: tuple[str, str]
) -> None:
    opened = [AssoMem(f"{memory_name} {name}", settings=settings, embedder=HashingEmbedder()) for name in pair_of_names]
    for number, one in enumerate(opened):
        one.append("s", Utterance("Mira", f"The key of number {number}"))
    for number, one in enumerate(opened):
        assert [piece.text for piece in one.search("the key").evidence] == [f"The key of number {number}"]
        one.forget(everything=True)
        one.close()
