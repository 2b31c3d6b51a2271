"""Asking: what is stored is found and explained, whatever the words look like, and nothing is silently wrong."""

import json
import os
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from assomem import AssoMem, Explanation, ReadyMadeClue, SearchResult, Session, Settings, Utterance
from assomem.errors import ClosedError, InputError, TimezoneNeeded, UnknownMemory
from assomem.models.doubles import FaultyEmbedder, HashingEmbedder
from assomem.server import Address

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ASKED = NOON + timedelta(days=30)
SYNTAX = "AND OR NOT + - \" ~ / \\ : ( ) [ ] { } * ? ` ' $memory ^ && || //x /* */ MATCH (n) DETACH DELETE n; }] \u2028"
SAID = (
    ("s1", "Mira", "I planted the tulip bulbs on the balcony.", NOON),
    ("s1", "tove", "Good, and the kayak is repaired.", NOON + timedelta(minutes=1)),
    ("s2", "Mira", "The cello lesson was moved to Thursday.", NOON + timedelta(days=3)),
    ("s2", "TOVE", "Then we can paddle the kayak on Wednesday.", NOON + timedelta(days=3, minutes=1)),
    ("s3", "Jörg", "Someone left a kayak paddle in the cellar.", None),
    ("s4", "Mira", "The tulips are out at last.", NOON + timedelta(days=60)),
)


def sessions() -> list[Session]:
    found: dict[str, list[Utterance]] = {}
    for session_id, speaker, text, said_at in SAID:
        found.setdefault(session_id, []).append(Utterance(speaker, text, said_at))
    return [Session(session_id, said) for session_id, said in found.items()]


@pytest.fixture(scope="module")
def filled(server: Address, settings: Settings) -> Iterator[AssoMem]:
    """A small memory that no test changes."""
    del server
    with AssoMem("test memory, filled", settings=settings, embedder=HashingEmbedder()) as memory:
        memory.remember(sessions())
        yield memory
        memory.forget(everything=True)


def ids(result: SearchResult) -> set[str]:
    return {piece.utterance_id for piece in result.evidence}


# -- what is found


def test_a_question_sees_what_was_stored_a_moment_ago(memory: AssoMem) -> None:
    memory.remember(sessions())
    for number in range(10):
        name = f"{'bcdfghjklm'[number]}orvat"
        memory.search(f"Where did {name} hide the {name} chest?", asked_at=ASKED)
        perfect = f"{name} hid the {name} chest under the bridge number {number}"
        memory.append("s2", Utterance("Mira", perfect, NOON + timedelta(days=3, minutes=5)))
        found = memory.search(f"Where did {name} hide the {name} chest?", asked_at=ASKED)
        assert found.evidence[0].text == perfect
        assert found.degraded == ()


@pytest.mark.parametrize("speaker", ["tove", "TOVE", " Tove "])
def test_a_speaker_is_found_in_any_case(filled: AssoMem, speaker: str) -> None:
    assert ids(filled.search("kayak", asked_at=ASKED, speaker=speaker)) == {"s1:2", "s2:2"}
    assert ids(filled.search("kayak", asked_at=ASKED, speaker="JÖRG")) == {"s3:1"}
    assert not filled.search("kayak", asked_at=ASKED, speaker="Tov").evidence


def test_a_session_limits_what_is_found(filled: AssoMem) -> None:
    assert ids(filled.search("kayak", asked_at=ASKED, session="s2")) == {"s2:1", "s2:2"}
    assert not filled.search("kayak", asked_at=ASKED, session="S2").evidence


