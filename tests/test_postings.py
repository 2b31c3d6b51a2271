"""Posting lists and the scores from them: against BM25 by hand, and against a slow version in plain Python."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assomem.postings import (
    GONE,
    LAYOUT_CHUNK,
    UNDATED,
    Layout,
    Window,
    drop_postings,
    move_in_places,
    pack_places,
    pack_postings,
    place_bytes,
    score_words,
    unpack_postings,
)


@dataclass(frozen=True)
class Turn:
    """An utterance as the oracle sees it."""

    session: int
    position: int
    words: tuple[str, ...]


def layout_of(turns: Sequence[Turn], gone: frozenset[int] = frozenset()) -> Layout:
    """The layout of utterances whose ordinals are their indices."""
    return Layout.unpack([
        pack_places([
            (GONE if ordinal in gone else turn.session, turn.position, len(turn.words), 0)
            for ordinal, turn in enumerate(turns)
        ])
    ])  # fmt: skip


def postings_of(turns: Sequence[Turn], asked: Sequence[str]) -> dict[str, list[bytes]]:
    """Posting lists, each cut in two as if written in two chunks."""
    lists: dict[str, list[bytes]] = {}
    for term in asked:
        entries = [(ordinal, turn.words.count(term)) for ordinal, turn in enumerate(turns) if term in turn.words]
        half = len(entries) // 2
        lists[term] = [
            pack_postings([ordinal for ordinal, _ in part], [count for _, count in part])
            for part in (entries[:half], entries[half:])
        ]
    return lists


# -- the oracle: BM25 of documents, each a mapping term → count, and a length


def bm25(documents: Sequence[tuple[dict[str, float], float]], asked: Sequence[str]) -> list[float]:
    mean = max(sum(length for _, length in documents) / len(documents), 1.0)
    scores = [0.0] * len(documents)
    for term in asked:
        holding = sum(counts.get(term, 0) > 0 for counts, _ in documents)
        idf = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
        for index, (counts, length) in enumerate(documents):
            tf = counts.get(term, 0)
            if tf:
                scores[index] += idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length / mean))
    return scores


def window_document(session: list[Turn], at: int, asked: Sequence[str]) -> tuple[dict[str, float], float]:
    """An utterance's window: up to 60 terms, its own first, then of its neighbours, the earlier one half the room."""
    own = session[at]
    counts = {term: float(own.words.count(term)) for term in asked}
    length, room = float(len(own.words)), max(60.0 - len(own.words), 0.0)
    for reach in range(1, 7):
        for neighbour, part in ((at - reach, 0.5), (at + reach, 1.0)):
            if not 0 <= neighbour < len(session) or not session[neighbour].words:
                continue
            words = session[neighbour].words
            taken = min(len(words), math.ceil(room * part))
            for term in asked:
                counts[term] += words.count(term) * taken / len(words)
            length, room = length + taken, room - taken
    return counts, length


def slow_scores(turns: Sequence[Turn], gone: frozenset[int], asked: Sequence[str]) -> dict[str, list[float]]:
    size = len(turns)
    result = {name: [0.0] * size for name in ("text", "window", "session")}
    live = [ordinal for ordinal in range(size) if ordinal not in gone]
    if not live:
        return result
    whole = [({term: float(turns[o].words.count(term)) for term in asked}, float(len(turns[o].words))) for o in live]
    for ordinal, score in zip(live, bm25(whole, asked), strict=True):
        result["text"][ordinal] = score
    sessions: dict[int, list[int]] = {}
    for ordinal in live:
        sessions.setdefault(turns[ordinal].session, []).append(ordinal)
    windows: dict[int, tuple[dict[str, float], float]] = {}
    joined: list[tuple[dict[str, float], float]] = []
    for members in sessions.values():
        members.sort(key=lambda ordinal: turns[ordinal].position)
        session = [turns[ordinal] for ordinal in members]
        windows |= {ordinal: window_document(session, at, asked) for at, ordinal in enumerate(members)}
        said = [word for turn in session for word in turn.words]
        joined.append(({term: float(said.count(term)) for term in asked}, float(len(said))))
    for ordinal, score in zip(windows, bm25(list(windows.values()), asked), strict=True):
        result["window"][ordinal] = score
    for members, score in zip(sessions.values(), bm25(joined, asked), strict=True):
        for ordinal in members:
            result["session"][ordinal] = score
    return result


ASKED = ("cat", "dog", "unheard")


