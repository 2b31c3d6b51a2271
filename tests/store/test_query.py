"""Queries kept in files: the loader refuses a file whose header and body disagree."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from assomem.errors import QueryFileError, QueryParameterError
from assomem.store import cypher_folder, load, names, query


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder of queries in place of the shipped one."""
    monkeypatch.setattr(query, "cypher_folder", lambda: tmp_path)
    load.cache_clear()
    yield tmp_path
    load.cache_clear()


def write(folder: Path, text: str, name: str = "q") -> None:
    file = folder / f"{name}.cypher"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def test_a_query_is_named_by_its_path_and_declares_parameters_and_columns(folder: Path) -> None:
    text = (
        "// Counts.\n//\n// $n  INTEGER  so many\n//\n// -> one  INTEGER\n// -> two  FLOAT  0..1\n\n"
        "CYPHER 25\nRETURN $n AS one, 1.0 AS two\n"
    )
    write(folder, text, "a/b")
    found = load("a/b")
    assert (found.name, found.text) == ("a/b", text)
    assert found.parameters == {"n"}
    assert found.columns == ("one", "two")


def test_parameters_are_declared_with_type_default_and_words(folder: Path) -> None:
    write(
        folder,
        "// Says.\n//\n// $memory  STRING  whose\n// $limit  INTEGER = 20  rows at most\n"
        "// $kind  STRING = ''  '' all\n"
        "// $name  STRING = 'a = b'  a name\n// $share  FLOAT = -0.5  of all\n// $old  BOOLEAN = false  also old ones\n"
        "// $at  ZONED DATETIME  when\n// $ids  LIST<STRING>  a = b\n\n"
        "CYPHER 25\nRETURN $memory, $limit, $kind, $name, $share, $old, $at, $ids\n",
    )
    assert [(one.name, one.type, one.default, one.says) for one in load("q").takes] == [
        ("memory", "STRING", None, "whose"),
        ("limit", "INTEGER", 20, "rows at most"),
        ("kind", "STRING", "", "'' all"),
        ("name", "STRING", "a = b", "a name"),
        ("share", "FLOAT", -0.5, "of all"),
        ("old", "BOOLEAN", False, "also old ones"),
        ("at", "ZONED DATETIME", None, "when"),
        ("ids", "LIST<STRING>", None, "a = b"),
    ]
    assert load("q").title == "Says."


@pytest.mark.parametrize(
    "declared",
    [
        "integer  so many",
        "INTEGER = '1'  so many",
        "INTEGER = 1.0  so many",
        "INTEGER = one  so many",
        "FLOAT = 1  so many",
        "BOOLEAN = yes  so many",
        "STRING = all  so many",
        "STRING = ''",
        "INTEGER = 1",
        "INTEGER =",
        "LIST<STRING> = []  so many",
    ],
)
def test_a_parameter_without_a_type_or_with_a_default_of_another_is_refused(folder: Path, declared: str) -> None:
    write(folder, f"// Says.\n// $n  {declared}\nCYPHER 25\nRETURN $n\n")
    with pytest.raises(QueryFileError, match=r"q: (\$n has no type|the default of \$n must be)"):
        load("q")


@pytest.mark.parametrize(
    "body",
    [
        "RETURN '$no', $n",
        'RETURN "it\\"s $no", $n',
        "RETURN 'it\\'s $no', $n",
        "RETURN `$no` + $n",
        "RETURN `a``$no` + $n",
        "RETURN $n // not $no",
        "RETURN $n /* not\n$no */",
        "RETURN 'http://x', $n",
        "RETURN '/*', $n, '*/ $no'",
    ],
)
def test_a_dollar_in_a_text_or_comment_is_no_parameter(folder: Path, body: str) -> None:
    write(folder, f"// Says.\n// $n  INTEGER\n// -> n  INTEGER\nCYPHER 25\n{body}\n")
    assert load("q").parameters == {"n"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("// Says.\nCYPHER 25\nRETURN $n\n", r"q: used but not declared \['n'\], declared but not used \[\]"),
        ("// Says.\n// $n  INTEGER\nCYPHER 25\nRETURN 1\n", r"declared \[\], declared but not used \['n'\]"),
        ("// Says.\n// $m  INTEGER\nCYPHER 25\nRETURN $n\n", r"declared \['n'\], declared but not used \['m'\]"),
        ("// Says.\n// $n\nCYPHER 25\nRETURN $n\n", r"used but not declared \['n'\]"),
        ("CYPHER 25\nRETURN 1\n", "q: the first line must say what it does"),
        ("// says.\nCYPHER 25\nRETURN 1\n", "the first line must say what it does"),
        ("// Says nothing\nCYPHER 25\nRETURN 1\n", "the first line must say what it does"),
        ("\n// Says.\nCYPHER 25\nRETURN 1\n", "the first line must say what it does"),
        ("", "the first line must say what it does"),
        ("// Says.\nRETURN 1\n", "q: the statement must begin with CYPHER 25"),
        ("// Says.\nRETURN 1\nCYPHER 25\n", "the statement must begin with CYPHER 25"),
        ("// Says.\n// CYPHER 25\n", "the statement must begin with CYPHER 25"),
    ],
)  # fmt: skip
def test_a_file_whose_header_and_body_disagree_is_refused(folder: Path, text: str, says: str) -> None:
    write(folder, text)
    with pytest.raises(QueryFileError, match=says):
        load("q")


def test_a_missing_file_is_refused_with_the_place_where_it_was_looked_for(folder: Path) -> None:
    with pytest.raises(QueryFileError, match=f"looked for {re.escape(str(folder))}"):
        load("nowhere/at/all")


def test_parameters_that_do_not_fit_are_refused_by_name(folder: Path) -> None:
    write(folder, "// Says.\n// $memory  STRING\n// $limit  INTEGER\nCYPHER 25\nRETURN $memory, $limit\n")
    load("q").check({"memory", "limit"})
    with pytest.raises(QueryParameterError, match=r"q: missing \['limit'\], unexpected \['top_k'\]"):
        load("q").check({"memory", "top_k"})


def test_names_are_the_queries_directly_in_a_folder_sorted(folder: Path) -> None:
    for name in ("a/two", "a/one", "a/deeper/three", "b/four"):
        write(folder, "// Says.\nCYPHER 25\nRETURN 1\n", name)
    (folder / "a" / "notes.txt").write_text("", encoding="utf-8")
    assert names("a") == ["a/one", "a/two"]
    assert names("a/deeper") == ["a/deeper/three"]
    assert names("c") == []


def test_every_shipped_query_loads_and_says_its_columns_once() -> None:
    place = Path(str(cypher_folder()))
    shipped = sorted(file.relative_to(place).with_suffix("").as_posix() for file in place.rglob("*.cypher"))
    assert shipped
    for name in shipped:
        found = load(name)
        assert found.name == name
        assert len(set(found.columns)) == len(found.columns), name
