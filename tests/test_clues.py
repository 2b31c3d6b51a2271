"""Clues without a language model, when two are one, and ready-made ones."""

import json
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assomem.clues import (
    KINDS,
    MAX_NAMES,
    MAX_PHRASES,
    Clue,
    ReadyMadeClue,
    extract,
    is_label,
    may_merge,
    normalised,
    read_ready_made,
)
from assomem.dialogue import Session, Utterance
from assomem.errors import InputError
from assomem.sample import sample_folder


def _session(*turns: str) -> Session:
    """A session from turns written `Speaker: text`."""
    pairs = (turn.split(": ", 1) for turn in turns)
    return Session("s", [Utterance(speaker, text) for speaker, text in pairs])


def _of(kind: str, *turns: str) -> dict[str, tuple[int, ...]]:
    return {clue.text: clue.anchors for clue in extract(_session(*turns)) if clue.kind == kind}


def _sample() -> dict[str, list[Clue]]:
    sessions: dict[str, list[Utterance]] = {}
    for line in (sample_folder() / "memory.jsonl").read_text(encoding="utf-8").splitlines():
        row = cast(dict[str, Any], json.loads(line))
        sessions.setdefault(row["session_id"], []).append(Utterance(row["speaker"], row["text"]))
    return {name: extract(Session(name, turns)) for name, turns in sessions.items()}


# -- people and places


def test_people_are_found_in_mid_sentence_and_anchored_to_every_mention() -> None:
    people = _of("person", "Ann: I had lunch with Mira.", "Bo: Good.", "Ann: Mira sends her regards.")
    assert people == {"Mira": (0, 2)}


def test_a_capital_that_only_begins_a_sentence_names_nobody() -> None:
    assert _of("person", "Ann: Bicycles are expensive. Dinner is ready!", "Bo: Splendid, truly.") == {}


def test_mira_and_mira_in_capitals_are_one() -> None:
    assert _of("person", "Ann: Ask MIRA about it.", "Bo: We saw Mira, and Mira knew.") == {"Mira": (0, 1)}


def test_two_people_are_two_clues() -> None:
    assert set(_of("person", "Ann: I met Mira.", "Bo: And I met Tove.")) == {"Mira", "Tove"}


def test_paris_the_person_and_paris_the_city_are_two_clues_with_their_own_anchors() -> None:
    turns = ("Ann: My sister Paris called.", "Bo: I work in Paris.", "Ann: Then you should ask Paris.")
    assert _of("person", *turns) == {"Paris": (0, 2)}
    assert _of("place", *turns) == {"Paris": (1,)}


@pytest.mark.parametrize(
    "label",
    [
        "SPEAKER_02",
        "Speaker 1",
        "speaker-3",
        "user",
        "assistant",
        "unknown",
        "Unknown",
        "Participant 12",
        "Speaker A",
    ],
)
def test_labels_of_speakers_are_no_clues(label: str) -> None:
    assert is_label(label)
    found = extract(_session(f"{label}: I met Tove.", f"Ann: So {label} was there, and {label} saw it."))
    assert [clue.text for clue in found if clue.kind == "person"] == ["Tove"]
    assert all(normalised(label) not in normalised(clue.text).split(", ") for clue in found)


@pytest.mark.parametrize("name", ["Mira", "Will", "Guesthouse", "Asa", "小明", "Speakerman"])
def test_names_are_no_labels(name: str) -> None:
    assert not is_label(name)


def test_a_speaker_is_a_person_where_others_name_them_and_not_where_they_speak() -> None:
    assert _of("person", "Nadia: Morning.", "Oskar: Nadia, are you ill?", "Nadia: No.") == {"Nadia": (1,)}


def test_a_speaker_called_by_the_first_name_is_found() -> None:
    assert _of("person", "Leonora Finch: Hello.", "Bo: Leonora, look!") == {"Leonora": (1,)}


def test_a_speaker_named_like_a_word_or_a_month_is_told_from_it() -> None:
    turns = ("Will: Hello.", "May: Will you come in May?", "Ann: I told Will, but May knew it.")
    assert _of("person", *turns) == {"May": (2,), "Will": (2,)}


