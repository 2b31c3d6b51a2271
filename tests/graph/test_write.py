"""Remembering: once, whatever happens in between; nothing doubled, nothing missing, one memory at a time."""

import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from assomem import AssoMem, ReadyMadeClue, Session, Settings, Utterance
from assomem.errors import EmbedderMismatch, InputError, UtteranceConflict
from assomem.graph import nearest
from assomem.models.doubles import FaultyEmbedder, HashingEmbedder
from assomem.models.embedder import Embedder
from assomem.server import Address
from assomem.store import Query, Store, load
from assomem.terms import terms

Dump = dict[str, dict[str, Any]]
DumpOf = Callable[[Store, str], Dump]

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
SUBJECTS = ("tulip bulbs", "the kayak", "grandmother's clock", "a cello lesson", "the harbour", "blue paint", "Utrecht")
LATER = NOON + timedelta(days=60)


def talk(session_id: str, turns: int, *, day: int = 0, first: int = 0) -> Session:
    """A session of two speakers; with the same numbers the same words."""
    return Session(
        session_id,
        [
            Utterance(
                ("Mira", "Tove")[number % 2],
                f"Turn {number} of {session_id}: we spoke about {SUBJECTS[number % 7]} and {SUBJECTS[number % 3]}.",
                NOON + timedelta(days=day, minutes=number),
                f"{session_id}/{number}",
            )
            for number in range(first, first + turns)
        ],
        started_at=NOON + timedelta(days=day),
    )


def cut(session: Session, numbers: Sequence[int]) -> Session:
    return replace(session, utterances=[session.utterances[number] for number in numbers])


@pytest.fixture
def open_other(server: Address, settings: Settings) -> Callable[..., AssoMem]:
    """Opens a memory by name with the double embedder; the caller closes it."""
    del server

    def open_one(name: str, embedder: Embedder | None = None) -> AssoMem:
        return AssoMem(name, settings=settings, embedder=embedder or HashingEmbedder())

    return open_one


def test_the_same_session_again_changes_nothing(
    memory: AssoMem, store: Store, dump: DumpOf, open_other: Callable[..., AssoMem]
) -> None:
    first = memory.remember([talk("s1", 20), talk("s2", 20, day=1)])
    assert (first.new, first.unchanged, first.degraded) == (40, 0, [])
    before = dump(store, memory.memory)
    again = memory.remember([talk("s1", 20), talk("s2", 20, day=1)])
    assert (again.new, again.unchanged, again.clues) == (0, 40, 0)
    assert dump(store, memory.memory) == before
    with open_other(memory.memory) as other:
        other.remember([talk("s1", 20)])
        assert dump(store, memory.memory) == before


def test_the_same_session_again_from_a_new_process_changes_nothing(
    memory: AssoMem, store: Store, dump: DumpOf, environment: dict[str, str]
) -> None:
    script = (
        "import sys\nfrom datetime import UTC, datetime\n"
        "from assomem import AssoMem, Session, Utterance\nfrom assomem.models.doubles import HashingEmbedder\n"
        "said = [Utterance('Mira', f'The tulip bulbs of day {n}', datetime(2026, 3, n + 1, tzinfo=UTC)) "
        "for n in range(20)]\n"
        "with AssoMem(sys.argv[1], embedder=HashingEmbedder()) as memory:\n"
        "    print(memory.remember([Session('s', said)]).new, len(memory.search('tulip bulbs').evidence))\n"
    )

    def run() -> str:
        command = [sys.executable, "-c", script, memory.memory]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    assert run() == "20 10\n"
    before = dump(store, memory.memory)
    assert run() == "0 10\n"
    assert dump(store, memory.memory) == before


@pytest.mark.parametrize(
    "order",
    [
        pytest.param([[0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5, 6, 7]], id="at the end"),
        pytest.param([[0, 1, 6, 7], [0, 1, 2, 3, 4, 5, 6, 7]], id="in the middle"),
        pytest.param([[4, 5, 6, 7], [0, 1, 2, 3, 4, 5, 6, 7]], id="at the beginning"),
        pytest.param([[0, 2, 4, 6], [0, 1, 2, 3, 4, 5, 6, 7]], id="everywhere"),
        pytest.param([[0], [1], [2], [3], [4], [5], [6], [7]], id="turn by turn"),
    ],
)
def test_a_session_that_grows_is_the_session_stored_at_once(
    memory: AssoMem, store: Store, meaning: DumpOf, open_other: Callable[..., AssoMem], order: list[list[int]]
) -> None:
    whole = talk("s", 8)
    for numbers in order:
        memory.remember([cut(whole, numbers)])
    with open_other(f"{memory.memory}, at once") as other:
        other.remember([whole])
        assert spoken(meaning(store, memory.memory)) == spoken(meaning(store, other.memory))
    assert not problems(memory)


