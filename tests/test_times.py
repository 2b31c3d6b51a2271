"""Time expressions of English text, and times as people type them."""

import doctest
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assomem.errors import InputError, TimezoneNeeded
from assomem.times import Interval, end_of_day, parse_moment, resolve

patient = settings(deadline=None)
"""Other work on the machine must not decide a test."""

WEDNESDAY = datetime(2025, 5, 14, 12, tzinfo=UTC)


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def ends(text: str, now: datetime = WEDNESDAY) -> list[tuple[str | None, str | None]]:
    """Start and end of every interval, as dates where they are midnights."""

    def shown(point: datetime | None) -> str | None:
        if point is None:
            return None
        return point.strftime("%Y-%m-%d" if (point.hour, point.minute) == (0, 0) else "%Y-%m-%d %H:%M")

    return [(shown(interval.start), shown(interval.end)) for interval in resolve(text, now)]


def one_day(date: str) -> tuple[str, str]:
    start = datetime.fromisoformat(date)
    return date, (start + timedelta(days=1)).strftime("%Y-%m-%d")


# -- regressions


def test_r28_a_year_a_month_and_a_day_keep_their_granularity() -> None:
    found = resolve("in 2024, in March 2024, on 5 March 2024", WEDNESDAY)
    assert [interval.granularity for interval in found] == ["year", "month", "day"]
    assert ends("in 2024") == [("2024-01-01", "2025-01-01")], "a bare year is not its first of January"


def test_r29_yesterday_of_two_askers_at_one_instant_is_two_days() -> None:
    instant = datetime(2025, 5, 14, 10, 30, tzinfo=UTC)
    east, west = timezone(timedelta(hours=14)), timezone(timedelta(hours=-11))
    (eastern,) = resolve("yesterday", instant.astimezone(east))
    (western,) = resolve("yesterday", instant.astimezone(west))
    assert eastern.start == datetime(2025, 5, 14, tzinfo=east)
    assert western.start == datetime(2025, 5, 12, tzinfo=west)


def test_r29_last_week_in_an_utterance_of_2023_is_a_week_of_2023() -> None:
    assert ends("last week", moment("2023-05-10T09:00")) == [("2023-05-01", "2023-05-08")]


def test_r30_several_ranges_stay_several_with_nothing_between() -> None:
    assert ends("before 2023 or after 2024") == [(None, "2023-01-01"), ("2025-01-01", None)]
    assert ends("in May and in July") == [("2025-05-01", "2025-06-01"), ("2024-07-01", "2024-08-01")]


def test_r31_last_this_and_next_weekday_have_readings_likeliest_first() -> None:
    assert ends("last Tuesday") == [one_day("2025-05-13"), one_day("2025-05-06")]
    assert ends("last Wednesday") == [one_day("2025-05-07")]
    assert ends("this Friday") == [one_day("2025-05-16")]
    assert ends("next Friday") == [one_day("2025-05-16"), one_day("2025-05-23")]


def test_r32_calendar_units_are_whole() -> None:
    august = moment("2026-08-12T09:00")
    assert ends("last year", august) == [("2025-01-01", "2026-01-01")]
    assert ends("in 2023", august) == [("2023-01-01", "2024-01-01")]
    assert ends("since 2020", august) == [("2020-01-01", None)]
    assert ends("Q1 2023", august) == [("2023-01-01", "2023-04-01")], "one range, not also the year"