def test_a_speaker_who_writes_without_capitals_is_named_without_them() -> None:
    assert _of("person", "mira_k: hi all", "tove: ask mira_k", "小明: tove", "tove: 小明 你好") == {
        "mira_k": (1,),
        "tove": (2,),
        "小明": (3,),
    }


def test_titles_possessives_and_longer_names_are_read_whole() -> None:
    people = _of("person", "A: Dr. Lindqvist saw Bram’s knee, then Leonora Finch and Mrs. van der Berg rang.")
    assert set(people) == {"Dr. Lindqvist", "Bram", "Leonora Finch", "Mrs. van der Berg"}


def test_a_word_in_front_of_a_name_is_no_part_of_it() -> None:
    assert set(_of("person", "A: Ask Wilf about it.", "B: I like Wilf.")) == {"Wilf"}


def test_days_months_nationalities_holidays_and_interjections_are_no_names() -> None:
    text = (
        "A: On Friday, Oh well, the Danish shop, I, Christmas in May, and so Good Friday; "
        "yes Mum, no Thanks, OK, in French"
    )
    assert _of("person", text) == {}
    assert _of("place", text) == {}


def test_places_follow_a_preposition_or_say_what_they_are() -> None:
    places = _of(
        "place",
        "A: We went to Ghent and stayed near St. Olave's.",
        "B: I liked the Maritime Museum, Mill Street, and a boat on Lake Orrin; next we visit San Sebastián.",
    )
    expected = {"Ghent", "St. Olave's", "Maritime Museum", "Mill Street", "Lake Orrin", "San Sebastián"}
    assert set(places) == expected


def test_to_and_from_a_person_are_no_places() -> None:
    turns = (
        "A: I wrote to Beatriz, and a letter from Duarte came.",
        "B: I walked to Anna. Anna's garden is wild.",
    )
    assert _of("place", *turns) == {}
    assert set(_of("person", *turns)) == {"Beatriz", "Duarte", "Anna"}


def test_names_of_other_things_are_phrases_and_keep_their_capitals() -> None:
    turns = ("A: That choir, the Harbour Voices, is short of basses.", "B: I like the Harbour Voices.")
    assert _of("person", *turns) == {}
    assert _of("phrase", *turns)["Harbour Voices"] == (0, 1)


def test_a_shouted_turn_names_only_whom_another_turn_names() -> None:
    turns = ("A: WHERE IS MIRA WITH THE BIG BOX", "B: I left Mira at home.")
    assert _of("person", *turns) == {"Mira": (0, 1)}


def test_where_every_noun_has_a_capital_a_capital_alone_names_nobody() -> None:
    text = (
        "A: ich habe Hunde und Katzen im Haus gesehen und dann kam Besuch mit Leiter weil Baum und Dach "
        "kaputt waren nach Sturm und Regen und ohne Strom war Kaffee kein Thema und auch Kuchen nicht"
    )
    assert _of("person", text) == {}


# -- phrases and topics


def test_phrases_that_come_back_are_the_best_and_anchor_wherever_their_stems_stand() -> None:
    phrases = _of(
        "phrase",
        "A: The greenhouse needs new panes.",
        "B: My bike is fast.",
        "A: Two greenhouses in one year!",
        "B: A greenhouse is never finished.",
    )
    assert next(iter(phrases)) == "greenhouse"
    assert phrases["greenhouse"] == (0, 2, 3)


def test_a_phrase_is_a_run_of_content_words_that_ends_in_a_telling_one() -> None:
    assert _of("phrase", "A: I've bought an espresso machine for the kitchen.") == {
        "espresso machine": (0,),
        "kitchen": (0,),
    }


def test_weights_are_relative_to_the_best_phrase() -> None:
    weights = [clue.weight for clue in _sample()["s05"] if clue.kind == "phrase"]
    assert weights[0] == 1
    assert weights == sorted(weights, reverse=True)
    assert min(weights) > 0


