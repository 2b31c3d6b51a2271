"""What enters a memory: checked at the door, made well-formed once, its times kept as instants with an offset."""

import re
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from pathlib import PurePosixPath
from string import ascii_letters
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assomem.dialogue import (
    MAX_ID_CHARACTERS,
    CheckedSession,
    CheckedUtterance,
    Session,
    Utterance,
    check_memory_name,
    check_sessions,
    identity,
    well_formed,
    with_offset,
)
from assomem.errors import InputError, TimezoneNeeded, UtteranceConflict

BERLIN = ZoneInfo("Europe/Berlin")
LIMIT = 262_144

any_text = st.text(st.characters(exclude_categories=()), max_size=40)


class Role(str, Enum):  # noqa: UP042  (the older form, whose text is its name: callers have it)
    """Speakers as many programs keep them."""

    USER = "user"


# As callers without a type checker see them.
any_session: Any = Session
any_utterance: Any = Utterance


def checked(*sessions: Session, zone: str | None = None, limit: int = LIMIT) -> list[CheckedSession]:
    return check_sessions(sessions, timezone_name=zone, max_text_characters=limit)


def only(utterance: Utterance, zone: str | None = None) -> CheckedUtterance:
    return checked(Session("s", [utterance]), zone=zone)[0].utterances[0]


def said(moment: datetime, zone: str | None = None) -> datetime:
    kept = only(Utterance("Ann", "hello", moment), zone).said_at
    assert kept is not None
    return kept


# -- ids


def test_an_utterance_without_an_id_gets_session_and_position_from_one() -> None:
    turns = [Utterance("Ann", "a"), Utterance("Ben", "b", utterance_id="mine"), Utterance("Ann", "c")]
    [session] = checked(Session("s", turns))
    assert [one.utterance_id for one in session.utterances] == ["s:1", "mine", "s:3"]
    assert {one.session_id for one in session.utterances} == {"s"}


def test_a_uuid_is_an_id() -> None:
    uuid = UUID(int=7)
    [session] = checked(any_session(uuid, [any_utterance("Ann", "a", utterance_id=uuid)]))
    assert session.session_id == session.utterances[0].utterance_id == "00000000-0000-0000-0000-000000000007"


def test_an_enum_of_strings_counts_as_its_value() -> None:
    [session] = checked(Session(Role.USER, [Utterance(Role.USER, "a")], title=Role.USER))
    one = session.utterances[0]
    for kept in (session.session_id, session.title, one.speaker):
        assert type(kept) is str
        assert kept == "user"
    assert one.utterance_id == "user:1"


def test_the_same_id_with_the_same_text_counts_once() -> None:
    twice = [Utterance("Ann", "a", utterance_id="x"), Utterance("Ann", "a", utterance_id="x"), Utterance("Ann", "b")]
    [session] = checked(Session("s", twice), Session("s", twice[:1]))
    assert [one.utterance_id for one in session.utterances] == ["x", "s:2"]


@pytest.mark.parametrize(
    "sessions",
    [
        [Session("s", [Utterance("A", "one", utterance_id="x"), Utterance("A", "two", utterance_id="x")])],
        [
            Session("s", [Utterance("A", "one", utterance_id="x")]),
            Session("t", [Utterance("A", "two", utterance_id="x")]),
        ],
        [
            Session("s", [Utterance("A", "one", utterance_id="x")]),
            Session("t", [Utterance("A", "one", utterance_id="x")]),
        ],
        [Session("s", [Utterance("A", "one", utterance_id="s:2"), Utterance("A", "two")])],
    ],
    ids=["in one session", "across sessions", "the same text in another session", "with a default id"],
)
def test_one_id_for_two_utterances_is_refused_by_name(sessions: list[Session]) -> None:
    with pytest.raises(UtteranceConflict, match=r"'(x|s:2)'.*nothing was written"):
        checked(*sessions)


def test_sessions_of_one_id_are_joined_in_order_and_keep_what_the_first_says_of_them() -> None:
    started = datetime(2024, 1, 1, tzinfo=UTC)
    [joined, other] = checked(
        Session("s", [Utterance("A", "one")], title="Plans", started_at=started),
        Session("t", [Utterance("A", "other")]),
        Session("s", [Utterance("A", "two")]),
    )
    assert (joined.session_id, joined.title, joined.started_at) == ("s", "Plans", started)
    assert [(one.utterance_id, one.text) for one in joined.utterances] == [("s:1", "one"), ("s:2", "two")]
    assert other.session_id == "t"