@pytest.mark.parametrize(
    "text",
    [
        "May I ask who Augusta sat next to?",
        "a question, friends",
        "Is there a bar at the car park?",
        "slide 3 of 9",
        "85m2",
        "I second that",
        "march on",
        "The Day After Tomorrow",
        "Who directed The Day After Tomorrow?",
        "We sat next to the sun",
        "Did I fall down the stairs?",
        "Do I like spring water or summer camp?",
        "What was my second question?",
        "the 5 of us went",
        "version 2023.1",
        "Call +49 30 2023 1234, 555-2023 or 2023-555-1234",
        "We won 3:2 and then 21-19",
        "every Friday, each May, on Mondays, most weekends",
        "What did June say about April? Tell me about May.",
        "It may be 5 or so; she had to march 5 miles",
        "Room 2023, page 1999, PIN 2024, 1600 Pennsylvania Avenue",
        "about 2000 people ate 2000 calories in 1500 steps",
        "the fall of Rome",
        "Wednesday Addams and Friday Night Lights",
        "my Sunday roast recipe",
        "two weeks before my trip, the day after my birthday, the night before my exam",
        "since we last spoke, until then, by now",
        "at the end of the day",
        "a 3 day trip, twenty minutes of yoga, for two weeks, 3 years old",
        "24/7, 50/50, chapter 5/3, HTTP/1.1, 192.168.1.1, catch-22",
        "happy new year! Where is my Christmas tree?",
        '"Yesterday" by the Beatles and the song Last Christmas',
        "she came third, in second grade, the 5th Avenue shop",
        "the last time, next door, this once, the next one",
        "in the morning, at night, good evening",
        "winter coat, Easter egg, quarter past, half of it",
    ],
)
def test_r33_ordinary_words_are_not_dates(text: str) -> None:
    assert resolve(text, WEDNESDAY) == []


def test_r33_in_may_and_may_2023_are_dates() -> None:
    assert ends("in May") == [("2025-05-01", "2025-06-01")]
    assert ends("May 2023") == [("2023-05-01", "2023-06-01")]


# -- what is understood


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did we say today?", one_day("2025-05-14")),
        ("the day before yesterday", one_day("2025-05-12")),
        ("the day after tomorrow", one_day("2025-05-16")),
        ("yesterday’s meeting", one_day("2025-05-13")),
        ("yesterday morning", ("2025-05-13 06:00", "2025-05-13 12:00")),
        ("tonight", ("2025-05-14 18:00", "2025-05-15 06:00")),
        ("the night before", ("2025-05-13 18:00", "2025-05-14 06:00")),
        ("the night before last", ("2025-05-12 18:00", "2025-05-13 06:00")),
        ("an hour ago", ("2025-05-14 11:00", "2025-05-14 12:00")),
        ("twenty-five minutes ago", ("2025-05-14 11:35", "2025-05-14 11:36")),
        ("ninety-nine days ago", one_day("2025-02-04")),
        ("a fortnight ago", ("2025-04-28", "2025-05-05")),
        ("a year ago today", one_day("2024-05-14")),
        ("three Mondays ago", one_day("2025-04-28")),
        ("two summers ago", ("2023-06-01", "2023-09-01")),
        ("two Christmases ago", one_day("2023-12-25")),
        ("at 3pm yesterday", ("2025-05-13 15:00", "2025-05-13 16:00")),
        ("yesterday at 3:30 p.m.", ("2025-05-13 15:30", "2025-05-13 16:30")),
        ("between 9am and 11am yesterday", ("2025-05-13 09:00", "2025-05-13 11:00")),
        ("last weekend", ("2025-05-10", "2025-05-12")),
        ("the week before last", ("2025-04-28", "2025-05-05")),
        ("Monday last week", one_day("2025-05-05")),
        ("the Wednesday two months ago", one_day("2025-03-12")),
        ("a week from Friday", one_day("2025-05-23")),
        ("the last two weeks", ("2025-04-30", "2025-05-15")),
        ("back in March", ("2025-03-01", "2025-04-01")),
        ("the end of last month", ("2025-04-21", "2025-05-01")),
        ("early March", ("2025-03-01", "2025-03-11")),
        ("mid-2022", ("2022-05-01", "2022-09-01")),
        ("the first week of June", ("2024-06-01", "2024-06-08")),
        ("the first half of 2022", ("2022-01-01", "2022-07-01")),
        ("the last Friday in June 2023", one_day("2023-06-30")),
        ("over Christmas", ("2024-12-24", "2024-12-27")),
        ("3 days before Christmas", one_day("2024-12-22")),
        ("the weekend before 17 July 2023", ("2023-07-15", "2023-07-17")),
        ("Tuesday, May 6", one_day("2025-05-06")),
        ("the twenty-first of June", one_day("2024-06-21")),
        ("on the 5th", one_day("2025-05-05")),
        ("on the 29th of February", one_day("2024-02-29")),
        ("2024-02-29T15:30:00Z", ("2024-02-29 15:30", "2024-02-29 15:31")),
        ("between May and July 2022", ("2022-05-01", "2022-08-01")),
        ("from Nov to Feb", ("2024-11-01", "2025-03-01")),
        ("June 3-7, 2023", ("2023-06-03", "2023-06-08")),
        ("between 3 and 7 June", ("2024-06-03", "2024-06-08")),
        ("from the 3rd to the 7th of June", ("2024-06-03", "2024-06-08")),
        ("from 2019 to 2021", ("2019-01-01", "2022-01-01")),
        ("after May and before July", ("2024-06-01", "2024-07-01")),
        ("from May onwards", ("2025-05-01", None)),
        ("until last week", (None, "2025-05-12")),
        ("the eighties", ("1980-01-01", "1990-01-01")),
        ("the summer of '69", ("1969-06-01", "1969-09-01")),
        ("last year in May", ("2024-05-01", "2024-06-01")),
        ("Good Friday 2024", one_day("2024-03-29")),
        ("Thanksgiving 2024", one_day("2024-11-28")),
        ("Chinese New Year 2023", one_day("2023-01-22")),
        ("Diwali 2022", one_day("2022-10-24")),
        ("Rosh Hashanah 2023", ("2023-09-16", "2023-09-18")),
        ("Hanukkah 2023", ("2023-12-08", "2023-12-16")),
        ("Eid 2024", one_day("2024-04-10")),
        ("I will see her on Friday", one_day("2025-05-16")),
        ("What did we decide at the March meeting?", ("2025-03-01", "2025-04-01")),
    ],
)
def test_the_likeliest_reading_is_what_people_mean(text: str, expected: tuple[str | None, str | None]) -> None:
    assert ends(text)[:1] == [expected]