def test_after_and_before_limit_by_time_and_leave_out_what_has_none(filled: AssoMem) -> None:
    third = NOON + timedelta(days=3)
    assert "s3:1" in ids(filled.search("kayak", asked_at=ASKED))
    assert ids(filled.search("kayak", asked_at=ASKED, after=third)) == {"s2:1", "s2:2"}
    assert ids(filled.search("kayak", asked_at=ASKED, before=third)) == {"s1:1", "s1:2"}
    assert ids(filled.search("kayak", asked_at=ASKED, after=NOON, before=NOON + timedelta(seconds=1))) == {"s1:1"}
    elsewhere = timezone(timedelta(hours=9))
    assert ids(filled.search("kayak", asked_at=ASKED, after=third.astimezone(elsewhere))) == {"s2:1", "s2:2"}


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_nothing_said_after_the_day_of_the_question_is_found(filled: AssoMem, preset: Any) -> None:
    assert "s4:1" not in ids(filled.search("tulips", asked_at=NOON + timedelta(days=59), preset=preset, k=50))
    early = (NOON + timedelta(days=60)).replace(hour=0)
    assert "s4:1" in ids(filled.search("tulips", asked_at=early, preset=preset, k=50))
    # The day ends in the zone of the one who asks: at UTC-11 it is still the day before.
    west = early.astimezone(timezone(timedelta(hours=-11)))
    assert "s4:1" not in ids(filled.search("tulips", asked_at=west, preset=preset, k=50))


def test_the_papers_preset_degrades_nothing_and_finds(filled: AssoMem) -> None:
    found = filled.search("tulip bulbs on the balcony", asked_at=ASKED, preset="paper")
    assert found.degraded == ()
    assert found.evidence[0].utterance_id == "s1:1"
    assert {one.reading for one in found.evidence[0].contributions} == {"cosine", "pagerank", "interval"}


# -- user text is never syntax


def test_user_text_is_never_query_syntax(settings: Settings, memory_name: str, server: Address) -> None:
    del server
    typed = SYNTAX
    name = f"{memory_name} {typed}"[:120].replace("\u2028", "")
    with AssoMem(name, settings=settings, embedder=HashingEmbedder()) as one:
        one.append(typed, Utterance(typed, f"{typed} kayak", NOON, typed))
        one.append("other", Utterance("Mira", "Nothing of the kind", NOON))
        for question in (f"kayak {typed}", *(f"kayak {character}" for character in typed.split())):
            found = one.search(question, asked_at=ASKED)
            assert ids(found) == {typed, "other:1"}
        first = one.search("kayak", asked_at=ASKED, speaker=typed, session=typed).evidence[0]
        assert (first.text, first.speaker, first.session_id) == (f"{typed} kayak", typed, typed)
        assert one.show(typed)[0]["text"] == f"{typed} kayak"
        assert one.forget(session_id=typed).utterances == 1
        one.forget(everything=True)


@pytest.mark.parametrize("question", ["?", "*", ":-)", '"', "AND", "~ / \\", "( ) [ ] { }", "\U0001f9a9", "`"])
def test_a_question_of_signs_alone_raises_nothing(filled: AssoMem, question: str) -> None:
    found = filled.search(question, asked_at=ASKED)
    assert all(np.isfinite(piece.score) for piece in found.evidence)
    filled.ask(question, asked_at=ASKED)
    filled.explain(question, asked_at=ASKED)


@pytest.mark.parametrize("fault", ["zeros", "nan", "size"])
def test_a_question_without_a_usable_vector_is_answered_by_its_words_and_says_so(
    settings: Settings, filled: AssoMem, fault: Any
) -> None:
    embedder = FaultyEmbedder(HashingEmbedder(), {"cello": fault})
    with AssoMem(filled.memory, settings=settings, embedder=embedder) as memory:
        for preset in ("default", "paper"):
            found = memory.search("When is the cello lesson?", asked_at=ASKED, preset=preset)
            assert any("no usable vector for the question" in one for one in found.degraded)
            assert all(np.isfinite(piece.score) for piece in found.evidence)
        assert "s2:1" in ids(memory.search("When is the cello lesson?", asked_at=ASKED))


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("我们昨天在上海吃了小笼包", "小笼包"),
        ("昨日は図書館で本を借りました", "図書館"),
        ("اشترينا الخبز من السوق", "السوق"),
        ("🦩🚲🎻", "🚲"),
    ],
)
def test_words_of_any_script_are_found_without_a_vector(
    settings: Settings, memory_name: str, server: Address, text: str, question: str
) -> None:
    del server
    blind = FaultyEmbedder(HashingEmbedder(), {"": "zeros"})
    with AssoMem(memory_name, settings=settings, embedder=blind) as memory:
        memory.remember(
            Session(f"s{n}", [Utterance("Mira", said)]) for n, said in enumerate((text, "Quite another one"))
        )
        assert [piece.text for piece in memory.search(question).evidence][:1] == [text]
        memory.forget(everything=True)


