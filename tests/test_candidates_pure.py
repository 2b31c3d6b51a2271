"""What candidates.py computes without the database: limits in time, the kind of a memory, the vector of a context."""
# The functions tested here are the arithmetic of one module; their results reach others only through the database.
# pyright: reportPrivateUsage=false

import math
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assomem.candidates import (
    BY_TIME,
    MOST_CANDIDATES,
    Filters,
    MemoryState,
    _at,
    _best,
    _context,
    _in_time,
    _instants,
    _limit,
)
from assomem.models.doubles import HashingEmbedder
from assomem.postings import GONE, UNDATED, Layout, pack_places, pack_postings, score_words
from assomem.question import Question, understand
from assomem.times import end_of_day

ASKED_AT = datetime(2024, 5, 1, 23, 30, tzinfo=timezone(timedelta(hours=-11)))
UNTIL = int(datetime(2024, 5, 2, 11, tzinfo=UTC).timestamp())


def filters(after: datetime | None = None, before: datetime | None = None) -> Filters:
    return Filters(ASKED_AT, end_of_day(ASKED_AT), after, before)


# -- limits in time


def test_without_limits_everything_before_the_end_of_the_askers_day_and_the_undated_is_allowed() -> None:
    assert _instants(filters()) == (UNDATED, UNTIL)


def test_a_lower_limit_is_a_moment_that_is_still_allowed_and_leaves_the_undated_out() -> None:
    after = datetime(2024, 3, 31, 3, tzinfo=ZoneInfo("Europe/Berlin"))
    assert _instants(filters(after=after)) == (int(after.timestamp()), UNTIL)
    assert _instants(filters(after=after.replace(microsecond=1)))[0] == int(after.timestamp()) + 1


def test_an_upper_limit_is_a_moment_no_longer_allowed_and_leaves_the_undated_out() -> None:
    before = datetime(2024, 3, 31, 3, tzinfo=ZoneInfo("Europe/Berlin"))
    assert _instants(filters(before=before)) == (UNDATED + 1, int(before.timestamp()))


def test_an_upper_limit_after_the_day_of_the_question_allows_nothing_more() -> None:
    assert _instants(filters(before=ASKED_AT + timedelta(days=30))) == (UNDATED + 1, UNTIL)


@pytest.mark.parametrize("edge", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
def test_limits_at_the_edges_of_the_calendar_fit_the_index(edge: datetime) -> None:
    for start, end in (_instants(filters(after=edge)), _instants(filters(before=edge))):
        assert UNDATED < start < 2**62
        assert -(2**62) < end < 2**62


moments = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)).map(
    lambda moment: moment.replace(microsecond=0)
)


@given(st.none() | moments, st.none() | moments, moments)
def test_whole_seconds_are_allowed_exactly_from_after_until_before(
    after: datetime | None, before: datetime | None, said_at: datetime
) -> None:
    start, end = _instants(filters(after, before))
    late_enough, early_enough = after is None or said_at >= after, before is None or said_at < before
    allowed = said_at < end_of_day(ASKED_AT) and late_enough and early_enough
    assert (start <= int(said_at.timestamp()) < end) == allowed
    assert (start <= UNDATED) == (after is None and before is None)


# -- kinds


@pytest.mark.parametrize(
    ("utterances", "dated", "assistant", "kinds"),
    [
        (100, 100, 50, {"assistant, dated": 1}),
        (100, 100, 34, {"assistant, dated": 1}),
        (100, 100, 20, {"people, dated": 0.4, "assistant, dated": 0.6}),
        (100, 20, 0, {"people, dated": 0.2, "people, undated": 0.8}),
        (
            100,
            50,
            10,
            {"people, dated": 0.35, "people, undated": 0.35, "assistant, dated": 0.15, "assistant, undated": 0.15},
        ),
        (0, 0, 0, {"people, undated": 1}),
        (1, 0, 1, {"assistant, undated": 1}),
    ],
)
def test_a_memory_is_of_each_kind_as_far_as_it_holds_such_talk(
    utterances: int, dated: int, assistant: int, kinds: dict[str, float]
) -> None:
    assert MemoryState("m", "key", 1, 384, utterances, dated, assistant).kinds == pytest.approx(kinds)