def test_a_list_of_months_shares_the_year_behind_it() -> None:
    assert ends("in May and June 2021") == [("2021-05-01", "2021-06-01"), ("2021-06-01", "2021-07-01")]


def test_a_numeric_date_has_the_month_first_and_the_day_first_reading() -> None:
    found = resolve("on 5/3/2023", WEDNESDAY)
    assert {interval.start for interval in found} == {moment("2023-05-03"), moment("2023-03-05")}
    assert ends("on 25/3/2023") == [one_day("2023-03-25")]
    assert ends("on 3.5.2023")[0] == one_day("2023-05-03"), "points are written day first"


def test_text_span_and_weight_describe_the_expression() -> None:
    text = "I met her last Tuesday, I think."
    first, second = resolve(text, WEDNESDAY)
    assert first.text == text[first.span[0] : first.span[1]] == "last Tuesday"
    assert first.span == second.span
    assert first.weight > second.weight


def test_an_hour_ago_counts_real_hours_across_a_clock_change() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    now = datetime(2025, 3, 30, 3, 30, tzinfo=berlin)  # half an hour after the clocks went forward
    (found,) = resolve("an hour ago", now)
    assert found.start == datetime(2025, 3, 30, 1, 30, tzinfo=berlin)


def test_an_hour_that_a_clock_change_skips_moves_forward_and_keeps_its_length() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    (found,) = resolve("at 2am on 30 March 2025", datetime(2025, 5, 14, tzinfo=berlin))
    assert found.start == datetime(2025, 3, 30, 3, tzinfo=berlin)
    assert found.end == datetime(2025, 3, 30, 4, tzinfo=berlin)


def test_minutes_ago_in_an_hour_that_occurs_twice_are_those_of_its_second_time() -> None:
    now = datetime(2025, 10, 26, 2, 45, fold=1, tzinfo=ZoneInfo("Europe/Berlin"))
    (found,) = resolve("20 minutes ago", now)
    assert found.start is not None
    assert found.end is not None
    assert now.timestamp() - found.start.timestamp() == 20 * 60
    assert found.end.timestamp() - found.start.timestamp() == 60