def spoken(found: Dump) -> Dump:
    """Utterances, sessions, NEXT, similar utterances, posting lists and layout: all but the clues.

    A growing session is read for clues as it grows, so those may differ.
    """
    return {name: values for name, values in found.items() if "Clue " not in name and name != "Memory"}


def without_similar(found: Dump) -> Dump:
    """Which of many similar ones are linked depends on the order in which they came."""
    return {name: values for name, values in spoken(found).items() if " -SIMILAR- " not in name}


def problems(memory: AssoMem) -> list[str]:
    return [problem.says for problem in memory.doctor() if repr(memory.memory) in problem.says]


def test_a_turn_appended_at_a_time_gives_what_one_import_gives(
    memory: AssoMem, store: Store, meaning: DumpOf, open_other: Callable[..., AssoMem]
) -> None:
    whole = talk("s", 9)
    for utterance in whole.utterances:
        assert memory.append("s", utterance).new == 1
    with open_other(f"{memory.memory}, at once") as other:
        other.remember([whole])
        assert spoken(meaning(store, memory.memory)) == spoken(meaning(store, other.memory))


def test_an_append_without_an_id_takes_the_next_free_one(memory: AssoMem) -> None:
    memory.append("s", Utterance("Mira", "Hello there"))
    memory.append("s", Utterance("Mira", "Hello there"))
    memory.remember([Session("s", [Utterance("Tove", "I took number four", utterance_id="s:4")])])
    memory.append("s", Utterance("Mira", "And I come after it"))
    assert [row["utterance_id"] for row in memory.show("s")] == ["s:1", "s:2", "s:4", "s:5"]
    assert [row["position"] for row in memory.show("s")] == [1, 2, 3, 4]


def test_an_append_with_an_id_is_idempotent(memory: AssoMem, store: Store, dump: DumpOf) -> None:
    turn = Utterance("Mira", "The key is under the third pot", NOON, "m1")
    memory.append("s", turn)
    before = dump(store, memory.memory)
    assert memory.append("s", turn).unchanged == 1
    assert dump(store, memory.memory) == before


def test_the_order_in_which_sessions_come_does_not_change_what_is_said_and_counted(
    memory: AssoMem, store: Store, meaning: DumpOf, open_other: Callable[..., AssoMem]
) -> None:
    sessions = [talk(f"s{day}", 5, day=day) for day in range(6)]
    memory.remember(sessions)
    with open_other(f"{memory.memory}, backwards") as other:
        for session in reversed(sessions):
            other.remember([session])
        one, two = meaning(store, memory.memory), meaning(store, other.memory)
    assert without_similar(one) == without_similar(two)


def test_a_missing_time_stays_missing(memory: AssoMem, store: Store, dump: DumpOf) -> None:
    memory.remember(
        [Session("s", [Utterance("Mira", "Yesterday I bought tulip bulbs"), Utterance("Tove", "Nice", NOON)])]
    )
    stored = dump(store, memory.memory)["Utterance s:1"]
    assert "said_at" not in stored
    assert "means_from" not in stored
    assert memory.show("s")[0]["said_at"] is None
    assert memory.search("tulip bulbs", asked_at=NOON).evidence[0].said_at is None


def test_times_keep_instant_and_offset(memory: AssoMem) -> None:
    given = [
        datetime.fromisoformat("2026-03-29T02:30:00+01:00"),
        datetime.fromisoformat("2026-01-01T00:00:00+08:00"),
        datetime.fromisoformat("1999-12-31T23:59:59.123456-11:00"),
    ]
    memory.remember([Session("s", [Utterance("Mira", f"Words number {n}", at) for n, at in enumerate(given)])])
    stored = [row["said_at"] for row in memory.show("s")]
    assert stored == given
    assert [at.utcoffset() for at in stored] == [at.utcoffset() for at in given]


