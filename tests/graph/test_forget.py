"""Forgetting: complete, joined up, and of nothing else."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from assomem import AssoMem, ReadyMadeClue, Session, Settings, Utterance
from assomem.errors import InputError, UnknownMemory
from assomem.models.doubles import HashingEmbedder
from assomem.store import Query, Store, load

Dump = dict[str, dict[str, Any]]
DumpOf = Callable[[Store, str], Dump]

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
RARE = ("zinnia", "quokka", "theodolite", "marzipan", "gearbox", "lighthouse")


def talk(session_id: str, day: int, turns: int = 6) -> Session:
    return Session(
        session_id,
        [
            Utterance(
                ("Mira", "assistant")[turn % 2],
                f"{RARE[turn]} {RARE[turn]} {session_id}, again",
                NOON + timedelta(days=day, minutes=turn) if turn != 3 else None,
                f"{session_id}/{turn}",
            )
            for turn in range(turns)
        ],
    )


def clues(session_id: str) -> list[ReadyMadeClue]:
    return [
        ReadyMadeClue(session_id, "topic", "the harbour", (f"{session_id}/0", f"{session_id}/4")),
        ReadyMadeClue(session_id, "event", f"regatta {session_id}", (f"{session_id}/2",)),
    ]


def fill(memory: AssoMem) -> None:
    memory.remember([talk("a", 0), talk("b", 1), talk("c", 2)], clues=[*clues("a"), *clues("b"), *clues("c")])


def problems(memory: AssoMem) -> list[str]:
    return [problem.says for problem in memory.doctor() if repr(memory.memory) in problem.says]


def supports(memory: AssoMem) -> dict[str, int]:
    return {row["text"]: row["support"] for row in memory.clues()}


def test_a_forgotten_utterance_is_gone_with_its_words_its_place_and_its_links(
    memory: AssoMem, store: Store, meaning: DumpOf
) -> None:
    fill(memory)
    done = memory.forget(utterance_id="b/2")
    assert (done.utterances, done.clues) == (1, 1)
    found = meaning(store, memory.memory)
    assert "b/2" not in repr(found)
    assert "Utterance b/1 -NEXT-> Utterance b/3" in found
    assert [row["utterance_id"] for row in memory.show("b")] == ["b/0", "b/1", "b/3", "b/4", "b/5"]
    pieces = memory.search("theodolite", session="b", asked_at=NOON + timedelta(days=9)).evidence
    assert "b/2" not in [piece.utterance_id for piece in pieces]
    with pytest.raises(InputError):
        memory.show("b/2")
    assert not problems(memory)


def test_a_word_that_only_the_forgotten_held_is_in_no_list_any_more(
    memory: AssoMem, store: Store, dump: DumpOf
) -> None:
    said = [Utterance("Mira", "The xylophone"), Utterance("Tove", "And a lamp")]
    memory.remember([Session("s", said)], clues=[ReadyMadeClue("s", "topic", "a lamp", ("s:2",))])
    assert "Posting xylophon 0" in dump(store, memory.memory)
    memory.forget(utterance_id="s:1")
    assert not [name for name in dump(store, memory.memory) if "xylophon" in name]
    assert [piece.utterance_id for piece in memory.search("xylophone").evidence] in ([], ["s:2"])


def test_a_clue_lives_as_long_as_one_utterance_supports_it(memory: AssoMem) -> None:
    fill(memory)
    assert supports(memory) == {"the harbour": 6, "regatta a": 1, "regatta b": 1, "regatta c": 1}
    memory.forget(utterance_id="a/0")
    assert supports(memory)["the harbour"] == 5
    memory.forget(utterance_id="a/2")
    assert "regatta a" not in supports(memory)
    memory.forget(session_id="b")
    assert supports(memory) == {"the harbour": 3, "regatta c": 1}
    for utterance_id in ("a/4", "c/0", "c/4"):
        memory.forget(utterance_id=utterance_id)
    assert supports(memory) == {"regatta c": 1}
    assert not problems(memory)


def test_a_forgotten_session_leaves_no_trace_and_its_neighbours_as_they_were(
    memory: AssoMem, store: Store, meaning: DumpOf, settings: Settings
) -> None:
    fill(memory)
    assert memory.forget(session_id="b").utterances == 6
    with AssoMem(f"{memory.memory}, without it", settings=settings, embedder=HashingEmbedder()) as other:
        other.remember([talk("a", 0), talk("c", 2)], clues=[*clues("a"), *clues("c")])
        assert meaning(store, memory.memory) == meaning(store, other.memory)
    assert not problems(memory)


@pytest.mark.parametrize("scope", [{"session_id": "b"}, {"utterance_id": "b/0"}, {"utterance_id": "c/5"}])
def test_what_was_forgotten_comes_back_when_it_is_imported_again(
    memory: AssoMem, store: Store, meaning: DumpOf, scope: dict[str, Any]
) -> None:
    fill(memory)
    before = meaning(store, memory.memory)
    memory.forget(**scope)
    assert meaning(store, memory.memory) != before
    memory.remember([talk("b", 1), talk("c", 2)], clues=[*clues("b"), *clues("c")])
    assert meaning(store, memory.memory) == before
    assert not problems(memory)


def test_a_memory_emptied_turn_by_turn_is_not_in_memory_and_takes_new_words(memory: AssoMem) -> None:
    memory.remember([talk("a", 0, turns=3)])
    for turn in range(3):
        memory.forget(utterance_id=f"a/{turn}")
    assert memory.sessions() == []
    assert memory.clues() == []
    assert memory.search("theodolite").evidence == ()
    answer = memory.ask("theodolite")
    assert answer.abstained
    assert "not in memory" in answer.text.lower()
    assert not problems(memory)
    memory.append("a", Utterance("Mira", "A new theodolite"))
    assert [piece.text for piece in memory.search("theodolite").evidence] == ["A new theodolite"]


def test_forgetting_touches_no_neighbour(memory: AssoMem, store: Store, dump: DumpOf, settings: Settings) -> None:
    fill(memory)
    with AssoMem(f"{memory.memory}, neighbour", settings=settings, embedder=HashingEmbedder()) as other:
        fill(other)
        before = dump(store, other.memory)
        memory.forget(utterance_id="a/1")
        memory.forget(session_id="b")
        memory.forget(everything=True)
        assert dump(store, other.memory) == before
        assert dump(store, memory.memory) == {}


@pytest.mark.parametrize(
    "scope",
    [
        {},
        {"session_id": ""},
        {"session_id": " \t"},
        {"utterance_id": ""},
        {"session_id": "a", "utterance_id": "a/1"},
        {"session_id": "a", "everything": True},
        {"session_id": None, "utterance_id": None, "everything": False},
    ],
)
def test_an_unclear_scope_is_refused_and_deletes_nothing(
    memory: AssoMem, store: Store, dump: DumpOf, scope: dict[str, Any]
) -> None:
    fill(memory)
    before = dump(store, memory.memory)
    with pytest.raises(InputError, match="exactly one scope"):
        memory.forget(**scope)
    assert dump(store, memory.memory) == before


@pytest.mark.parametrize(
    "scope", [{"session_id": "*"}, {"session_id": "A"}, {"utterance_id": "a"}, {"utterance_id": "%"}]
)
def test_an_unknown_scope_deletes_nothing(
    memory: AssoMem, store: Store, contents: DumpOf, scope: dict[str, Any]
) -> None:
    fill(memory)
    before = contents(store, memory.memory)
    with pytest.raises(InputError, match="nothing was deleted"):
        memory.forget(**scope)
    assert contents(store, memory.memory) == before


def test_forgetting_an_unknown_memory_is_an_error(memory: AssoMem) -> None:
    scopes: list[dict[str, Any]] = [{"everything": True}, {"session_id": "a"}, {"utterance_id": "a/1"}]
    for scope in scopes:
        with pytest.raises(UnknownMemory):
            memory.forget(**scope)


ALL = Query("tests/all", "MATCH (n) WHERE n.memory = $m OR n.name = $m RETURN count(n) AS n", frozenset({"m"}), ("n",))


def test_a_large_memory_is_forgotten_completely_and_counted_rightly(
    settings: Settings, memory_name: str, store: Store
) -> None:
    # Nothing is similar to anything: this is about the number of nodes.
    memory = AssoMem(memory_name, settings=settings, embedder=HashingEmbedder(16, tokens=False, gamma=2))
    for part in range(0, 12_345, 2_469):
        said = [Utterance("Mira", f"n{number}", None, f"u{number}") for number in range(part, part + 2_469)]
        memory.remember([Session(f"s{part}-{start}", said[start : start + 100]) for start in range(0, len(said), 100)])
    assert memory.search("n777").evidence
    done = memory.forget(everything=True)
    assert done.utterances == 12_345
    assert store.read(ALL, m=memory.memory)[0]["n"] == 0
    with pytest.raises(UnknownMemory):
        memory.search("n777")
    memory.close()


def test_a_memory_whose_forgetting_was_cut_short_is_not_found_and_a_repeat_finishes(
    memory: AssoMem, store: Store
) -> None:
    fill(memory)
    store.write(load("forget/begin_all"), memory=memory.memory)
    store.write(load("forget/some_nodes"), memory=memory.memory, limit=7)
    for use in (
        lambda: memory.search("harbour"),
        lambda: memory.ask("harbour"),
        memory.sessions,
        memory.clues,
        lambda: memory.show("a"),
        lambda: memory.forget(session_id="a"),
    ):
        with pytest.raises(UnknownMemory):
            use()
    assert "unfinished_forgetting" in [one.check for one in memory.doctor() if repr(memory.memory) in one.says]
    assert memory.forget(everything=True).utterances == 18
    assert store.read(ALL, m=memory.memory)[0]["n"] == 0


def test_a_topic_keeps_no_word_that_only_a_forgotten_turn_said(memory: AssoMem, store: Store) -> None:
    memory.remember(
        [
            Session(
                "s",
                [
                    Utterance("Mira", "The xylophone lessons begin in March, xylophone lessons at last"),
                    Utterance("Tove", "The brass lamp is broken, the brass lamp in the hall"),
                ],
            )
        ]
    )
    assert any("xylophone" in clue["text"].lower() for clue in memory.clues())
    memory.forget(utterance_id="s:1")
    left = memory.clues()
    assert not [clue for clue in left if "xylophone" in f"{clue['text']} {clue['wordings']}".lower()]
    assert any("lamp" in clue["text"].lower() for clue in left)