@pytest.mark.parametrize("text", ["from June 3 to 31", "on 30 February", "on 2024-02-30", "999 decades from now"])
def test_a_date_no_calendar_has_is_left_out(text: str) -> None:
    assert not [interval for interval in resolve(text, WEDNESDAY) if interval.text == text.removeprefix("on ")]


def test_now_without_a_zone_is_refused() -> None:
    with pytest.raises(InputError, match="time zone"):
        resolve("yesterday", datetime(2025, 5, 14))


# -- size and cost


@pytest.mark.parametrize(
    "text",
    [
        "the day before ",
        "first week of ",
        "two weeks before ",
        "since ",
        "May to ",
        "Monday, ",
        "1/1/",
        "3-",
        "9",
        "a",
        "\U0001f600",
    ],
)
def test_the_time_to_read_a_text_grows_with_its_length_not_with_its_square(text: str) -> None:
    def seconds(size: int) -> float:
        start = time.process_time()
        resolve((text * size)[:size], WEDNESDAY)
        return time.process_time() - start

    seconds(4_000)  # tables are built on first use
    # The least of three: what else the machine does in between only ever adds.
    small, large = (min(seconds(size) for _ in range(3)) for size in (4_000, 40_000))
    assert large < 40 * max(small, 0.01), f"{small:.3f} s for 4,000 characters, {large:.3f} s for 40,000"


@pytest.mark.timeout(120)
def test_a_text_of_200_000_characters_is_read_whole() -> None:
    text = ("We went to Rome last week, and on 5 May we will see what Anna said in 2023. " * 2700)[:200_000]
    found = resolve(text, WEDNESDAY)
    assert len(found) > 5000


def test_a_question_of_ten_thousand_words_is_read_whole() -> None:
    question = "Where did we go last week and what did Anna tell me about the garden in May? " * 588
    found = resolve(question, WEDNESDAY)
    assert len(found) == 2 * 588


def test_importing_times_compiles_no_pattern_and_loads_no_numpy() -> None:
    program = (
        "import re, sys\n"
        "compiled = []\n"
        "own = re.compile\n"
        "def noted(pattern, flags=0):\n"
        "    compiled.append(sys._getframe(1).f_code.co_filename)\n"
        "    return own(pattern, flags)\n"
        "re.compile = noted\n"
        "import assomem.times\n"
        "assert not [name for name in compiled if 'assomem' in name], compiled\n"
        "assert 'numpy' not in sys.modules and 'pydantic' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# -- properties

zones = st.one_of(
    st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Apia"]).map(ZoneInfo),
    st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes))),
)


@st.composite
def nows(draw: st.DrawFn) -> datetime:
    zone: tzinfo = draw(zones)
    return draw(st.datetimes(datetime(1970, 1, 3), datetime(2100, 12, 29), timezones=st.just(zone)))


pieces = st.sampled_from(
    """the a an in on at by since before after until from to and between of last this next past first second third week
    weeks day days month year weekend ago two three few couple half May March June November Monday Friday sat summer
    fall winter Christmas Easter Ramadan Diwali new year's eve 3 7 31 29 2023 2024 9999 5th 21st Q1 90s 3pm noon early
    mid late end beginning yesterday tomorrow today night morning . , ? - / : ' 2023-02-30 5/3 31/2/2023 decades now
    999 years minutes back every other time quarter all so far later earlier around weekend before""".split()
)
texts = st.one_of(
    st.text(max_size=60),
    st.lists(pieces, max_size=12).map(" ".join),
    st.lists(st.one_of(pieces, st.text(max_size=4)), max_size=12).map("".join),
)


def by_expression(found: list[Interval]) -> Iterator[list[Interval]]:
    for span in dict.fromkeys(interval.span for interval in found):
        yield [interval for interval in found if interval.span == span]