def test_sessions_without_utterances_are_left_out() -> None:
    assert checked(Session("s", [])) == []
    assert checked() == []


def test_a_session_without_a_start_starts_with_its_first_dated_utterance() -> None:
    at = datetime(2024, 5, 1, 9, tzinfo=UTC)
    [session] = checked(Session("s", [Utterance("A", "one"), Utterance("A", "two", at), Utterance("A", "three")]))
    assert session.started_at == at
    assert [one.said_at for one in session.utterances] == [None, at, None]
    assert checked(Session("s", [Utterance("A", "one")]))[0].started_at is None


# -- wrong input names where it stands


@pytest.mark.parametrize(
    ("sessions", "says"),
    [
        (None, "sessions: must be a list of Session, not NoneType"),
        (Session("s", []), "sessions: must be a list of Session, not Session"),
        (["words"], "session number 1: must be a Session, not str"),
        ([any_session(5, [])], "session number 1: session_id must be a string, not int"),
        ([any_session(None, [])], "session number 1: session_id must be a string, not NoneType"),
        ([Session("ok", []), Session(" ", [])], "session number 2: session_id is empty"),
        ([Session("x" * 513, [])], "session number 1: session_id has 513 characters, allowed are 512"),
        ([any_session("s", None)], "session 's': utterances: must be a list of Utterance, not NoneType"),
        (
            [any_session("s", Utterance("A", "b"))],
            "session 's': utterances: must be a list of Utterance, not Utterance",
        ),
        ([any_session("s", [], title=5)], "session 's': title must be a string or None, not int"),
        ([any_session("s", [], started_at="1")], "session 's': started_at: must be a datetime or None, not str"),
        ([any_session("s", [Utterance("A", "b"), "c"])], "session 's', utterance 2: must be a Utterance, not str"),
    ],
)
def test_a_wrong_session_is_refused_by_name_and_field(sessions: Any, says: str) -> None:
    with pytest.raises(InputError, match=re.escape(says)):
        check_sessions(sessions, timezone_name=None, max_text_characters=LIMIT)


@pytest.mark.parametrize(
    ("utterance", "says"),
    [
        (any_utterance("A", 5), "text must be a string, not int"),
        (any_utterance("A", None), "text must be a string, not NoneType"),
        (any_utterance("A", b"b"), "text must be a string, not bytes"),
        (any_utterance(None, "b"), "speaker must be a string, not NoneType"),
        (any_utterance(Decimal(1), "b"), "speaker must be a string, not Decimal"),
        (any_utterance(PurePosixPath("A"), "b"), "speaker must be a string, not PurePosixPath"),
        (Utterance("", "b"), "speaker is empty"),
        (Utterance("x" * 513, "b"), "speaker has 513 characters, allowed are 512"),
        (any_utterance("A", "b", np.float64(1.5)), "said_at: must be a datetime or None, not float64"),
        (any_utterance("A", "b", date(2024, 1, 1)), "said_at: must be a datetime or None, not date"),
        (any_utterance("A", "b", utterance_id=1), "utterance_id must be a string, not int"),
        (Utterance("A", "b", utterance_id=""), "utterance_id is empty"),
    ],
)
def test_a_wrong_utterance_is_refused_by_session_position_and_field(utterance: Utterance, says: str) -> None:
    with pytest.raises(InputError, match=re.escape(says)) as caught:
        checked(Session("s", [Utterance("A", "fine"), utterance]))
    assert "session 's', utterance 2" in str(caught.value)


def test_an_unknown_zone_is_refused_before_anything_is_read() -> None:
    for name in ("Mars/Phobos", "Europe", "", "../etc/passwd"):
        with pytest.raises(InputError, match="Europe/Berlin or UTC"):
            checked(Session("s", [Utterance("A", "b")]), zone=name)


def test_ids_of_the_longest_length_are_kept() -> None:
    longest = "é" * MAX_ID_CHARACTERS
    assert checked(Session(longest, [Utterance(longest, "a")]))[0].session_id == longest


def test_two_hundred_thousand_characters_are_ordinary() -> None:
    text = "long story " * 18_181 + "end"
    assert len(text) > 199_990
    assert only(Utterance("Ann", text)).text == text


def test_a_text_at_the_limit_is_kept_and_one_above_is_refused_naming_both_lengths() -> None:
    assert len(checked(Session("s", [Utterance("A", "x" * 1000)]), limit=1000)[0].utterances[0].text) == 1000
    with pytest.raises(InputError, match=r"session 's', utterance 2: the text has 1,001 characters, allowed are 1,000"):
        checked(Session("s", [Utterance("A", "y"), Utterance("A", "x" * 1001)]), limit=1000)


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\u00a0\u3000"])
def test_a_blank_text_is_refused_by_position(text: str) -> None:
    with pytest.raises(InputError, match=r"session 's', utterance 3: the text is empty"):
        checked(Session("s", [Utterance("A", "a"), Utterance("B", "b"), Utterance("A", text)]))