def test_the_topic_is_one_and_anchors_every_utterance_that_has_a_word() -> None:
    found = extract(_session("A: The bicycle has a broken wheel.", "B: 😀", "A: The wheel costs 34 pounds."))
    topics = [clue for clue in found if clue.kind == "topic"]
    assert len(topics) == 1
    assert topics[0].anchors == (0, 2)
    assert topics[0].text.startswith("wheel")


def test_kinds_come_in_a_fixed_order_and_within_bounds() -> None:
    people = "A: " + " ".join(f"I met Mira{chr(97 + i)}{chr(97 + j)} too." for i in range(10) for j in range(10))
    for clues in [*_sample().values(), extract(_session(people))]:
        order = [KINDS.index(clue.kind) for clue in clues]
        assert order == sorted(order)
        counts = {kind: sum(clue.kind == kind for clue in clues) for kind in KINDS}
        assert counts["topic"] <= 1
        assert counts["phrase"] <= MAX_PHRASES
        assert counts["person"] <= MAX_NAMES
        assert counts["place"] <= MAX_NAMES
    assert sum(clue.kind == "person" for clue in extract(_session(people))) == MAX_NAMES


def test_nothing_comes_of_a_session_without_words() -> None:
    assert extract(Session("s", [])) == []
    assert extract(_session("A: 😀🎉", "B: ?! …", "A: 👍")) == []


def test_the_sample_memory_has_its_people_and_places() -> None:
    clues = _sample()

    def texts(session: str, kind: str) -> set[str]:
        return {clue.text for clue in clues[session] if clue.kind == kind}

    assert texts("s08", "person") == {"Bram", "Hettie Sloane"}
    assert texts("s08", "place") == {"Mill Street", "Bornholm", "Denby", "Marrow Cottage"}
    assert texts("s02", "place") == {"Ghent", "Brussels", "Maritime Museum"}
    assert {"Mrs. Okafor", "Ruben Vance", "Mr. Pellow"} <= texts("s07", "person")
    assert {"slugs", "egg boxes", "broad beans"} <= texts("s05", "phrase")
    assert next(clue.text for clue in clues["s07"] if clue.kind == "topic") == "plot, greenhouse, artichokes"


_pieces = st.sampled_from(
    [
        "Mira",
        "MIRA",
        "in Paris",
        "to",
        "the",
        "Harbour Voices",
        "Mr.",
        "'s",
        "’",
        "SPEAKER_02",
        "of",
        "van",
        "and I",
    ]
)
_texts = st.one_of(
    st.text(max_size=60),
    st.lists(st.one_of(_pieces, st.text(max_size=8)), max_size=15).map(" ".join),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.builds(Utterance, speaker=_texts, text=_texts), max_size=6))
def test_any_text_gives_well_anchored_clues_and_always_the_same(utterances: list[Utterance]) -> None:
    session = Session("s", utterances)
    clues = extract(session)
    assert clues == extract(session)
    for clue in clues:
        assert clue.kind in ("topic", "phrase", "person", "place")
        assert clue.text.strip()
        assert clue.anchors
        assert list(clue.anchors) == sorted(set(clue.anchors))
        assert 0 <= clue.anchors[0] <= clue.anchors[-1] < len(utterances)
        assert 0 < clue.weight <= 1
    # Within a session no two clues of one kind are the same clue.
    assert len({(clue.kind, normalised(clue.text)) for clue in clues}) == len(clues)


@pytest.mark.timeout(60)
def test_an_utterance_of_200_000_characters_is_read() -> None:
    text = " ".join(
        cast(str, json.loads(line)["text"])
        for line in (sample_folder() / "memory.jsonl").read_text(encoding="utf-8").splitlines()
    )
    session = Session("s", [Utterance("A", (text * 20)[:200_000])])
    assert extract(session)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", ["a ", "a", "Aa Bb ", "Mira of ", "MIRA ", "豆子", "!?", "' ", "x-y-"])
def test_monotonous_text_does_not_hang(piece: str) -> None:
    session = Session("s", [Utterance("A", (piece * 200_000)[:200_000])])
    assert len(extract(session)) <= 1 + 8 + 16 + 16


