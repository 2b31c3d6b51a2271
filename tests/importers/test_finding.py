"""Which file of a folder is the memory."""

from pathlib import Path

import pytest

from assomem.errors import InputError
from assomem.importers import read

LINE = '{"session_id": "s", "timestamp": null, "speaker": "Lea", "text": "TEXT"}\n'


def write(file: Path, text: str = "Hello") -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(LINE.replace("TEXT", text), encoding="utf-8")


def first_text(path: Path) -> str:
    return read(path).sessions[0].utterances[0].text


def test_in_a_folder_memory_jsonl_is_taken_whatever_lies_beside_it(tmp_path: Path) -> None:
    write(tmp_path / "memory.jsonl", "this")
    write(tmp_path / "another.jsonl", "not this")
    (tmp_path / "queries.jsonl").write_text('{"query_id": "q1", "question": "?"}\n', encoding="utf-8")
    assert first_text(tmp_path) == "this"


def test_else_the_only_file_of_a_known_format_is_taken(tmp_path: Path) -> None:
    write(tmp_path / "talk.jsonl", "this")
    (tmp_path / "clues.jsonl").write_text('{"session_id": "s", "kind": "topic", "text": "x"}\n', encoding="utf-8")
    (tmp_path / "notes.txt").write_text("hello", encoding="utf-8")
    write(tmp_path / ".hidden.jsonl")
    assert first_text(tmp_path) == "this"


def test_a_choice_between_files_is_left_to_the_user(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl")
    write(tmp_path / "b.jsonl")
    with pytest.raises(InputError, match=r"a\.jsonl, b\.jsonl"):
        read(tmp_path)


def test_a_folder_of_memories_is_refused_and_names_them(tmp_path: Path) -> None:
    write(tmp_path / "conv-1" / "memory.jsonl")
    write(tmp_path / "conv-2" / "memory.jsonl")
    with pytest.raises(InputError, match=r"conv-1, conv-2.*--memory"):
        read(tmp_path)


def test_a_folder_without_anything_known_says_so(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello", encoding="utf-8")
    with pytest.raises(InputError, match=r"no memory\.jsonl"):
        read(tmp_path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.jsonl: cannot be read"):
        read(tmp_path / "gone.jsonl")