@st.composite
def memories(draw: st.DrawFn) -> tuple[list[Turn], frozenset[int]]:
    """A small memory whose ordinals are in another order than its sessions and positions."""
    turns: list[Turn] = []
    for session in range(draw(st.integers(1, 4))):
        for position in range(1, draw(st.integers(1, 9)) + 1):
            length = draw(st.sampled_from([0, 1, 3, 10, 25, 59, 60, 70]))
            cats, dogs = draw(st.integers(0, min(length, 3))), draw(st.integers(0, 2))
            words = (("cat",) * cats + ("dog",) * dogs + ("talk",) * length)[:length]
            turns.append(Turn(session * 7 + 3, position, words))
    turns = draw(st.permutations(turns))
    gone = draw(st.sets(st.integers(0, len(turns) - 1), max_size=len(turns)))
    return turns, frozenset(gone)


@given(memories())
def test_scores_are_those_of_bm25_over_utterances_windows_and_sessions(
    memory: tuple[list[Turn], frozenset[int]],
) -> None:
    turns, gone = memory
    found = score_words(layout_of(turns, gone), postings_of(turns, ASKED))
    slow = slow_scores(turns, gone, ASKED)
    np.testing.assert_allclose(found.text, slow["text"], atol=1e-12)
    np.testing.assert_allclose(found.window, slow["window"], atol=1e-12)
    np.testing.assert_allclose(found.session, slow["session"], atol=1e-12)
    for term in ASKED:
        holding = [o for o, turn in enumerate(turns) if o not in gone and term in turn.words]
        assert found.document_frequency[term] == len(holding)
        if holding:
            assert found.counts[term].tolist() == [
                float(turn.words.count(term)) if ordinal not in gone else 0.0 for ordinal, turn in enumerate(turns)
            ]


@given(memories(), st.randoms(use_true_random=False))
def test_the_order_in_which_utterances_were_stored_does_not_matter(
    memory: tuple[list[Turn], frozenset[int]], random: Random
) -> None:
    turns = memory[0]
    order = list(range(len(turns)))
    random.shuffle(order)
    shuffled = [turns[ordinal] for ordinal in order]
    one = score_words(layout_of(turns), postings_of(turns, ASKED))
    other = score_words(layout_of(shuffled), postings_of(shuffled, ASKED))
    np.testing.assert_allclose(other.text, one.text[order], atol=1e-12)
    np.testing.assert_allclose(other.window, one.window[order], atol=1e-12)
    np.testing.assert_allclose(other.session, one.session[order], atol=1e-12)


@given(memories())
def test_a_memory_with_forgotten_utterances_scores_like_one_that_never_had_them(
    memory: tuple[list[Turn], frozenset[int]],
) -> None:
    turns, gone = memory
    kept = [ordinal for ordinal in range(len(turns)) if ordinal not in gone]
    never = [turns[ordinal] for ordinal in kept]
    # Lists and layout are cleaned at different moments: what a list still holds of them must not count.
    one = score_words(layout_of(turns, gone), postings_of(turns, ASKED))
    other = score_words(layout_of(never), postings_of(never, ASKED))
    for name in ("text", "window", "session"):
        scores = getattr(one, name)
        np.testing.assert_allclose(scores[kept], getattr(other, name), atol=1e-12)
        assert not scores[sorted(gone)].any()
    assert one.document_frequency == other.document_frequency


# -- by hand


def test_scores_of_three_utterances_by_hand() -> None:
    turns = [
        Turn(1, 1, ("cat", "cat", "sat")),  # 3 terms
        Turn(1, 2, ("dog",)),  # 1 term
        Turn(2, 1, ("cat", "dog", "sit", "sit", "sit")),  # 5 terms; the mean is 3
    ]
    found = score_words(layout_of(turns), postings_of(turns, ["cat"]))
    idf = math.log(1 + 1.5 / 2.5)
    np.testing.assert_allclose(
        found.text,
        [idf * 4.4 / (2 + 1.2 * (0.25 + 0.75 * 3 / 3)), 0, idf * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 5 / 3))],
    )
    # The windows of the first session are both of its utterances: 4 terms, 4 terms, 5 terms; all three hold "cat".
    idf, mean = math.log(1 + 0.5 / 3.5), 13 / 3
    first = idf * 4.4 / (2 + 1.2 * (0.25 + 0.75 * 4 / mean))
    np.testing.assert_allclose(found.window, [first, first, idf * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 5 / mean))])
    # Two sessions of 4 and 5 terms, both hold it.
    idf, mean = math.log(1 + 0.5 / 2.5), 4.5
    first = idf * 4.4 / (2 + 1.2 * (0.25 + 0.75 * 4 / mean))
    np.testing.assert_allclose(found.session, [first, first, idf * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 5 / mean))])
    assert found.document_frequency == {"cat": 2}