# -- nothing there, almost nothing there


def test_an_unknown_memory_is_named_with_the_ones_there_are(memory: AssoMem, filled: AssoMem) -> None:
    uses: list[Callable[[], object]] = [
        lambda: memory.search("kayak"),
        lambda: memory.ask("kayak"),
        lambda: memory.explain("kayak"),
        lambda: memory.explain("kayak", utterance_id="s:1"),
        memory.sessions,
        memory.clues,
        lambda: memory.show("s"),
    ]
    for use in uses:
        with pytest.raises(UnknownMemory, match="there is no memory of that name; there are: ") as unknown:
            use()
        assert repr(memory.memory) in str(unknown.value)
    assert filled.memory in {row["memory"] for row in memory.memories()}


def test_one_utterance_without_clues_is_found_and_its_importance_is_zero(memory: AssoMem) -> None:
    memory.remember([Session("s", [Utterance("Mira", "so so")])])
    assert memory.clues() == []
    for preset in ("default", "paper"):
        memory.search("so so", preset=preset)
    (piece,) = memory.search("so so").evidence
    assert piece.signals["importance"] == 0
    assert memory.search("so so").degraded == ()


# -- arguments


@pytest.mark.parametrize("k", [0, -1, 601, 10**9])
def test_k_out_of_range_is_refused_with_the_range(filled: AssoMem, k: int) -> None:
    with pytest.raises(InputError, match="1 to 600"):
        filled.search("kayak", k=k)


@pytest.mark.parametrize("k", [1, 2, 600])
def test_k_bounds_the_evidence(filled: AssoMem, k: int) -> None:
    assert len(filled.search("kayak", asked_at=ASKED, k=k).evidence) == min(k, 5)


@pytest.mark.parametrize("name", ["asked_at", "after", "before"])
def test_a_time_without_a_zone_is_refused_by_name(filled: AssoMem, name: str) -> None:
    with pytest.raises(TimezoneNeeded, match=name):
        filled.search("kayak", **{name: datetime(2026, 3, 2)})  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    "wrong", [{"question": ""}, {"question": " \n"}, {"question": "x" * 100_001}, {"speaker": " "}, {"session": ""}]
)
def test_a_wrong_argument_is_refused_by_name(filled: AssoMem, wrong: dict[str, Any]) -> None:
    given: dict[str, Any] = {"question": "kayak", **wrong}
    with pytest.raises(InputError, match=next(iter(wrong))):
        filled.search(**given)


def test_a_question_of_ten_thousand_words_is_answered(filled: AssoMem) -> None:
    found = filled.search("kayak paddle " * 5_000, asked_at=ASKED)
    assert found.evidence
    assert found.milliseconds["total"] < 60_000


# -- what a result says


def test_the_json_of_a_search_has_exactly_the_fields_of_the_contract(filled: AssoMem) -> None:
    found = json.loads(json.dumps(filled.search("Which kayak was repaired in March 2026?", asked_at=ASKED).as_json()))
    assert set(found) == {
        "memory", "question", "asked_at", "question_type", "intervals", "weights", "evidence", "degraded",
        "milliseconds",
    }  # fmt: skip
    assert set(found["evidence"][0]) == {
        "rank", "uid", "utterance_id", "session_id", "speaker", "said_at", "text", "score", "signals", "clues",
    }  # fmt: skip
    assert set(found["weights"]) == set(found["evidence"][0]["signals"]) == {"relevance", "importance", "temporal"}
    assert set(found["intervals"][0]) == {"from", "to", "text"}
    assert sum(found["weights"].values()) == pytest.approx(1, abs=1e-5)
    assert sum(found["question_type"].values()) == pytest.approx(1, abs=1e-3)
    assert [piece["rank"] for piece in found["evidence"]] == list(range(1, len(found["evidence"]) + 1))
    scores = [piece["score"] for piece in found["evidence"]]
    assert scores == sorted(scores, reverse=True)
    assert "total" in found["milliseconds"]
    assert datetime.fromisoformat(found["asked_at"]) == ASKED


