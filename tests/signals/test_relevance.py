"""Relevance: every reading in 0..1, each by hand, and late interaction against a slow version."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from assomem.candidates import Candidates
from assomem.models.doubles import HashingEmbedder
from assomem.models.embedder import QuestionEmbedding
from assomem.postings import Layout, pack_places, pack_postings, score_words
from assomem.question import Question, understand
from assomem.signals.relevance import (
    adjacent_pairs,
    below_best,
    late_context,
    late_interaction,
    met_tokens,
    near_best,
    readings,
    role,
    scaled,
    scaled_words,
    speaker_named,
    token_weights,
)
from assomem.terms import STOP_WORDS, terms

EMBEDDER = HashingEmbedder(dimensions=16)


def asked(text: str) -> Question:
    return understand(text, datetime(2025, 5, 14, tzinfo=UTC), EMBEDDER, max_characters=10_000)


def array(*values: float) -> NDArray[np.float64]:
    return np.array(values, np.float64)


def candidates(
    turns: Sequence[tuple[str, str]],
    question: Question,
    *,
    cosine: NDArray[np.float64] | None = None,
    reply: NDArray[np.float64] | None = None,
    first_position: int = 1,
) -> Candidates:
    """All utterances, given as (speaker, text), of a memory of one session as candidates of a question."""
    count = len(turns)
    words = [terms(f"{speaker}: {text}") for speaker, text in turns]
    layout = Layout.unpack([pack_places([(1, at + 1, len(one), 0) for at, one in enumerate(words)])])
    postings: dict[str, list[bytes]] = {}
    for term in set(question.terms):
        holding = [(ordinal, Counter(one)[term]) for ordinal, one in enumerate(words) if term in one]
        postings[term] = [pack_postings([ordinal for ordinal, _ in holding], [times for _, times in holding])]
    scores = score_words(layout, postings)
    return Candidates(
        ordinals=np.arange(count),
        utterance_ids=tuple(f"s:{at + 1}" for at in range(count)),
        session_ids=("s",) * count,
        positions=np.arange(count) + first_position,
        speakers=tuple(speaker for speaker, _ in turns),
        texts=tuple(text for _, text in turns),
        instants=np.full(count, np.nan),
        means=((),) * count,
        cosine=np.linspace(0.5, 0.9, count) if cosine is None else cosine,
        context_cosine=np.linspace(0.9, 0.5, count) if cosine is None else cosine,
        text_score=scores.text,
        window_score=scores.window,
        session_score=scores.session,
        reply_score=np.zeros(count) if reply is None else reply,
        before=np.stack([np.arange(count) - 1, np.maximum(np.arange(count) - 2, -1)], axis=1),
        found_by=(frozenset({"text"}),) * count,
        words=scores,
        total=count,
    )


# -- scaled


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([2.0, 4.0, 3.0], [0, 1, 0.5]),
        ([-1.0, 1.0], [0, 1]),
        ([5.0, 5.0, 5.0], [0, 0, 0]),
        ([7.0], [0]),
        ([], []),
        ([math.nan, 2.0, 4.0], [0, 0, 1]),
        ([math.nan, 3.0, 3.0], [0, 0, 0]),
        ([math.nan, math.nan], [0, 0]),
        ([1.0, 1.0 + 1e-15], [0, 0]),
    ],
)
def test_scaled_is_zero_for_the_least_and_one_for_the_greatest(values: list[float], expected: list[float]) -> None:
    assert scaled(array(*values)).tolist() == expected


@given(st.lists(st.floats(-1e6, 1e6) | st.just(math.nan), max_size=8))
def test_scaled_lies_in_0_to_1_and_keeps_the_order(values: list[float]) -> None:
    result = scaled(array(*values))
    assert np.all((result >= 0) & (result <= 1))
    known = [(value, one) for value, one in zip(values, result.tolist(), strict=True) if not math.isnan(value)]
    assert [one for _, one in sorted(known)] == sorted(one for _, one in known)


# -- all readings

WORDS = ["I", "dog", "we", "Ann", "assistant", "walked", "last week", "2023", "when", "you suggested", "Ben's", "?"]
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(" ".join)


@given(
    st.lists(st.tuples(st.sampled_from(["Ann", "Ben Smith", "user", "assistant", "🙂"]), sentences), max_size=6),
    sentences,
    st.booleans(),
    st.lists(st.floats(-1, 1) | st.just(math.nan), min_size=6, max_size=6),
    st.lists(st.floats(0, 20), min_size=6, max_size=6),
)
def test_every_reading_lies_in_0_to_1_with_one_number_for_each_candidate(
    turns: list[tuple[str, str]], text: str, assistant: bool, cosine: list[float], reply: list[float]
) -> None:
    question = asked(text)
    found = candidates(
        turns, question, cosine=np.array(cosine)[: len(turns)], reply=np.array(reply)[: len(turns)]
    )  # fmt: skip
    made = readings(question, found, assistant=assistant)
    assert len(made) == 15
    for name, values in made.items():
        assert values.shape == (len(turns),), name
        assert np.all((values >= 0) & (values <= 1)), name


def test_the_readings_of_four_turns_by_hand() -> None:
    turns = [
        ("Ann", "I walked the old dog yesterday, and we came home when it was long dark and raining " + "a" * 60),
        ("Ben", "Ann told us of it."),
        ("Ann", "Cats sleep."),
        ("Ben", "x" * 401),
    ]
    question = asked("When did Ann walk the old dog?")
    made = readings(question, candidates(turns, question, reply=array(0, 2, 1, 4)), assistant=False)
    assert made["cosine"].tolist() == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert made["context"].tolist() == pytest.approx([1, 2 / 3, 1 / 3, 0])
    assert made["speaker"].tolist() == [1, 0, 1, 0]
    assert made["names speaker"].tolist() == [0, 1, 0, 0]
    assert made["role"].tolist() == [0, 0, 0, 0]
    assert made["length"].tolist() == pytest.approx([1, 18 / 120, 11 / 120, 1])
    assert made["first person"].tolist() == [1, 1, 0, 0]
    assert made["reports"].tolist() == [0, 0, 0, 0]
    assert made["opening"].tolist() == [1, 1, 0, 0]
    # Scaled over all, then taken from the long turn, which stands for itself.
    assert made["reply"].tolist() == [0, 0.5, 0.25, 0]
    assert made["time word"].tolist() == [1, 0, 0, 0]
    assert made["words"].tolist()[0] == made["words"].max() == 1
    assert made["pairs"].tolist() == [1, 0, 0, 0]
    # In so short a session every window holds all of it: all are as good as the best, like the session itself.
    assert made["window"].tolist() == made["session"].tolist() == [1, 1, 1, 1]


def test_below_best_stretches_wide_values_like_min_max_and_leaves_close_ones_close() -> None:
    assert below_best(np.array([0.2, 0.6, 1.0]), 0.1).tolist() == pytest.approx([0, 0.5, 1])
    assert below_best(np.array([0.80, 0.81, np.nan]), 0.1).tolist() == pytest.approx([0.9, 1, 0])
    assert below_best(np.array([0.7]), 0.1).tolist() == [1]
    assert below_best(np.array([np.nan]), 0.1).tolist() == [0]
    assert below_best(np.array([]), 0.1).tolist() == []
    assert scaled_words(np.zeros(3)).tolist() == [0, 0, 0]
    assert scaled_words(np.array([2.0, 2.0])).tolist() == [1, 1]


def test_words_of_time_count_only_for_a_question_that_asks_when() -> None:
    turns = [("Ann", "yesterday"), ("Ann", "in 2023"), ("Ann", "the 3rd"), ("Ann", "never")]
    for text, expected in (("When was it?", [1, 1, 1, 0]), ("How long ago was it?", [1, 1, 1, 0]), ("Who?", [0] * 4)):
        question = asked(text)
        assert readings(question, candidates(turns, question), assistant=False)["time word"].tolist() == expected


def test_without_vectors_only_the_readings_of_meaning_are_zero() -> None:
    question = asked("dog")
    found = candidates([("Ann", "dog"), ("Ben", "cat")], question, cosine=np.full(2, np.nan))
    made = readings(question, found, assistant=False)
    assert made["cosine"].tolist() == made["context"].tolist() == [0, 0]
    assert made["words"].tolist() == [1, 0]


# -- who speaks


@pytest.mark.parametrize(
    ("question", "mine", "other"),
    [
        ("What did Ann say?", [1, 0, 0, 0], [0, 0, 1, 0]),
        ("what did ANN say?", [1, 0, 0, 0], [0, 0, 1, 0]),
        ("What is Ann's plan?", [1, 0, 0, 0], [0, 0, 1, 0]),
        ("What did Annabel say?", [0, 0, 0, 0], [0, 0, 0, 0]),
        ("What did Ann tell Ben?", [0.5, 0.5, 0.5, 0], [0, 0, 0, 1]),
        ("What happened?", [0, 0, 0, 0], [0, 0, 0, 0]),
        ("", [0, 0, 0, 0], [0, 0, 0, 0]),
    ],
)
def test_a_name_in_the_question_speaks_for_its_speaker_and_for_who_says_it(
    question: str, mine: list[float], other: list[float]
) -> None:
    speakers = ["Ann", "Ben Smith", "Ben Smith", "Carla"]
    texts = ["Ben is here", "Annabel is here", "Ann is here", "ben called"]
    found = speaker_named(question, speakers, texts)
    assert found[0].tolist() == mine
    assert found[1].tolist() == other


def test_a_speaker_without_a_word_in_the_name_is_never_named() -> None:
    mine, other = speaker_named("What did 🙂 say?", ["🙂"], ["text"])
    assert (mine.tolist(), other.tolist()) == ([0], [0])
    assert [values.shape for values in speaker_named("Ann?", [], [])] == [(0,), (0,)]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What film did you suggest?", [1, 0, 0]),
        ("You told me about a film", [1, 0, 0]),
        ("Can you remind me of it?", [1, 0, 0]),
        ("What was it in our last talk?", [1, 0, 0]),
        ("Where do I keep my bike?", [0, 1, 1]),
        ("", [0, 1, 1]),
    ],
)
def test_what_the_assistant_said_is_sought_only_when_asked_for(question: str, expected: list[float]) -> None:
    assert role(question, [" Assistant", "USER", "Ann"]).tolist() == expected


# -- pairs of words


def test_adjacent_pairs_by_hand() -> None:
    turns = [("Ann", "red bicycle"), ("Ben", "bicycle red"), ("Ann", "red big bicycle"), ("Ben", "nothing")]
    question = asked("red bicycle")
    found = adjacent_pairs(question.terms, candidates(turns, question))
    # Of four utterances three hold both words, of (3, 3, 4) terms, and one of them the pair: its frequency is 1.
    idf = math.log(1 + 3.5 / 1.5)
    expected = idf * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 3 / (10 / 3)))
    np.testing.assert_allclose(found, [expected, 0, 0, 0])


def test_a_pair_counts_across_the_words_that_are_no_terms() -> None:
    question = asked("the bicycle of the neighbour")
    found = adjacent_pairs(question.terms, candidates([("Ann", "a bicycle from my neighbour")], question))
    assert found[0] > 0


def test_a_question_of_one_word_or_none_has_no_pairs() -> None:
    for text in ("bicycle", "?", "the"):
        question = asked(text)
        assert adjacent_pairs(question.terms, candidates([("Ann", "bicycle")], question)).tolist() == [0]
    question = asked("red bicycle")
    assert adjacent_pairs(question.terms, candidates([], question)).shape == (0,)


# -- late interaction


def unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def late(
    question: QuestionEmbedding,
    tokens: Mapping[int, Sequence[NDArray[np.float32]]],
    frequency: Mapping[str, int],
    total: int,
) -> dict[int, float]:
    return late_interaction(met_tokens(question, tokens), token_weights(question, frequency, total))


def test_late_interaction_by_hand() -> None:
    question = QuestionEmbedding(
        np.ones(2, np.float32), np.array([[1, 0], [0, 1]], np.float32), ("dog", "the")
    )  # fmt: skip
    tokens = {
        7: [np.array([[1, 0], [0.6, 0.8]], np.float32)],  # dog 1, the 0.8
        9: [np.array([[0, -1]], np.float32), np.array([[0.6, 0.8]], np.float32)],  # the better piece: 0.6, 0.8
    }
    # Of 10 utterances 4 hold "dog"; a function word is taken to be in 3.5.
    dog, the = math.log(1 + 10 / 5), math.log(1 + 10 / 4.5)
    found = late(question, tokens, {"dog": 4}, 10)
    assert found == pytest.approx({7: (dog + 0.8 * the) / (dog + the), 9: (0.6 * dog + 0.8 * the) / (dog + the)})


def test_what_is_asked_must_stand_in_one_passage_of_a_long_utterance() -> None:
    question = QuestionEmbedding(np.ones(2, np.float32), np.eye(2, dtype=np.float32), ("red", "boat"))
    empty, red, boat = ([0.0, 0.0], [1.0, 0.0], [0.0, 1.0])
    together = np.array([*[empty] * 40, red, *[empty] * 8, boat, *[empty] * 20], np.float32)
    apart = np.array([red, *[empty] * 68, boat], np.float32)
    found = late(question, {1: [together], 2: [apart]}, {}, 10)
    assert found == pytest.approx({1: 1.0, 2: 0.5})


def test_an_utterance_is_read_with_those_before_it() -> None:
    question = QuestionEmbedding(np.ones(2, np.float32), np.eye(2, dtype=np.float32), ("red", "boat"))
    red, boat = np.array([[1.0, 0.0]], np.float32), np.array([[0.0, 1.0]], np.float32)
    met = met_tokens(question, {1: [red], 2: [boat], 3: [red, red], 4: []})
    found = late_context(met, {1: [-1, -1], 2: [1, -1], 3: [9, 2], 4: [3, 2]}, token_weights(question, {}, 10))
    # 1 is the first; 2 has 1 before it; of those before 3 one has tokens; 4 itself has none.
    assert found == pytest.approx({1: 0.5, 2: 1.0, 3: 1.0})


def test_the_words_of_a_question_are_weighed_by_their_stems_and_signs_like_function_words() -> None:
    rows = np.eye(3, dtype=np.float32)
    question = QuestionEmbedding(np.ones(3, np.float32), rows, ("dogs", "?", "of"))
    dogs, sign = math.log(1 + 100 / 51), math.log(1 + 100 / 36)
    found = late(question, {0: [rows[:1]], 1: [rows[1:2]], 2: [rows[2:]]}, {"dog": 50}, 100)
    total = dogs + 2 * sign
    assert found == pytest.approx({0: dogs / total, 1: sign / total, 2: sign / total})


def test_an_embedder_without_token_vectors_gives_no_late_interaction() -> None:
    without = QuestionEmbedding(np.ones(2, np.float32), None, ())
    empty = QuestionEmbedding(np.ones(2, np.float32), np.zeros((0, 2), np.float32), ())
    for question in (without, empty):
        met = met_tokens(question, {0: [np.ones((1, 2), np.float32)]})
        assert met == {}
        assert late_interaction(met, token_weights(question, {}, 5)) == {}
        assert late_context(met, {}, token_weights(question, {}, 5)) == {}


@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.sampled_from(["dog", "cats", "the", "?", "unheard"]), min_size=1, max_size=6),
    st.lists(st.lists(st.integers(1, 70), min_size=1, max_size=3), max_size=4),
    st.integers(1, 500),
)
def test_late_interaction_is_what_its_formula_says(
    seed: int, words: list[str], sizes: list[list[int]], total: int
) -> None:
    random = np.random.default_rng(seed)
    vectors = unit(random.normal(size=(len(words), 8)))
    tokens = {3 * at: [unit(random.normal(size=(rows, 8))) for rows in pieces] for at, pieces in enumerate(sizes)}
    frequency = {"dog": min(3, total), "cat": min(20, total)}
    stems = {"dog": "dog", "cats": "cat", "unheard": "unheard"}
    found = late(QuestionEmbedding(vectors[0], vectors, tuple(words)), tokens, frequency, total)
    assert set(found) == set(tokens)
    for ordinal, pieces in tokens.items():
        best = -math.inf
        for piece in pieces:
            for start in range(0, max(1, len(piece) - 16), 16):
                above = below = 0.0
                for word, vector in zip(words, vectors, strict=True):
                    holding = 0.35 * total if word in STOP_WORDS or word == "?" else frequency.get(stems[word], 0)
                    weight = math.log(1 + total / (1 + holding))
                    passage = piece[start : start + 32].astype(float)
                    above += weight * float((passage @ vector.astype(float)).max())
                    below += weight
                best = max(best, above / below)
        assert found[ordinal] == pytest.approx(best, abs=1e-5)
        assert -1.00001 <= found[ordinal] <= 1.00001


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.5, 0.44, 0.3, np.nan], [1, 0.6, 0, 0]),
        ([np.nan, np.nan], [0, 0]),
        ([-0.2], [1]),
        ([], []),
    ],
)
def test_what_is_far_from_the_best_counts_like_having_none(values: list[float], expected: list[float]) -> None:
    assert near_best(np.array(values, float), 0.15).tolist() == pytest.approx(expected)