def test_texts_keep_their_blanks_line_ends_and_signs() -> None:
    text = " \tAND OR NOT + - \"'`~/\\:()[]{}*?\r\n e\u0301 \u200b\ufeff "
    assert only(Utterance("Ann", text)).text == text


@given(st.text(ascii_letters, min_size=0, max_size=30), st.sampled_from(["long", "zone", "year", "type", "id", "twin"]))
def test_no_error_quotes_what_was_said(around: str, fault: str) -> None:
    canary = f"{around}CANARY{around}"
    wrong: dict[str, list[Any]] = {
        "long": [Utterance("A", canary * 51)],
        "zone": [Utterance("A", canary, datetime(2024, 1, 1))],
        "year": [Utterance("A", canary, datetime.min.replace(tzinfo=timezone(timedelta(hours=1))))],
        "type": [any_utterance("A", [canary])],
        "id": [Utterance("A", canary, utterance_id="i" * 600)],
        "twin": [Utterance("A", canary, utterance_id="x"), Utterance("A", canary + ".", utterance_id="x")],
    }
    with pytest.raises(InputError) as caught:
        checked(Session("s", wrong[fault]), limit=300)
    assert "CANARY" not in str(caught.value)


# -- text


@pytest.mark.parametrize(
    ("given_text", "kept"),
    [
        ("half \ud83d", "half \ufffd"),
        ("\ude00 half", "\ufffd half"),
        ("pair \ud83d\ude00", "pair 😀"),
        ("wrong way round \ude00\ud83d", "wrong way round \ufffd\ufffd"),
        ("whole 😀 and half \ud83d", "whole 😀 and half \ufffd"),
        ("nul \x00 stays", "nul \x00 stays"),
        ("\ufeffmark", "\ufeffmark"),
        ("e\u0301 stays apart", "e\u0301 stays apart"),
    ],
)
def test_text_is_made_well_formed_and_is_verbatim_otherwise(given_text: str, kept: str) -> None:
    assert only(Utterance("Ann", given_text)).text == kept
    assert only(Utterance(given_text, "a")).speaker == kept
    assert checked(Session(given_text, [Utterance("A", "a")], title=given_text))[0].title == kept


@given(any_text)
def test_well_formed_text_is_encodable_and_a_second_time_changes_nothing(text: str) -> None:
    once = well_formed(text)
    once.encode("utf-8")
    assert well_formed(once) == once


@given(st.text(max_size=60))
def test_text_that_is_well_formed_is_kept_as_it_is(text: str) -> None:
    assert well_formed(text) == text


# -- times


def test_a_time_without_a_zone_is_refused_and_the_message_says_how_to_give_one() -> None:
    with pytest.raises(TimezoneNeeded, match=r"session 's', utterance 1: said_at.*--timezone.*ASSOMEM_TIMEZONE"):
        said(datetime(2024, 3, 31, 12))
    with pytest.raises(TimezoneNeeded, match="session 's': started_at"):
        checked(Session("s", [Utterance("A", "a")], started_at=datetime(2024, 3, 31)))


def test_a_time_without_a_zone_is_read_in_the_one_given() -> None:
    kept = said(datetime(2024, 7, 1, 12), "Europe/Berlin")
    assert kept.isoformat() == "2024-07-01T12:00:00+02:00"


def test_a_local_time_in_the_hour_skipped_in_spring_moves_forward() -> None:
    kept = said(datetime(2024, 3, 31, 2, 30), "Europe/Berlin")
    assert kept.isoformat() == "2024-03-31T03:30:00+02:00"


def test_a_local_time_in_the_hour_repeated_in_autumn_is_the_earlier_one_unless_fold_says_so() -> None:
    naive = datetime(2024, 10, 27, 2, 30)
    assert said(naive, "Europe/Berlin").isoformat() == "2024-10-27T02:30:00+02:00"
    assert said(naive.replace(fold=1), "Europe/Berlin").isoformat() == "2024-10-27T02:30:00+01:00"