def test_the_json_of_an_answer_adds_exactly_the_fields_of_the_contract(filled: AssoMem) -> None:
    answer = filled.ask("Which kayak was repaired?", asked_at=ASKED)
    found = json.loads(json.dumps(answer.as_json()))
    assert set(found) - set(answer.result.as_json()) == {"answer", "citations", "abstained", "usage"}
    assert found["citations"]
    assert all(set(one) == {"marker", "utterance_id"} for one in found["citations"])
    evidence = {piece["rank"]: piece["utterance_id"] for piece in found["evidence"]}
    assert all(evidence[one["marker"]] == one["utterance_id"] for one in found["citations"])


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_readings_add_up_to_signals_and_signals_to_the_score(filled: AssoMem, preset: Any) -> None:
    found = filled.search("Who repaired the kayak on Wednesday?", asked_at=ASKED, preset=preset)
    assert found.evidence
    for piece in found.evidence:
        assert sum(one.adds for one in piece.contributions) == pytest.approx(piece.score, abs=1e-9)
        by_signal = sum(piece.signals[signal] * weight for signal, weight in found.weights.items())
        assert by_signal == pytest.approx(piece.score, abs=1e-9)
        assert all(one.value * one.weight == pytest.approx(one.adds, abs=1e-12) for one in piece.contributions)
        assert all(0 <= one.value <= 1 for one in piece.contributions)
        assert 0 <= piece.score <= 1


def test_explanations_of_the_chosen_show_the_scores_of_the_search(filled: AssoMem) -> None:
    found = filled.search("kayak", asked_at=ASKED, k=3)
    explained = filled.explain("kayak", asked_at=ASKED, k=3)
    assert [(one.utterance_id, one.rank) for one in explained] == [
        (piece.utterance_id, piece.rank) for piece in found.evidence
    ]
    for one, piece in zip(explained, found.evidence, strict=True):
        assert one.score == pytest.approx(piece.score, abs=1e-12)
        assert one.lost_at is None
        adds_up(one)


def adds_up(explanation: Explanation) -> None:
    assert sum(one.adds for one in explanation.contributions) == pytest.approx(explanation.score, abs=1e-9)
    shown = json.loads(json.dumps(explanation.as_json()))
    assert set(shown) == {"question", "utterance_id", "rank", "score", "contributions", "lost_at", "says"}
    assert all(set(one) == {"signal", "reading", "value", "weight", "adds"} for one in shown["contributions"])


def test_an_explanation_says_why_not(filled: AssoMem) -> None:
    found = filled.search("kayak", asked_at=ASKED, k=50)
    last = found.evidence[-1]
    (cut,) = filled.explain("kayak", utterance_id=last.utterance_id, asked_at=ASKED, k=1)
    assert cut.rank == len(found.evidence)
    assert cut.score == pytest.approx(last.score, abs=1e-9)
    assert cut.lost_at is not None
    assert "budget" in cut.lost_at
    adds_up(cut)
    (late,) = filled.explain("tulips", utterance_id="s4:1", asked_at=ASKED)
    assert late.rank is None
    assert late.lost_at is not None
    assert "time" in late.lost_at
    adds_up(late)
    with pytest.raises(InputError, match="'nowhere'"):
        filled.explain("kayak", utterance_id="nowhere")


@pytest.mark.parametrize(
    ("filters", "lost_at"),
    [
        ({"speaker": "Tove"}, "filtered by speaker"),
        ({"session": "s2"}, "filtered by session"),
        ({"after": NOON + timedelta(days=1)}, "filtered by time: not known to be said after the limit"),
        ({"before": NOON - timedelta(days=1)}, "filtered by time: not known to be said before the limit"),
        ({"speaker": "MIRA", "session": "s1"}, None),
    ],
)
def test_an_explanation_names_the_filter_that_kept_an_utterance_out(
    filled: AssoMem, filters: dict[str, Any], lost_at: str | None
) -> None:
    (one,) = filled.explain("tulip bulbs", utterance_id="s1:1", asked_at=ASKED, **filters)
    assert one.lost_at == lost_at
    adds_up(one)


