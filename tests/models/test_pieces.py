from hypothesis import given
from hypothesis import strategies as st

from assomem.models.pieces import AT_SPACE, BETWEEN_WORDS, INSIDE_WORD, SENTENCE_END, cut, gaps


def places(text: str, *words: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    at = 0
    for word in words:
        at = text.index(word, at)
        found.append((at, at + len(word)))
        at += len(word)
    return found


def test_gaps_of_a_text_by_hand() -> None:
    text = 'He "ran." Fast: v1.5\nok'
    tokens = places(text, "He", '"', "ran", ".", '"', "Fa", "st", ":", "v1", ".", "5", "ok")
    words = [0, 1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 10]
    assert gaps(text, tokens, words) == [
        SENTENCE_END,  # the first is not used
        AT_SPACE,
        BETWEEN_WORDS,
        BETWEEN_WORDS,
        BETWEEN_WORDS,
        SENTENCE_END,  # seen past the closing quote
        INSIDE_WORD,
        BETWEEN_WORDS,
        AT_SPACE,
        BETWEEN_WORDS,
        BETWEEN_WORDS,  # the point of a number ends nothing
        SENTENCE_END,  # a new line does
    ]


def test_a_full_stop_without_a_space_ends_a_sentence_only_where_a_script_writes_it_so() -> None:
    assert gaps("去。好", [(0, 1), (1, 2), (2, 3)], [0, 1, 2])[2] == SENTENCE_END
    assert gaps("a.b", [(0, 1), (1, 2), (2, 3)], [0, 1, 2])[2] == BETWEEN_WORDS


def test_a_text_is_cut_at_the_last_sentence_end_that_fits() -> None:
    s, w = SENTENCE_END, AT_SPACE
    #        0  1  2  3  4  5  6  7  8  9
    assert cut([s, w, w, s, w, s, w, w, w, s], 6) == [(0, 5), (5, 10)]


def test_a_sentence_end_that_leaves_a_piece_nearly_empty_is_passed_over() -> None:
    s, w = SENTENCE_END, AT_SPACE
    assert cut([s, s, w, w, w, w, w, w], 6) == [(0, 6), (6, 8)]


def test_a_word_longer_than_a_piece_is_cut_where_the_piece_is_full() -> None:
    assert cut([SENTENCE_END, *[INSIDE_WORD] * 6], 3) == [(0, 3), (3, 6), (6, 7)]


def test_no_tokens_make_one_empty_piece() -> None:
    assert cut([], 3) == [(0, 0)]
    assert gaps("", [], []) == []


@given(st.lists(st.integers(INSIDE_WORD, SENTENCE_END), max_size=300), st.integers(1, 40))
def test_pieces_cover_every_token_once_in_order_and_none_is_too_long(gaps: list[int], most: int) -> None:
    pieces = cut(gaps, most)
    assert [at for first, last in pieces for at in range(first, last)] == list(range(len(gaps)))
    assert all(last - first <= most for first, last in pieces)
    assert len(pieces) == 1 or all(last > first for first, last in pieces)


@given(st.lists(st.integers(INSIDE_WORD, SENTENCE_END), max_size=300), st.integers(3, 40))
def test_no_better_place_to_cut_was_in_reach(gaps: list[int], most: int) -> None:
    pieces = cut(gaps, most)
    for first, last in pieces[:-1]:
        reach = range(first + max(1, most // 3), first + most + 1)
        assert gaps[last] == max(gaps[at] for at in reach)
        assert last == max(at for at in reach if gaps[at] == gaps[last])
