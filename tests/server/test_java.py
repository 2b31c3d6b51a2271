"""The Java that runs the server, and the memory it gets."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assomem.errors import ServerError
from assomem.server.java import Java, find_java, heap_mib, packaged_version, page_cache_mib, server_command

GIB = 1024**3


def java_that_says(folder: Path, text: str, code: int = 0) -> Path:
    program = folder / "java"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit {code}\n", encoding="utf-8")
    program.chmod(0o755)
    return program


def test_the_packaged_java_is_used_by_default() -> None:
    java = find_java(None)
    assert java.version == packaged_version()
    assert int(java.version.partition(".")[0]) >= 25


def test_a_java_of_the_users_choice_is_used(tmp_path: Path) -> None:
    program = java_that_says(tmp_path, "java.base@26.0.1\njdk.incubator.vector@26.0.1")
    assert find_java(program) == Java(program, "26.0.1", vector_module=True)


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("java.base@21.0.4", 0, "is Java 21, Neo4j 2026.01 needs 25"),
        ("Unrecognized option", 1, "no Java of version 9"),
    ],
)
def test_an_old_java_is_refused_by_its_version(tmp_path: Path, text: str, code: int, says: str) -> None:
    with pytest.raises(ServerError, match=f"{says}.*ASSOMEM_JAVA"):
        find_java(java_that_says(tmp_path, text, code))


def test_a_java_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ServerError, match=r"nowhere.*ASSOMEM_JAVA"):
        find_java(tmp_path / "nowhere")


def test_the_vector_module_is_added_only_where_java_has_it(tmp_path: Path) -> None:
    option = "--add-modules=jdk.incubator.vector"
    assert option in server_command(Java(tmp_path, "25.0.2", vector_module=True), tmp_path)
    assert option not in server_command(Java(tmp_path, "25.0.2", vector_module=False), tmp_path)


@pytest.mark.parametrize(
    ("total", "heap", "page_cache"),
    [(2 * GIB, 512, 256), (8 * GIB, 1024, 512), (16 * GIB, 2048, 1024), (64 * GIB, 3072, 2048)],
)
def test_memory_follows_the_machine(total: int, heap: int, page_cache: int) -> None:
    assert (heap_mib(total), page_cache_mib(total)) == (heap, page_cache)


@given(st.integers(1 * GIB, 4096 * GIB), st.integers(0, 64 * GIB))
def test_more_memory_never_means_less_for_the_server(total: int, more: int) -> None:
    assert 512 <= heap_mib(total) <= heap_mib(total + more) <= 3072
    assert 256 <= page_cache_mib(total) <= page_cache_mib(total + more) <= 2048