def test_a_window_takes_half_of_the_room_from_before_and_what_is_left_from_after() -> None:
    # Own 20 of 60: 40 left; 20 of the 30 before, 20 of the 50 after; then it is full.
    window = Window.around(np.array([1, 1, 1, 1]), np.array([9.0, 30.0, 20.0, 50.0]))
    assert window.shares[-1][2] == pytest.approx(20 / 30)
    assert window.shares[1][2] == pytest.approx(20 / 50)
    assert window.shares[-2][2] == 0
    assert window.length[2] == 60


def test_a_window_reaches_six_utterances_on_either_side() -> None:
    size = 20
    window = Window.around(np.full(size, 1), np.ones(size))
    assert sorted(window.shares) == [-6, -5, -4, -3, -2, -1, 1, 2, 3, 4, 5, 6]
    assert [share[10] for share in window.shares.values()] == [1.0] * 12
    assert window.length.tolist() == [7, 8, 9, 10, 11, 12, *[13] * 8, 12, 11, 10, 9, 8, 7]


def test_a_long_utterance_has_no_context() -> None:
    turns = [Turn(1, 1, ("cat",)), Turn(1, 2, ("talk",) * 60), Turn(1, 3, ("cat",))]
    assert score_words(layout_of(turns), postings_of(turns, ["cat"])).window[1] == 0
    shorter = [turns[0], Turn(1, 2, ("talk",) * 59), turns[2]]
    assert score_words(layout_of(shorter), postings_of(shorter, ["cat"])).window[1] > 0


def test_windows_never_cross_sessions() -> None:
    turns = [Turn(1, 1, ("dog",)), Turn(1, 2, ("cat",)), Turn(2, 1, ("talk",)), Turn(2, 2, ("dog",))]
    found = score_words(layout_of(turns), postings_of(turns, ["cat"]))
    assert found.window[0] > 0
    assert found.window[1] > 0
    assert found.window[2] == found.window[3] == 0
    assert found.session[2] == found.session[3] == 0


def test_sessions_of_the_same_utterances_score_alike_whatever_their_number() -> None:
    words = ("cat", "talk")
    turns = [Turn(number, position, words) for number in (900, 4) for position in (1, 2)]
    found = score_words(layout_of(turns), postings_of(turns, ["cat"]))
    assert len({round(score, 12) for score in found.window}) == 1
    assert len({round(score, 12) for score in found.session}) == 1


def test_an_empty_memory_and_an_unheard_term_score_nothing() -> None:
    empty = score_words(Layout.unpack([]), {"cat": []})
    assert empty.text.shape == empty.window.shape == empty.session.shape == (0,)
    assert empty.document_frequency == {"cat": 0}
    turns = [Turn(1, 1, ("cat",))]
    unheard: list[dict[str, list[bytes]]] = [{}, {"dog": []}, {"dog": [b""]}]
    for postings in unheard:
        found = score_words(layout_of(turns), postings)
        assert found.text.tolist() == found.window.tolist() == found.session.tolist() == [0.0]
        assert found.document_frequency == dict.fromkeys(postings, 0)


def test_utterances_without_any_term_are_ordinary() -> None:
    turns = [Turn(1, 1, ()), Turn(1, 2, ())]
    assert score_words(layout_of(turns), {"cat": []}).text.tolist() == [0.0, 0.0]


def test_a_list_that_is_newer_than_the_layout_does_no_harm() -> None:
    turns = [Turn(1, 1, ("cat",)), Turn(1, 2, ("talk",))]
    known = score_words(layout_of(turns), postings_of(turns, ["cat"]))
    newer = score_words(layout_of(turns), {"cat": [pack_postings([0, 2, 70_000], [1, 5, 1])]})
    assert newer.text.tolist() == known.text.tolist()
    assert newer.document_frequency == {"cat": 1}


# -- bytes

ordinal_lists = st.lists(st.integers(0, 2**32 - 1), unique=True, max_size=30)