def test_another_text_under_a_stored_id_is_refused_by_name_and_nothing_is_written(
    memory: AssoMem, store: Store, dump: DumpOf
) -> None:
    memory.remember([talk("s", 4)])
    before = dump(store, memory.memory)
    changed = Session("new", [Utterance("Mira", "Something new"), Utterance("Mira", "Other words", NOON, "s/2")])
    with pytest.raises(UtteranceConflict, match="'s/2'"):
        memory.remember([changed])
    with pytest.raises(UtteranceConflict, match="'s/2'"):
        memory.append("s", Utterance("Mira", "Other words", NOON, "s/2"))
    assert dump(store, memory.memory) == before


def test_threads_that_store_the_same_at_once_lose_and_double_nothing(
    memory: AssoMem, store: Store, meaning: DumpOf, open_other: Callable[..., AssoMem]
) -> None:
    sessions = [talk(f"s{number}", 6, day=number) for number in range(12)]
    ready = threading.Barrier(4)

    def store_some(worker: int) -> int:
        with open_other(memory.memory) as mine:
            ready.wait()
            # Each thread stores three quarters of the sessions, each in another order.
            part = [session for number, session in enumerate(sessions) if number % 4 != worker]
            return sum(mine.remember([session]).new for session in part[worker:] + part[:worker])

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(store_some, range(4))) == 72
    with open_other(f"{memory.memory}, by one") as other:
        other.remember(sessions)
        expected, found = meaning(store, other.memory), meaning(store, memory.memory)
    assert not problems(memory)
    same = [name for name in expected if "SIMILAR" not in name and name != "Memory"]
    assert {name: found.get(name) for name in same} == {name: expected[name] for name in same}
    assert {name for name in found if "SIMILAR" not in name} == {name for name in expected if "SIMILAR" not in name}


def test_threads_that_share_one_memory_object_append_without_ids_and_keep_every_turn(memory: AssoMem) -> None:
    ready = threading.Barrier(4)

    def append_some(worker: int) -> None:
        ready.wait()
        for turn in range(8):
            memory.append("chat", Utterance(f"Speaker{worker}", f"turn {turn} of worker {worker}"))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(append_some, range(4)))
    rows = memory.show("chat")
    assert len({row["utterance_id"] for row in rows}) == 32
    assert [row["position"] for row in rows] == list(range(1, 33))
    assert {row["text"] for row in rows} == {
        f"turn {turn} of worker {worker}" for turn in range(8) for worker in range(4)
    }
    assert not problems(memory)


def test_writers_of_their_own_sessions_wait_for_each_other_and_never_deadlock(
    server: Address, settings: Settings, memory_name: str, caplog: pytest.LogCaptureFixture
) -> None:
    del server
    ready = threading.Barrier(4)

    def append_some(worker: int) -> None:
        with AssoMem(memory_name, settings=settings, embedder=HashingEmbedder()) as own:
            ready.wait()
            for turn in range(8):
                own.append(f"chat {worker}", Utterance("Mira", f"turn {turn} of worker {worker}"))

    with caplog.at_level("WARNING", "neo4j"), ThreadPoolExecutor(4) as pool:
        list(pool.map(append_some, range(4)))
    assert "eadlock" not in caplog.text
    with AssoMem(memory_name, settings=settings, embedder=HashingEmbedder()) as memory:
        assert [row["utterances"] for row in memory.sessions()] == [8] * 4


@pytest.mark.parametrize("fault", ["zeros", "nan", "size"])
def test_a_text_without_a_usable_vector_takes_no_other_along(
    settings: Settings, server: Address, memory_name: str, fault: Any
) -> None:
    del server
    broken = FaultyEmbedder(HashingEmbedder(), {"heron": fault})
    texts = [f"Sentence number {number} about tulips" for number in range(8)]
    texts[3:3] = ["A heron stood by the weir", "The other heron flew to Zutphen"]
    with AssoMem(memory_name, settings=settings, embedder=broken) as memory:
        done = memory.remember(Session(f"s{number}", [Utterance("Mira", text)]) for number, text in enumerate(texts))
        assert done.new == 10
        assert [one for one in done.degraded if "'s3:1'" in one or "'s4:1'" in one] == done.degraded
        assert len(done.degraded) == 2
        assert memory.search("weir").evidence[0].text == texts[3]
        assert memory.search("Zutphen").evidence[0].text == texts[4]
        # A question about it has no vector either.
        found = memory.search("Which heron stood by the weir?")
        assert found.evidence[0].text == texts[3]
        assert any("no usable vector for the question" in one for one in found.degraded)
        assert all(np.isfinite(piece.score) for piece in found.evidence)