# -- context


@given(st.integers(0, 2**32 - 1), st.integers(2, 12))
def test_the_cosine_with_a_context_is_that_of_the_joined_vectors(seed: int, dimensions: int) -> None:
    question, own, before = (
        vector / np.linalg.norm(vector) for vector in np.random.default_rng(seed).normal(size=(3, dimensions))
    )
    joined = own + 0.5 * before
    expected = question @ joined / np.linalg.norm(joined)
    found = _context(np.array([question @ own]), np.array([question @ before]), np.array([own @ before]))
    np.testing.assert_allclose(found, [expected], atol=1e-9)


def test_an_utterance_without_one_before_it_has_its_own_cosine_as_context() -> None:
    found = _context(np.array([0.4, np.nan]), np.array([np.nan, 0.5]), np.array([np.nan, 0.1]))
    assert found[0] == 0.4
    assert math.isnan(found[1])


# -- lists


def test_the_best_are_those_above_zero_among_the_allowed_ties_by_ordinal() -> None:
    scores = np.array([0.0, 2.0, 3.0, 2.0, 9.0])
    allowed = np.array([True, True, True, True, False])
    assert _best(scores, allowed, 10) == [2, 1, 3]
    assert _best(scores, allowed, 2) == [2, 1]
    assert _best(np.zeros(2), np.ones(2, bool), 5) == []


def asked(text: str) -> Question:
    return understand(text, ASKED_AT, HashingEmbedder(), max_characters=100)


def test_the_list_of_a_time_holds_what_was_said_in_it_those_with_the_questions_words_first() -> None:
    march = int(datetime(2024, 3, 10, tzinfo=UTC).timestamp())
    april, month = march + 30 * 86_400, asked("Which bicycle was it in March 2024?")
    instants = [march, march + 5, april, int(UNDATED), march + 9, march + 7]
    sessions = [1, 2, 3, 4, 5, GONE]
    layout = Layout.unpack([pack_places([(number, 1, 3, at) for number, at in zip(sessions, instants, strict=True)])])
    words = score_words(layout, {"bicycl": [pack_postings([1, 2, 3], [1, 1, 1])]})
    assert _in_time(month, layout, layout.live, words) == [1, 0, 4]
    assert _in_time(month, layout, layout.live & (layout.session != 2), words) == [0, 4]
    assert _in_time(asked("Which bicycle was it?"), layout, layout.live, words) == []
    # Before: open towards the past, and still nothing undated.
    assert _in_time(asked("Which bicycle was it before April 2024?"), layout, layout.live, words) == [1, 0, 4]


def test_the_list_of_a_time_is_bounded() -> None:
    march = int(datetime(2024, 3, 10, tzinfo=UTC).timestamp())
    layout = Layout.unpack([pack_places([(1, at, 1, march) for at in range(200)])])
    found = _in_time(asked("in March 2024"), layout, layout.live, score_words(layout, {}))
    assert found == list(range(BY_TIME))


def test_the_pool_is_bounded_and_keeps_what_stands_highest_on_some_list() -> None:
    found = {"vector": list(range(1000)), "text": [2000, *range(1000, 1400)]}
    reasons = {ordinal: {name} for name, ordinals in found.items() for ordinal in ordinals}
    _limit(reasons, found)
    assert len(reasons) == MOST_CANDIDATES
    assert 2000 in reasons
    assert set(reasons) >= set(range(250)) | set(range(1000, 1250))
    assert not set(reasons) & set(range(400, 1000))


def test_scores_are_read_by_ordinal_and_are_zero_where_there_is_none() -> None:
    assert _at(np.array([5.0, 6.0]), np.array([1, -1, 0, 2])).tolist() == [6, 0, 5, 0]
    assert _at(np.array([]), np.array([0, 3])).tolist() == [0, 0]