@given(st.dictionaries(st.integers(0, 2**32 - 1), st.integers(1, 300), max_size=30))
def test_a_posting_list_comes_back_with_counts_up_to_255(entries: dict[int, int]) -> None:
    ordinals, counts = list(entries), list(entries.values())
    packed = pack_postings(ordinals, counts)
    back, found = unpack_postings(packed)
    assert back.tolist() == ordinals
    assert found.tolist() == [min(count, 255) for count in counts]
    assert len(packed) == 5 * len(ordinals)


@given(ordinal_lists, ordinal_lists, st.data())
def test_dropping_ordinals_leaves_the_others_as_they_were(
    ordinals: list[int], others: list[int], data: st.DataObject
) -> None:
    dropped = [*others, *(data.draw(st.lists(st.sampled_from(ordinals))) if ordinals else [])]
    kept = [ordinal for ordinal in ordinals if ordinal not in dropped]
    packed = drop_postings(pack_postings(ordinals, [ordinal % 200 + 1 for ordinal in ordinals]), dropped)
    assert packed == pack_postings(kept, [ordinal % 200 + 1 for ordinal in kept])


def test_lists_of_two_chunks_are_their_bytes_one_after_the_other() -> None:
    joined = pack_postings([3], [1]) + pack_postings([9, 4], [2, 300])
    assert joined == pack_postings([3, 9, 4], [1, 2, 255])


places = st.tuples(
    st.integers(0, GONE), st.integers(0, 2**32 - 1), st.integers(0, 65_535), st.integers(-(2**63), 2**63 - 1)
)


@given(st.lists(places, max_size=20), st.integers(0, 20))
def test_a_layout_comes_back_from_any_pieces(given_places: list[tuple[int, int, int, int]], cut: int) -> None:
    layout = Layout.unpack([pack_places(given_places[:cut]), pack_places(given_places[cut:])])
    columns = (layout.session, layout.position, layout.length, layout.instant)
    assert [tuple(map(int, row)) for row in zip(*columns, strict=True)] == given_places
    assert layout.live.tolist() == [place[0] != GONE for place in given_places]
    ordered = [given_places[ordinal][:2] for ordinal in map(int, layout.order)]
    assert ordered == sorted(place[:2] for place in given_places if place[0] != GONE)


def test_a_place_has_a_fixed_size_so_that_pieces_can_be_cut_by_ordinal() -> None:
    packed = pack_places([(1, n, 5, int(UNDATED)) for n in range(10)])
    assert len(packed) == 10 * place_bytes()
    seventh = Layout.unpack([packed[7 * place_bytes() : 8 * place_bytes()]])
    assert (seventh.position.tolist(), seventh.instant.tolist()) == ([7], [UNDATED])
    assert LAYOUT_CHUNK * place_bytes() < 100_000


def test_a_length_beyond_the_field_is_stored_as_its_most() -> None:
    assert Layout.unpack([pack_places([(1, 1, 200_000, 0)])]).length.tolist() == [65_535]


@given(st.lists(places, min_size=1, max_size=9), st.data())
def test_moving_changes_positions_alone(given_places: list[tuple[int, int, int, int]], data: st.DataObject) -> None:
    moves = data.draw(st.dictionaries(st.integers(0, len(given_places) - 1), st.integers(1, 10_000)))
    moved = move_in_places(pack_places(given_places), moves)
    assert moved == pack_places([
        (session, moves.get(index, position), length, at)
        for index, (session, position, length, at) in enumerate(given_places)
    ])  # fmt: skip


def test_who_stands_beside_in_a_session() -> None:
    # By ordinal: session and position; ordinal 3 is gone, 4 came into session 1 later.
    layout = Layout.unpack([pack_places([(1, 1, 5, 0), (1, 2, 5, 0), (2, 1, 5, 0), (GONE, 0, 0, 0), (1, 3, 5, 0)])])
    ordinals = np.array([0, 1, 2, 3, 4, 9, -1])
    assert layout.beside(ordinals, -1).tolist() == [-1, 0, -1, -1, 1, -1, -1]
    assert layout.beside(ordinals, 1).tolist() == [1, 4, -1, -1, -1, -1, -1]
    assert layout.beside(ordinals, -2).tolist() == [-1, -1, -1, -1, 0, -1, -1]
    assert layout.beside(ordinals, 7).tolist() == [-1] * 7
    assert Layout.unpack([]).beside(ordinals[:2], 1).tolist() == [-1, -1]
