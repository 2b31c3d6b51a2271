"""The packaged sample memory: its form, and that every question's evidence is there and says the answer."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from itertools import pairwise
from typing import Any, cast

from assomem.sample import sample_folder

TYPES = {
    "single-hop",
    "multi-hop",
    "temporal",
    "preference",
    "knowledge-update",
    "open-domain",
    "abstention",
}


def _rows(name: str) -> list[dict[str, Any]]:
    text = (sample_folder() / name).read_text(encoding="utf-8")
    return [cast(dict[str, Any], json.loads(line)) for line in text.splitlines()]


def _utterances() -> list[dict[str, Any]]:
    return _rows("memory.jsonl")


def _queries() -> list[dict[str, Any]]:
    return _rows("queries.jsonl")


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    assert moment.utcoffset() is not None, text
    return moment


def _words(texts: Iterable[str]) -> set[str]:
    return set(re.findall(r"\w+", " ".join(texts).casefold()))


def test_every_utterance_has_the_five_fields_of_the_own_format_and_says_something() -> None:
    for row in _utterances():
        assert list(row) == ["session_id", "timestamp", "utterance_id", "speaker", "text"]
        assert all(isinstance(value, str) and value.strip() for value in row.values())


def test_the_memory_is_as_large_as_its_readme_says() -> None:
    rows, readme = _utterances(), (sample_folder() / "README.md").read_text(encoding="utf-8")
    assert f"({len(rows)} utterances" in readme
    assert f"{len(_queries())} questions" in readme
    assert len({row["session_id"] for row in rows}) == 10
    assert len({row["speaker"] for row in rows}) == 4
    assert 110 <= len(rows) <= 140


def test_utterance_ids_are_unique_and_name_their_session() -> None:
    rows = _utterances()
    assert len({row["utterance_id"] for row in rows}) == len(rows)
    assert all(row["utterance_id"].startswith(f"{row['session_id']}:") for row in rows)


def test_sessions_are_whole_and_follow_each_other_in_time() -> None:
    rows = _utterances()
    starts = [
        row["session_id"] for i, row in enumerate(rows) if i == 0 or rows[i - 1]["session_id"] != row["session_id"]
    ]
    assert len(starts) == len(set(starts))
    moments = [_moment(row["timestamp"]) for row in rows]
    assert all(earlier < later for earlier, later in pairwise(moments))
    assert {moment.year for moment in moments} == {2025}


def test_offsets_change_with_season_and_place() -> None:
    assert {row["timestamp"][-6:] for row in _utterances()} == {"+00:00", "+01:00", "+02:00"}


def test_turns_are_short_and_long() -> None:
    lengths = [len(row["text"].split()) for row in _utterances()]
    assert min(lengths) <= 2
    assert 60 <= max(lengths) <= 120


def test_every_question_has_the_fields_of_the_own_format() -> None:
    for row in _queries():
        assert list(row) == ["query_id", "question", "answer", "query_type", "query_time", "evidence"]
        assert row["question"].endswith("?")
        assert row["answer"]
        _moment(row["query_time"])
    assert len({row["query_id"] for row in _queries()}) == len(_queries())


def test_every_type_of_question_is_there() -> None:
    counts = Counter(row["query_type"] for row in _queries())
    assert set(counts) == TYPES
    assert min(counts.values()) >= 2
    assert counts["abstention"] == 2


def test_evidence_exists_and_was_said_before_the_question_was_asked() -> None:
    said = {row["utterance_id"]: _moment(row["timestamp"]) for row in _utterances()}
    for row in _queries():
        assert len(set(row["evidence"])) == len(row["evidence"])
        assert all(said[one] < _moment(row["query_time"]) for one in row["evidence"]), row["query_id"]
        assert (row["evidence"] == []) == (row["query_type"] == "abstention")


def test_multi_hop_evidence_lies_in_several_sessions() -> None:
    session = {row["utterance_id"]: row["session_id"] for row in _utterances()}
    for row in _queries():
        if row["query_type"] == "multi-hop":
            assert len({session[one] for one in row["evidence"]}) >= 2, row["query_id"]


def test_the_words_that_carry_an_answer_stand_in_its_evidence() -> None:
    texts = {row["utterance_id"]: row["text"] for row in _utterances()}
    keys = {
        "q01": "Pellow secretary Fennel",
        "q02": "four hundred and twelve logs boxes",
        "q03": "Leonora Finch boss",
        "q04": "customs house concert",
        "q05": "forgot stove",
        "q06": "San Sebastián bakery Irun",
        "q07": "thirty four 118 pounds spokes fork wheel",
        "q08": "glove tram posted August",
        "q09": "slugs courgettes collar milk bottle nine six",
        "q10": "Bornholm Oskar Alfama Lisbon Brussels",
        "q11": "Solveig fork three and a half",
        "q12": "Hettie Sloane fork",
        "q13": "spokes back wheel",
        "q14": "Anjali weekend",
        "q15": "interview ten days museum",
        "q16": "slugs Good Friday torch bucket",
        "q17": "27 9 Wednesday wheelbarrows",
        "q18": "wind panes Tuesday",
        "q19": "rehearsal Tuesday Okafor retiring",
        "q20": "plane window seat sleeper book",
        "q21": "fish again vegetarian sardines",
        "q22": "coffee black sugar four",
        "q23": "mint tea coffee June",
        "q24": "3rd April twenty to nine",
        "q25": "Lisbon 12th September Beatriz",
        "q26": "plot 9 swapped 27",
        "q27": "espresso machine tea",
        "q28": "Moselle Trier Koblenz June",
        "q29": "Thursdays seven Olave",
        "q30": "donkey plane",
        "q31": "alphabetise spice rack archivist logs",
    }
    queries = {row["query_id"]: row for row in _queries()}
    assert keys.keys() == {name for name, row in queries.items() if row["query_type"] != "abstention"}
    for name, words in keys.items():
        missing = _words([words]) - _words(texts[one] for one in queries[name]["evidence"])
        assert not missing, (name, missing)


def test_the_same_question_asked_later_has_another_answer() -> None:
    drinks = [row for row in _queries() if row["question"] == "What does Nadia drink in the morning?"]
    first, second = sorted(drinks, key=lambda row: _moment(row["query_time"]))
    assert "coffee" in first["answer"]
    assert "mint tea" in second["answer"]


def test_what_the_abstention_questions_ask_is_nowhere_in_the_memory() -> None:
    said = _words(row["text"] for row in _utterances())
    assert said.isdisjoint({"brother", "brothers", "fare", "ticket", "tickets"})