def test_a_failing_embedder_stores_nothing_of_the_batch_and_says_so(
    settings: Settings, memory_name: str, store: Store, dump: DumpOf
) -> None:
    from assomem.errors import ModelError

    broken = FaultyEmbedder(HashingEmbedder(), {"heron": "error"})
    with AssoMem(memory_name, settings=settings, embedder=broken) as memory:
        with pytest.raises(ModelError):
            memory.remember([Session("s", [Utterance("Mira", "A heron stood by the weir")])])
        assert dump(store, memory_name) == {}


def test_clues_of_a_kind_merge_above_delta_and_kinds_never_do(
    settings: Settings, memory_name: str, server: Address
) -> None:
    del server
    embedder = HashingEmbedder(meanings={"kayaking": "canoeing", "trip": "tour"}, delta=0.95)
    session = Session("s", [Utterance("Mira", f"Sentence {number} here") for number in range(4)])
    clues = [
        ReadyMadeClue("s", "topic", "canoeing tour", ("s:1", "s:2")),
        ReadyMadeClue("s", "topic", "kayaking trip", ("s:2", "s:3")),
        ReadyMadeClue("s", "event", "kayaking trip", ("s:4",)),
        ReadyMadeClue("s", "topic", "violin repairs", ("s:4",)),
    ]
    with AssoMem(memory_name, settings=settings, embedder=embedder) as memory:
        memory.remember([session], clues=clues)
        found = {(row["kind"], row["text"]): (row["support"], row["wordings"]) for row in memory.clues()}
        assert found == {
            ("topic", "canoeing tour"): (3, ["canoeing tour", "kayaking trip"]),
            ("event", "kayaking trip"): (1, ["kayaking trip"]),
            ("topic", "violin repairs"): (1, ["violin repairs"]),
        }
        # The merged wording is the same clue in a later session, too.
        later = Session("t", [Utterance("Tove", "Once more on the water")])
        memory.remember([later], clues=[ReadyMadeClue("t", "topic", "kayaking  trip", ("t:1",))])
        assert memory.clues()[0]["support"] == 4
        assert not problems(memory)


def test_different_people_and_things_stay_different(settings: Settings, memory_name: str, server: Address) -> None:
    del server
    embedder = HashingEmbedder(meanings={"mira": "name", "tove": "name", "paris": "name"})
    said = [
        ("SPEAKER_02", "I met Mira at the harbour and Mira was well."),
        ("SPEAKER_02", "Then I saw Tove at the mill, and Tove was busy."),
        ("SPEAKER_01", "Did Paris call? I asked Paris to bring the tent."),
        ("SPEAKER_01", "We flew to Paris in May; in Paris it rained."),
        ("SPEAKER_02", "MIRA is back again."),
    ]
    clues = [
        ReadyMadeClue("s", "person", "Mira", ("s:1",)),
        ReadyMadeClue("s", "person", "Tove", ("s:2",)),
        ReadyMadeClue("s", "person", "Paris", ("s:3",)),
        ReadyMadeClue("s", "place", "Paris", ("s:4",)),
        ReadyMadeClue("s", "person", "MIRA", ("s:5",)),
    ]
    with AssoMem(memory_name, settings=settings, embedder=embedder) as memory:
        memory.remember([Session("s", [Utterance(*one) for one in said])], clues=clues)
        found = {(row["kind"], row["text"]): row["support"] for row in memory.clues()}
        assert found == {("person", "Mira"): 2, ("person", "Tove"): 1, ("person", "Paris"): 1, ("place", "Paris"): 1}