# -- spelling


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Mira", "MIRA"),
        ("Ｍｉｒａ", "mira"),
        ("egg  boxes\n", " Egg boxes"),
        ("Straße", "STRASSE"),
        ("é", "é"),
    ],
)
def test_case_compatible_forms_and_blanks_do_not_count_in_spelling(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(("one", "other"), [("Mira", "Mira K."), ("Mira", "Mirä"), ("egg boxes", "eggboxes")])
def test_letters_and_marks_count_in_spelling(one: str, other: str) -> None:
    assert normalised(one) != normalised(other)


@given(st.text())
def test_a_normalised_spelling_is_its_own(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)


# -- merging


@pytest.mark.parametrize("kind", ["person", "place"])
def test_names_never_merge_by_meaning(kind: str) -> None:
    assert not may_merge(kind, "Mira", "Tove")
    assert not may_merge(kind, "Mira", "Mira Holm")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Mira likes tea", "Tove likes tea"),
        ("plot 27", "plot 9"),
        ("Harbour Voices", "choir"),
        ("the trip to Porto", "the trip to Bornholm"),
    ],
)
def test_clues_about_different_people_and_things_stay_different(one: str, other: str) -> None:
    for kind in ("topic", "phrase", "fact", "event", "preference"):
        assert not may_merge(kind, one, other)
        assert not may_merge(kind, other, one)


def test_clues_about_the_same_person_may_merge() -> None:
    assert may_merge("fact", "Mira likes tea", "tea is what MIRA likes")
    assert may_merge("phrase", "garden tools", "tools for the garden")


# -- ready-made clues


def _line(**changes: object) -> str:
    record = {"session_id": "s1", "kind": "fact", "text": "Nadia gave up coffee.", "utterance_ids": ["s1:2"]}
    return json.dumps({key: value for key, value in {**record, **changes}.items() if value is not None})


def test_ready_made_clues_are_read_in_order_with_other_keys_ignored() -> None:
    lines = [
        "\ufeff" + _line(speaker="Nadia"),
        "  \n",
        _line(kind="topic", utterance_ids=["s1:2", "s1:1", "s1:2"]),
    ]
    assert list(read_ready_made(lines)) == [
        ReadyMadeClue("s1", "fact", "Nadia gave up coffee.", ("s1:2",)),
        ReadyMadeClue("s1", "topic", "Nadia gave up coffee.", ("s1:2", "s1:1")),
    ]


@pytest.mark.parametrize("kind", [*KINDS, "hobby", "to-do"])
def test_known_kinds_and_other_short_words_are_kept_as_they_are(kind: str) -> None:
    assert [clue.kind for clue in read_ready_made([_line(kind=kind)])] == [kind]


@pytest.mark.parametrize("kind", ["Topic", "a b", "x" * 40, "topic\n", "théme", "1st", "`) DETACH"])
def test_a_kind_that_is_no_short_lower_case_word_is_refused_with_its_line(kind: str) -> None:
    with pytest.raises(InputError, match="line 2: kind must be one of topic"):
        list(read_ready_made([_line(), _line(kind=kind)]))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "line 1: not JSON"),
        ("[1]", "line 1: must be an object, not list"),
        (_line(session_id=None), "line 1: session_id must be text"),
        (_line(session_id=7), "line 1: session_id must be text"),
        (_line(text=" "), "line 1: text must be text"),
        (_line(kind=None), "line 1: kind must be text"),
        (_line(utterance_ids=None), "line 1: utterance_ids must be a list"),
        (_line(utterance_ids=[]), "line 1: utterance_ids must be a list"),
        (_line(utterance_ids="s1:1"), "line 1: utterance_ids must be a list"),
        (_line(utterance_ids=[3]), "line 1: utterance_ids must be text"),
        ("[" * 100_000, "line 1: not JSON"),
    ],
)
def test_a_line_that_cannot_be_used_is_named_with_the_field(line: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        list(read_ready_made([line]))


def test_ready_made_text_is_made_well_formed_and_errors_never_quote_it() -> None:
    [clue] = read_ready_made([_line(text="half \ud83d")])
    assert clue.text == "half \ufffd"
    with pytest.raises(InputError) as refused:
        list(read_ready_made([_line(text="a secret", utterance_ids=[])]))
    assert "secret" not in str(refused.value)