@pytest.mark.parametrize(
    ("moment", "kept"),
    [
        (datetime.fromisoformat("2024-03-31T00:59:59Z"), "2024-03-31T00:59:59+00:00"),
        (datetime.fromisoformat("2024-03-31T12:00:00+08:00"), "2024-03-31T12:00:00+08:00"),
        (datetime(2024, 3, 31, 1, 59, tzinfo=BERLIN), "2024-03-31T01:59:00+01:00"),
        (datetime(2024, 3, 31, 3, 1, tzinfo=BERLIN), "2024-03-31T03:01:00+02:00"),
        (datetime(2024, 10, 27, 2, 30, tzinfo=BERLIN), "2024-10-27T02:30:00+02:00"),
        (datetime(2024, 10, 27, 2, 30, tzinfo=BERLIN, fold=1), "2024-10-27T02:30:00+01:00"),
        (datetime(2024, 1, 1, tzinfo=ZoneInfo("Asia/Kathmandu")), "2024-01-01T00:00:00+05:45"),
    ],
)
def test_a_time_with_a_zone_keeps_instant_and_offset(moment: datetime, kept: str) -> None:
    stored = said(moment, "America/New_York")
    assert stored.isoformat() == kept
    assert stored.timestamp() == moment.timestamp()
    assert type(stored.tzinfo) is timezone


def test_kinds_of_times_mixed_in_one_session_compare_and_subtract_as_instants() -> None:
    moments = [
        datetime(2024, 10, 27, 2, 30, tzinfo=BERLIN),
        datetime(2024, 10, 27, 0, 45),
        datetime.fromisoformat("2024-10-27T09:00:00+08:00"),
        datetime(2024, 10, 27, 2, 30, tzinfo=BERLIN, fold=1),
    ]
    [session] = checked(Session("s", [Utterance("A", "a", moment) for moment in moments]), zone="UTC")
    kept = [one.said_at for one in session.utterances if one.said_at is not None]
    assert kept == sorted(kept)
    # By wall clock the first and the last would be one moment; an hour lies between them.
    assert kept[-1] - kept[0] == timedelta(hours=1)


@given(
    st.datetimes(
        datetime(1900, 1, 1),
        datetime(2100, 1, 1),
        timezones=st.sampled_from([UTC, BERLIN, ZoneInfo("Australia/Lord_Howe"), timezone(timedelta(hours=14))]),
    )
)
def test_with_offset_keeps_every_instant_and_its_offset(moment: datetime) -> None:
    fixed = with_offset(moment)
    assert fixed.timestamp() == moment.timestamp()
    assert fixed.utcoffset() == moment.utcoffset()
    assert with_offset(fixed) == fixed


@pytest.mark.parametrize(
    ("moment", "zone"),
    [
        (datetime.min, "Asia/Shanghai"),
        (datetime.max, "America/Los_Angeles"),
        (datetime.min.replace(tzinfo=timezone(timedelta(hours=8))), None),
    ],
)
def test_a_time_that_its_zone_carries_out_of_the_calendar_is_refused(moment: datetime, zone: str | None) -> None:
    with pytest.raises(InputError, match="outside the years 1 to 9999"):
        said(moment, zone)


# -- names of memories, uids


@pytest.mark.parametrize("name", ["a", "x" * 128, 'Zoë\'s "notes"', "記憶", "ذاكرة", "🙂", "a`b\\c/../d", " padded "])
def test_a_memory_may_have_a_name_of_any_script(name: str) -> None:
    assert check_memory_name(name) == name


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("", "1 to 128 characters"),
        ("x" * 129, "this has 129"),
        ("   ", "not blank"),
        ("a\nb", "control"),
        ("a\x00b", "control"),
        ("a\x7fb", "control"),
        ("half \ud83d", "control"),
        (5, "not int"),
        (None, "not NoneType"),
        (b"a", "not bytes"),
    ],
)
def test_other_names_of_memories_are_refused(name: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        check_memory_name(name)


def test_a_uid_is_thirty_two_hexadecimal_digits_and_stays_the_same_for_ever() -> None:
    # Stored in every database: another value here would make every stored utterance unknown.
    assert identity("alice", "s:1") == "2f3638b8569a6ce7950bdc6c92d2a455"


@given(st.lists(any_text, max_size=4), st.lists(any_text, max_size=4))
def test_different_parts_give_different_uids(one: list[str], other: list[str]) -> None:
    assert (identity(*one) == identity(*other)) == (one == other)


@given(st.lists(st.text("ab", min_size=1, max_size=3), min_size=2, max_size=3))
def test_where_the_parts_are_cut_matters(parts: list[str]) -> None:
    assert identity(*parts) != identity("".join(parts))
    assert identity(*parts) != identity(*parts, "")