def test_extracted_people_stay_different_and_a_label_is_none(
    settings: Settings, memory_name: str, server: Address
) -> None:
    del server
    embedder = HashingEmbedder(meanings={"mira": "name", "tove": "name"})
    said = [
        ("SPEAKER_02", "I met Mira at the harbour, and later Mira called."),
        ("SPEAKER_01", "Then I saw Tove at the mill, and Tove was busy."),
    ]
    with AssoMem(memory_name, settings=settings, embedder=embedder) as memory:
        memory.remember([Session("s", [Utterance(*one) for one in said])])
        people = {row["text"] for row in memory.clues() if row["kind"] == "person"}
        assert people == {"Mira", "Tove"}


def test_ready_made_clues_may_come_later_and_a_second_time_changes_nothing(
    memory: AssoMem, store: Store, dump: DumpOf
) -> None:
    session = talk("s", 4)
    clues = [ReadyMadeClue("s", "preference", "likes oat milk", ("s/0", "s/3", "of another session"))]
    memory.remember([session])
    memory.remember([session], clues=clues)
    found = next(row for row in memory.clues() if row["kind"] == "preference")
    assert (found["text"], found["support"]) == ("likes oat milk", 2)
    before = dump(store, memory.memory)
    memory.remember([session], clues=clues)
    assert dump(store, memory.memory) == before


def test_a_long_utterance_is_stored_in_pieces_and_counted(memory: AssoMem, store: Store, dump: DumpOf) -> None:
    words = " ".join(f"word{number}" for number in range(500))
    done = memory.remember(
        [Session("s", [Utterance("Mira", f"{words} the key is under the pot"), Utterance("Tove", "ok then")])]
    )
    assert done.in_pieces == 1
    pieces = [name for name in dump(store, memory.memory) if name.startswith("Piece s:1 ") and "->" not in name]
    assert len(pieces) == 5
    assert memory.search("Where is the key under the pot?").evidence[0].utterance_id == "s:1"


def test_the_last_sentence_of_a_long_turn_is_found_by_its_meaning_alone(
    open_memory: Callable[[str], AssoMem], memory_name: str
) -> None:
    filler = (
        "The committee went through the minutes of the previous meeting and approved them without changes. "
        "Then the treasurer read out the figures for heating, printing and postage in the second quarter. "
    )
    long = filler * 62 + "My little girl was born on the eleventh in the clinic downtown."
    assert len(long.split()) > 1900
    others = [
        f"Regarding item {number}, the chair asked for volunteers to repaint the fence and sweep the courtyard."
        for number in range(30)
    ]
    memory = open_memory(memory_name)
    done = memory.remember([Session("s", [Utterance("Ann", text) for text in (*others[:15], long, *others[15:])])])
    assert done.in_pieces == 1
    question = "In which hospital did their daughter arrive?"
    assert not set(terms(question)) & set(terms(long))
    (found,) = memory.explain(question, utterance_id="s:16")
    assert found.rank is not None
    assert found.rank == 1
    # By its last piece.
    assert next(one.value for one in found.contributions if one.reading == "cosine") > 0.9
    memory.forget(everything=True)