@settings(deadline=None, max_examples=600)
@given(texts, nows())
def test_any_text_gives_ordered_intervals_inside_it_and_never_raises(text: str, now: datetime) -> None:
    found = resolve(text, now)
    last_end = 0
    for readings in by_expression(found):
        (start, end), words = readings[0].span, readings[0].text
        assert last_end <= start < end <= len(text)
        assert text[start:end] == words
        last_end = end
        weights = [interval.weight for interval in readings]
        assert math.isclose(sum(weights), 1.0)
        assert weights == sorted(weights, reverse=True)
        assert all(0 < weight <= 1 for weight in weights)
    for interval in found:
        assert interval.start is not None or interval.end is not None
        assert (interval.granularity == "open") == (interval.start is None or interval.end is None)
        for point in (interval.start, interval.end):
            assert point is None or point.tzinfo is now.tzinfo
        if interval.start is not None and interval.end is not None:
            assert interval.start < interval.end
            assert interval.start.timestamp() < interval.end.timestamp()


@patient
@given(
    st.sampled_from(["last month", "two months ago", "last year", "since March", "early last year", "this quarter"]),
    st.datetimes(datetime(1990, 1, 1), datetime(2050, 12, 28), timezones=st.just(UTC)),
    st.integers(1, 40),
)
def test_shifting_now_by_years_shifts_what_it_means_by_as_many(text: str, now: datetime, years: int) -> None:
    if (now.month, now.day) == (2, 29):
        now = now.replace(day=28)
    later = now.replace(year=now.year + years)

    def shifted(point: datetime | None, by: int) -> tuple[int, int] | None:
        return None if point is None else (point.year + by, point.month)

    earlier_ends = [(shifted(i.start, years), shifted(i.end, years)) for i in resolve(text, now)[:1]]
    assert earlier_ends == [(shifted(i.start, 0), shifted(i.end, 0)) for i in resolve(text, later)[:1]]


@patient
@given(st.sampled_from(["yesterday", "last Tuesday", "last week", "three days ago", "over the weekend"]), nows())
def test_shifting_now_by_whole_weeks_shifts_days_and_weeks_by_as_many(text: str, now: datetime) -> None:
    wall, later = now.replace(tzinfo=UTC), now.replace(tzinfo=UTC) + timedelta(weeks=52)
    for before, after in zip(resolve(text, wall), resolve(text, later), strict=True):
        assert before.start is not None
        assert after.start == before.start + timedelta(weeks=52)


# -- moments


def test_r07_an_offset_in_the_text_keeps_the_instant_and_itself() -> None:
    found = parse_moment("2023-07-20T15:00:00+08:00", "Europe/Paris")
    assert found == datetime(2023, 7, 20, 7, tzinfo=UTC)
    assert found.utcoffset() == timedelta(hours=8)
    assert parse_moment("2023-07-20T15:00:00Z", None) == datetime(2023, 7, 20, 15, tzinfo=UTC)


def test_r07_a_naive_time_is_read_in_the_given_zone_across_clock_changes() -> None:
    for text, hours in (("2025-03-29T12:00", 1), ("2025-03-30T12:00", 2), ("2025-10-26T12:00", 1)):
        found = parse_moment(text, "Europe/Berlin")
        assert found.utcoffset() == timedelta(hours=hours)
        assert (found.hour, found.minute) == (12, 0)
    first = parse_moment("2025-10-26T02:30", "Europe/Berlin")
    assert first.utcoffset() == timedelta(hours=2), "of an hour that occurs twice the first is meant"
    skipped = parse_moment("2025-03-30T02:30", "Europe/Berlin")
    assert skipped.isoformat() == "2025-03-30T03:30:00+02:00"


def test_r07_a_naive_time_without_a_zone_is_refused_with_the_way_out() -> None:
    with pytest.raises(TimezoneNeeded, match="--timezone"):
        parse_moment("2023-07-20T15:00:00", None)


def test_a_date_alone_is_the_start_of_its_day() -> None:
    assert parse_moment("2023-07-20", "Asia/Tokyo").isoformat() == "2023-07-20T00:00:00+09:00"
    assert parse_moment("2023-07-20", "+05:30").isoformat() == "2023-07-20T00:00:00+05:30"