@pytest.mark.parametrize("wrong", [None, 5, b"x", "\u200b", "\u2060\ufeff "])
def test_a_question_that_is_no_text_or_shows_nothing_is_refused(filled: AssoMem, wrong: Any) -> None:
    with pytest.raises(InputError, match="question: "):
        filled.search(wrong)


@pytest.mark.parametrize("wrong", ["3", 2.5, True, None])
def test_a_number_of_evidence_that_is_none_is_refused(filled: AssoMem, wrong: Any) -> None:
    with pytest.raises(InputError, match="k: must be a whole number"):
        filled.search("tulips", k=wrong)


def test_no_output_carries_a_vector(filled: AssoMem) -> None:
    outputs = [
        filled.search("kayak", asked_at=ASKED, k=600).as_json(),
        filled.ask("kayak", asked_at=ASKED).as_json(),
        [one.as_json() for one in filled.explain("kayak", asked_at=ASKED)],
        filled.sessions(), filled.clues(), filled.show("s1"), filled.show("s1:1"), filled.memories(),
    ]  # fmt: skip

    def longest(value: object) -> int:
        if isinstance(value, dict):
            return max((longest(one) for one in value.values()), default=0)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        if isinstance(value, list | tuple):
            numbers = sum(isinstance(one, int | float) for one in value)  # pyright: ignore[reportUnknownVariableType]
            return max(numbers, *(longest(one) for one in value), 0)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        return 0

    assert longest(outputs) <= 64


# -- closing


def test_use_after_close_is_one_clear_error_and_closing_twice_is_nothing(settings: Settings, filled: AssoMem) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        memory = AssoMem(filled.memory, settings=settings, embedder=HashingEmbedder())
        assert memory.search("kayak", asked_at=ASKED).evidence
        memory.close()
        memory.close()
        uses: list[Callable[[], object]] = [
            lambda: memory.search("kayak"),
            lambda: memory.ask("kayak"),
            lambda: memory.append("s", Utterance("Mira", "more")),
            lambda: memory.remember(sessions()),
            lambda: memory.forget(everything=True),
            memory.sessions,
            memory.doctor,
        ]
        for use in uses:
            with pytest.raises(ClosedError):
                use()


def test_closing_what_was_never_used_starts_no_server(settings: Settings) -> None:
    alone = settings.model_copy(update={"neo4j_uri": None, "home": settings.home / "never"})
    memory = AssoMem(settings=alone)
    memory.close()
    with pytest.raises(ClosedError):
        memory.search("kayak")
    assert not os.path.exists(settings.home / "never")


def test_an_exception_inside_the_block_comes_out_as_it_is(settings: Settings) -> None:
    nowhere = settings.model_copy(update={"neo4j_uri": "bolt://127.0.0.1:1"})
    for given in (settings, nowhere):
        with pytest.raises(ZeroDivisionError), AssoMem("test", settings=given, embedder=HashingEmbedder()):
            _ = 1 / 0


@pytest.mark.parametrize("name", ["", " ", "a\nb", "\x00", "x" * 129, None, 5])
def test_a_wrong_memory_name_is_refused(settings: Settings, name: Any) -> None:
    with pytest.raises(InputError, match="memory: a name"):
        AssoMem(name, settings=settings)


def test_what_a_clue_says_of_an_utterance_is_read_with_it(memory: AssoMem) -> None:
    said_at = datetime(2026, 5, 1, tzinfo=UTC)
    texts = ["Did you ever get up there?", "Yes, last summer, it was great.", "I had soup.", "The weir is high."]
    fact = ReadyMadeClue("s", "fact", "Mira climbed the Matterhorn.", ("s:2",))
    name = ReadyMadeClue("s", "person", "Matterhorn", ("s:3",))
    memory.remember([Session("s", [Utterance("Mira", text, said_at) for text in texts])], clues=[fact, name])
    values = {
        why.utterance_id: {one.reading: one.value for one in why.contributions}
        for why in memory.explain("Who climbed the Matterhorn?", asked_at=datetime(2026, 6, 1, tzinfo=UTC))
    }
    assert values["s:2"]["late clue"] == 1
    # A name says nothing, so it is not read like words that were said.
    assert values["s:3"]["late clue"] == 0
