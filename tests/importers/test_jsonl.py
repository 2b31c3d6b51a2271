"""Our own format, read from bytes."""

import io
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assomem.errors import InputError, TimezoneNeeded, UtteranceConflict
from assomem.importers import Imported, read

WHEN = "2026-01-02T10:00:00Z"


def line(**changes: object) -> str:
    fields: dict[str, object] = {
        "session_id": "s", "timestamp": WHEN, "utterance_id": None, "speaker": "Lea", "text": "Hello",
    }  # fmt: skip
    return json.dumps(fields | changes, ensure_ascii=False)


def read_lines(*given_lines: str, encoding: str = "utf-8", timezone: str | None = None) -> Imported:
    return read(io.BytesIO("\n".join(given_lines).encode(encoding)), timezone=timezone)


def texts(imported: Imported) -> list[str]:
    return [utterance.text for session in imported.sessions for utterance in session.utterances]


def test_a_line_becomes_an_utterance_with_the_ids_and_the_time_it_names() -> None:
    imported = read_lines(line(utterance_id="D1:3", extra=[1, 2]))
    (session,) = imported.sessions
    (utterance,) = session.utterances
    assert (imported.format, session.session_id, utterance.utterance_id) == ("jsonl", "s", "D1:3")
    assert (utterance.speaker, utterance.text) == ("Lea", "Hello")
    assert utterance.said_at == datetime(2026, 1, 2, 10, tzinfo=UTC)
    assert (imported.skipped, imported.warnings, imported.problems) == ({}, {}, [])


def test_said_at_is_read_where_there_is_no_timestamp() -> None:
    imported = read_lines(json.dumps({"session_id": "s", "said_at": WHEN, "speaker": "Lea", "text": "Hello"}))
    assert imported.sessions[0].utterances[0].said_at == datetime(2026, 1, 2, 10, tzinfo=UTC)


def test_a_time_of_null_stays_none_and_is_counted() -> None:
    imported = read_lines(line(timestamp=None), line(timestamp=""))
    assert [one.said_at for one in imported.sessions[0].utterances] == [None, None]
    assert imported.warnings == {"no_time": 2}


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ('{"session_id": "s", "speaker": "Lea", "te', "not JSON"),
        ("[1, 2]", "not a JSON object"),
        ("[" * 100_000, "not JSON"),
        (line(session_id=None), "no session_id"),
        (line(speaker=None), "no speaker"),
        (line(speaker=" "), "speaker is blank"),
        (line(text=None), "no text"),
        (line(text=7), "text is not a string"),
        (line(timestamp="yesterday"), "not ISO 8601"),
        (line(timestamp=1_700_000_000), "not a string"),
        (line(utterance_id="x" * 513), "513 characters"),
    ],
)
def test_r53_a_broken_line_is_named_and_counted_and_the_others_are_read(bad: str, says: str) -> None:
    imported = read_lines(line(text="one"), bad, line(text="two"))
    assert texts(imported) == ["one", "two"]
    assert imported.skipped == {"broken": 1}
    (problem,) = imported.problems
    assert "line 2" in problem
    assert says in problem
    assert "yesterday" not in problem


def test_r53_a_file_that_is_cut_inside_a_character_loses_its_last_line_alone() -> None:
    whole = "\n".join([line(text="Zoë says hi"), line(text="日本")]).encode()
    cut = whole[: whole.index("本".encode()) + 1]
    imported = read(io.BytesIO(cut))
    assert texts(imported) == ["Zoë says hi"]
    assert imported.skipped == {"broken": 1}
    assert "decoded_as" not in imported.warnings


def test_a_blank_text_is_empty_and_a_repeated_id_is_a_duplicate() -> None:
    imported = read_lines(
        line(utterance_id="a"), line(utterance_id="b", text=" \t "), line(utterance_id="a"), line(text="Hello")
    )
    assert imported.skipped == {"empty": 1, "duplicate": 1}
    assert texts(imported) == ["Hello", "Hello"]


@pytest.mark.parametrize("changes", [{"text": "Other"}, {"session_id": "t"}])
def test_an_id_that_stands_for_two_utterances_is_refused_by_name(changes: dict[str, str]) -> None:
    with pytest.raises(UtteranceConflict, match="'D1:3'") as caught:
        read_lines(line(utterance_id="D1:3"), line(utterance_id="D1:3", **changes))
    assert "Other" not in str(caught.value)


