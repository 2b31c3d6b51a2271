"""Two invented memories with labelled questions, as files."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from assomem import Settings

GARDEN = (
    ("g1", "2026-03-02T10:00:00", "Mira", "We bought three tulip bulbs at the market in Utrecht."),
    ("g1", "2026-03-02T10:00:00", "Tove", "Did you plant them on the balcony already?"),
    ("g1", "2026-03-02T10:00:00", "Mira", "Not yet, the soil is frozen and the bulbs wait in the cellar."),
    ("g1", "2026-03-02T10:00:00", "Tove", "My neighbour Wilf lends me his spade on Saturday."),
    ("g2", "2026-04-11T18:30:00", "Mira", "The tulips are up, yellow ones, taller than the fence."),
    ("g2", "2026-04-11T18:30:00", "Tove", "Wilf broke the spade on a root, we need another."),
    ("g2", "2026-04-11T18:30:00", "Mira", "There is a shop for tools on Mill Street."),
    ("g2", "2026-04-11T18:30:00", "Tove", "I paid 27 euros for a new spade there."),
    ("g3", "2026-05-20T09:15:00", "Mira", "I prefer herbs to flowers, basil most of all."),
    ("g3", "2026-05-20T09:15:00", "Tove", "Then take my sage, it grows like weeds."),
    ("g3", "2026-05-20T09:15:00", "Mira", "Yesterday the cat slept in the basil pot."),
    ("g3", "2026-05-20T09:15:00", "Tove", "Cats always find the warmest pot."),
)
GARDEN_QUESTIONS: "Questions" = (
    ("q1", "Where did Mira buy the tulip bulbs?", "place", ["g1:1"]),
    ("q2", "How much did the new spade cost?", "number", ["g2:4"]),
    ("q3", "What happened to Wilf's spade?", "single-hop", ["g1:4", "g2:2"]),
    ("q4", "What did Mira say in April 2026?", "temporal", ["g2:1", "g2:3", "g2:1"]),
    ("q5", "Which rose did Tove plant?", "adversarial", ["g1:2"]),
    ("q6", "Who is the mayor of Utrecht?", "single-hop", []),
    ("q7_abs", "What is Tove's dog called?", "single-hop", []),
)
BAND = (
    ("b1", "2026-02-01T20:00:00", "Ines", "The concert in Trier starts at nine, bring the cello."),
    ("b1", "2026-02-01T20:00:00", "Jonas", "My cello has a broken string since Tuesday."),
    ("b1", "2026-02-01T20:00:00", "Ines", "Anjali repairs strings, ask her."),
    ("b1", "2026-02-01T20:00:00", "Jonas", "She charges 40 euros, I asked."),
    ("b2", "2026-02-08T20:00:00", "Ines", "The hall in Trier was full, two hundred people."),
    ("b2", "2026-02-08T20:00:00", "Jonas", "I loved the slow piece, we should play it again."),
    ("b2", "2026-02-08T20:00:00", "Ines", "Next time we play in Koblenz, in a church."),
    ("b2", "2026-02-08T20:00:00", "Jonas", "Churches echo, we must play slower there."),
)
BAND_QUESTIONS: "Questions" = (
    ("q1", "Who repairs strings?", "person", ["b1:3"]),
    ("q2", "In which city will they play next time?", "place", ["b2:3"]),
    ("q3", "How many people were in the hall?", "number", ["b2:1", "nowhere:1"]),
)

Talk = Sequence[tuple[str, str | None, str, str]]
Questions = Sequence[tuple[str, str, str, Sequence[str]]]


def write_memory(folder: Path, talk: Talk, questions: Questions, **more: Mapping[str, Any]) -> Path:
    """A folder of labelled questions; `more` adds keys to the questions of those ids."""
    folder.mkdir(parents=True)
    counts: dict[str, int] = {}
    lines: list[dict[str, Any]] = []
    for session_id, timestamp, speaker, text in talk:
        counts[session_id] = counts.get(session_id, 0) + 1
        utterance_id = f"{session_id}:{counts[session_id]}"
        lines.append(
            {
                "session_id": session_id, "timestamp": timestamp, "utterance_id": utterance_id, "speaker": speaker,
                "text": text,
            }
        )  # fmt: skip
    write_lines(folder / "memory.jsonl", lines)
    write_lines(
        folder / "queries.jsonl",
        [
            {
                "query_id": query_id, "question": text, "answer": "", "query_type": kind, "query_time": None,
                "evidence": list(evidence), **more.get(query_id, {}),
            }
            for query_id, text, kind, evidence in questions
        ],
    )  # fmt: skip
    return folder


def write_lines(file: Path, records: Sequence[Mapping[str, Any]]) -> None:
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes the memory `band` as a folder of some name, with changes to its questions, or without its dates."""

    def write_band(name: str, *, dated: bool = True, **more: Mapping[str, Any]) -> Path:
        talk = [(session_id, at if dated else None, speaker, text) for session_id, at, speaker, text in BAND]
        return write_memory(tmp_path / name, talk, BAND_QUESTIONS, **more)

    return write_band


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    """A set of two memories, `garden` and `band`; garden has ready-made clues."""
    folder = tmp_path / "talks"
    garden = write_memory(folder / "garden", GARDEN, GARDEN_QUESTIONS, q2={"audit_error_type": "WRONG_CITATION"})
    write_lines(
        garden / "clues.jsonl",
        [
            {"session_id": "g1", "kind": "topic", "text": "tulips and a spade", "utterance_ids": ["g1:1", "g1:4"]},
            {"session_id": "g2", "kind": "fact", "text": "Tove paid 27 euros for a spade", "utterance_ids": ["g2:4"]},
        ],
    )
    write_memory(folder / "band", BAND, BAND_QUESTIONS)
    return folder


@pytest.fixture
def apart(settings: Settings, tmp_path: Path) -> Settings:
    """The settings of the test server with a cache of the test's own for what evaluation keeps."""
    return settings.model_copy(update={"cache": tmp_path / "cache"})