@pytest.mark.parametrize("text", ["", "yesterday", "2023-13-01", "20/07/2023", "0001-01-01T00:00+23:00"])
def test_what_is_no_time_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InputError, match="ISO 8601") as raised:
        parse_moment(text, "UTC")
    assert not isinstance(raised.value, TimezoneNeeded)


def test_a_long_text_in_place_of_a_time_is_not_repeated() -> None:
    with pytest.raises(InputError) as raised:
        parse_moment("I told her that I would never come back to this house again", "UTC")
    assert "house" not in str(raised.value)
    assert "59 characters" in str(raised.value)


@pytest.mark.parametrize("zone", ["Mars/Olympus", "Europe", "../etc/passwd", "+99:00", "", "+"])
def test_what_is_no_zone_is_refused_with_an_example(zone: str) -> None:
    with pytest.raises(InputError, match="Europe/Paris"):
        parse_moment("2023-07-20T15:00", zone)


@patient
@given(st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=8)), timezone(timedelta(hours=-5))])))
def test_what_isoformat_writes_parse_moment_reads(written: datetime) -> None:
    if 1 < written.year < 9999:
        assert parse_moment(written.isoformat(), None) == written


@patient
@given(st.text(max_size=30), st.sampled_from([None, "UTC", "Europe/Berlin"]))
def test_any_text_is_a_moment_with_a_zone_or_refused(text: str, zone: str | None) -> None:
    try:
        found = parse_moment(text, zone)
    except InputError:
        return
    assert found.utcoffset() is not None


def test_the_end_of_a_day_is_the_next_midnight_of_its_own_zone() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    found = end_of_day(datetime(2025, 3, 30, 1, tzinfo=berlin))
    assert found == datetime(2025, 3, 31, tzinfo=berlin)
    assert found.timestamp() - datetime(2025, 3, 30, tzinfo=berlin).timestamp() == 23 * 3600
    assert end_of_day(datetime.max.replace(tzinfo=UTC)).year == 9999
    with pytest.raises(InputError, match="time zone"):
        end_of_day(datetime(2025, 3, 30))


# -- the page about time


def test_the_examples_of_the_page_about_time_are_true() -> None:
    page = Path(__file__).parents[1] / "docs" / "time.md"
    failed, tried = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS, encoding="utf-8")
    assert failed == 0
    assert tried > 10


# -- measured on data


def agrees(found: Interval, gold: list[str | None]) -> bool:
    """Intersection over union of at least one half; of an open end the closed one within a day."""
    start, end = (None if point is None else moment(point) for point in gold)
    if start is None or end is None:
        given_ends = [(found.start, start), (found.end, end)]
        return all(
            (ours is None) == (theirs is None)
            and (ours is None or theirs is None or abs(ours - theirs) <= timedelta(days=1))
            for ours, theirs in given_ends
        )
    if found.start is None or found.end is None:
        return False
    shared = min(found.end, end) - max(found.start, start)
    return shared > timedelta(0) and shared / (max(found.end, end) - min(found.start, start)) >= 0.5


def share_right(rows: list[dict[str, Any]]) -> float:
    right = 0
    for row in rows:
        found = resolve(row["text"], moment(row["ref"]))
        if row["kind"] == "interval":
            right += any(agrees(interval, gold) for interval in found for gold in row["gold"])
        else:
            right += not found
    return right / len(rows)


@pytest.mark.data
@pytest.mark.parametrize(("file", "least"), [("questions", 0.95), ("utterances", 0.80)])
def test_most_english_expressions_of_the_data_are_resolved(file: str, least: float) -> None:
    folder = Path(os.environ["ASSOMEM_TEST_DATA"]) / "time"
    lines = (folder / f"{file}.jsonl").read_text(encoding="utf-8").splitlines()
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    rows = [row for row in rows if row["lang"] == "en" and row.get("trig", True)]
    share = share_right(rows)
    sys.stdout.write(f"{file}: {share:.1%} of {len(rows)} right\n")
    assert share >= least