def test_a_time_without_a_zone_is_refused_unless_one_is_given() -> None:
    naive = line(timestamp="2026-07-01T10:00:00")
    with pytest.raises(TimezoneNeeded, match=r"line 1.*--timezone"):
        read_lines(naive)
    imported = read_lines(naive, timezone="Europe/Berlin")
    assert imported.sessions[0].utterances[0].said_at == datetime(2026, 7, 1, 8, tzinfo=UTC)


def test_a_zone_that_is_none_is_refused_and_not_blamed_on_the_lines() -> None:
    with pytest.raises(InputError, match="not a time zone"):
        read_lines(line(), timezone="Europe/Nowhere")


def test_whole_numbers_are_taken_as_ids() -> None:
    imported = read_lines(line(session_id=7, utterance_id=12))
    assert imported.sessions[0].session_id == "7"
    assert imported.sessions[0].utterances[0].utterance_id == "12"


def test_sessions_come_by_time_and_those_without_one_last_in_the_order_of_the_file() -> None:
    imported = read_lines(
        line(session_id="z", timestamp=None),
        line(session_id="late", timestamp="2026-01-02T10:00:00+00:00"),
        line(session_id="early", timestamp="2026-01-02T10:30:00+02:00"),
        line(session_id="a", timestamp=None),
    )
    assert [session.session_id for session in imported.sessions] == ["early", "late", "z", "a"]


SPEECH = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda text: bool(text.strip()))


@given(spoken=st.lists(SPEECH, min_size=1, max_size=5), crlf=st.booleans(), mark=st.booleans())
def test_texts_come_back_verbatim_whatever_ends_the_lines(spoken: Sequence[str], crlf: bool, mark: bool) -> None:
    written = ("\r\n" if crlf else "\n").join(line(text=text) for text in spoken)
    assert texts(read(io.BytesIO(written.encode("utf-8-sig" if mark else "utf-8")))) == list(spoken)


def test_only_a_line_feed_ends_a_line() -> None:
    spoken = "one\u2028two\u0085three\x0bfour"
    assert texts(read_lines(line(text=spoken))) == [spoken]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_r63_a_byte_order_mark_says_the_encoding_and_is_no_part_of_the_text(encoding: str) -> None:
    assert texts(read_lines(line(text="Zoë 日本 😀"), line(text="two"), encoding=encoding)) == ["Zoë 日本 😀", "two"]


def test_bytes_that_are_not_utf8_are_read_as_cp1252_and_that_is_said() -> None:
    imported = read_lines(line(text="Grüße für Zoë – €"), line(text="plain"), encoding="cp1252")
    assert texts(imported) == ["Grüße für Zoë – €", "plain"]
    assert imported.warnings["decoded_as"] == 1


def test_one_damaged_line_of_a_utf8_file_is_broken_and_does_not_garble_the_others() -> None:
    good = line(text="Grüße").encode()
    imported = read(io.BytesIO(good + b"\n" + good.replace("ü".encode(), b"\xfc") + b"\n" + good))
    assert texts(imported) == ["Grüße", "Grüße"]
    assert imported.skipped == {"broken": 1}


@given(st.lists(st.sampled_from(["good", "broken", "empty", "again"]), min_size=1, max_size=30))
def test_the_books_balance_every_line_is_an_utterance_or_counted(kinds: Sequence[str]) -> None:
    changes: dict[str, dict[str, object]] = {
        "good": {}, "broken": {"speaker": None}, "empty": {"text": " "}, "again": {"utterance_id": "first"},
    }  # fmt: skip
    imported = read_lines(line(utterance_id="first"), *(line(**changes[kind]) for kind in kinds))
    assert len(texts(imported)) + sum(imported.skipped.values()) == len(kinds) + 1


def test_nothing_recognised_says_what_was_seen_and_quotes_nothing() -> None:
    for content, says in [
        (b"", "empty"),
        (b"12.03.24, 20:14 - Lea: my secret\n", "text that is not JSON"),
        (b"PK\x03\x04rest", "zip"),
        (b'[{"role": "user", "content": "my secret"}]', "JSON list"),
        (b'{"role": "user", "content": "my secret"}', "role, content"),
        (b'{"my secret": 1, "role": 2}', "role and 1 more"),
    ]:
        with pytest.raises(InputError, match=says) as caught:
            read(io.BytesIO(content))
        assert "secret" not in str(caught.value)


def test_a_file_without_one_utterance_is_an_error_even_when_its_format_is_named(tmp_path: Path) -> None:
    file = tmp_path / "chat.jsonl"
    file.write_text(line(text=" ") + "\n" + line(speaker=None), encoding="utf-8")
    with pytest.raises(InputError, match="1 broken, 1 empty"):
        read(file, format_name="jsonl")


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="jsonl"):
        read(io.BytesIO(b"x"), format_name="fax")