def test_what_is_stored_is_found_at_once_also_by_another_process(memory: AssoMem, environment: dict[str, str]) -> None:
    memory.append("s", Utterance("Mira", "The key is under the third pot"))
    assert [piece.utterance_id for piece in memory.search("Where is the key?").evidence] == ["s:1"]
    script = (
        "import sys\nfrom assomem import AssoMem\nfrom assomem.models.doubles import HashingEmbedder\n"
        "with AssoMem(sys.argv[1], embedder=HashingEmbedder()) as memory:\n"
        "    print(memory.search('Where is the key?').evidence[0].text)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, memory.memory], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "The key is under the third pot\n"


@pytest.mark.parametrize(
    "other",
    [HashingEmbedder(name="another"), HashingEmbedder(96), HashingEmbedder(tokens=False)],
    ids=["same size", "other size", "other vectors"],
)
def test_another_embedder_is_refused_before_anything_is_written_or_searched(
    memory: AssoMem, store: Store, dump: DumpOf, open_other: Callable[..., AssoMem], other: HashingEmbedder
) -> None:
    memory.remember([talk("s", 4)])
    before = dump(store, memory.memory)
    with open_other(memory.memory, embedder=other) as opened:
        uses: list[Callable[[], object]] = [
            lambda: opened.remember([talk("t", 60)]),
            lambda: opened.append("s", Utterance("Mira", "One more")),
            lambda: opened.append("s", Utterance("Mira", "One more", None, "id")),
            lambda: opened.search("kayak"),
            lambda: opened.ask("kayak"),
            lambda: opened.explain("kayak"),
        ]
        for use in uses:
            with pytest.raises(EmbedderMismatch) as refused:
                use()
            assert HashingEmbedder().fingerprint in str(refused.value)
            assert other.fingerprint in str(refused.value)
    assert dump(store, memory.memory) == before


def test_a_memory_too_large_to_compare_with_all_merges_and_links_by_the_index(
    memory: AssoMem, monkeypatch: pytest.MonkeyPatch, open_other: Callable[..., AssoMem]
) -> None:
    monkeypatch.setattr(nearest, "EXACT_LIMIT", 3)
    clue = ("topic", "tulip bulbs")
    memory.remember([talk("s", 8)], clues=[ReadyMadeClue("s", *clue, ("s/0",))])
    with open_other(memory.memory, embedder=HashingEmbedder()) as later:
        done = later.remember([talk("t", 8)], clues=[ReadyMadeClue("t", "topic", "bulbs tulip", ("t/0",))])
        assert done.new == 8
        assert [(row["text"], row["support"]) for row in later.clues()] == [("tulip bulbs", 2)]
        assert not problems(later)


def test_a_memory_forgotten_and_made_again_elsewhere_is_not_confused_with_what_this_process_knew(
    memory: AssoMem, store: Store, contents: DumpOf, open_other: Callable[..., AssoMem]
) -> None:
    memory.remember([talk("old", 6)])
    with open_other(memory.memory) as other:
        other.forget(everything=True)
        other.remember([talk("new", 6)])  # now of the same revision again
    memory.remember([talk("more", 6)])
    with open_other(f"{memory.memory}, twin") as twin:
        twin.remember([talk("new", 6)])
        twin.remember([talk("more", 6)])
        assert contents(store, memory.memory) == contents(store, twin.memory)


def test_nothing_is_stored_into_a_memory_that_is_being_forgotten(memory: AssoMem, store: Store) -> None:
    memory.remember([talk("s", 4)])
    store.write(load("forget/begin_all"), memory=memory.memory)  # as far as a killed forget may have come
    with pytest.raises(InputError, match="is being forgotten"):
        memory.append("s", Utterance("Mira", "One more"))
    memory.forget(everything=True)
    assert memory.append("s", Utterance("Mira", "A new beginning")).new == 1
    assert [row["text"] for row in memory.show("s")] == ["A new beginning"]


COUNT = Query(
    "tests/count", "MATCH (n) WHERE n.memory = $memory RETURN count(n) AS count", frozenset({"memory"}), ("count",)
)


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(Utterance("Mira", ""), id="empty text"),
        pytest.param(Utterance("Mira", " \n\t"), id="blank text"),
        pytest.param(Utterance("", "words"), id="empty speaker"),
        pytest.param(Utterance("Mira", "x" * 300_000), id="too long"),
        pytest.param(Utterance("M" * 600, "words"), id="long speaker"),
        pytest.param(Utterance("Mira", "words", utterance_id="i" * 600), id="long id"),
        pytest.param(Utterance("Mira", 5), id="a number as text"),  # pyright: ignore[reportArgumentType]
        pytest.param("words", id="no utterance"),
    ],
)
def test_a_wrong_utterance_is_refused_before_anything_is_written(memory: AssoMem, store: Store, bad: Any) -> None:
    with pytest.raises(InputError, match="'s', utterance 3"):
        memory.remember([Session("ok", [Utterance("Mira", "fine")]), Session("s", [*talk("s", 2).utterances, bad])])
    assert store.read(COUNT, memory=memory.memory)[0]["count"] == 0
    assert memory.memory not in {row["memory"] for row in memory.memories()}


def test_extreme_but_legal_sizes_are_stored_and_found(memory: AssoMem) -> None:
    wide = "\U0001f9a9" * 512
    memory.remember([Session("s" * 512, [Utterance(wide, "word " * 40_000 + "flamingo", NOON, "\u00fc" * 512)])])
    found = memory.search("flamingo", speaker=wide, session="s" * 512)
    assert [piece.utterance_id for piece in found.evidence] == ["\u00fc" * 512]
