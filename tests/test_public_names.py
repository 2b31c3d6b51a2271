"""The names of the package: sorted, each there, and none of them loaded before it is used."""

import subprocess
import sys
from pathlib import Path

import pytest

import assomem

HEAVY = ("neo4j", "numpy", "pydantic", "pydantic_settings", "openai", "onnxruntime", "tokenizers", "graphdatascience")


def test_importing_the_package_loads_nothing_heavy(tmp_path: Path) -> None:
    program = f"import sys, assomem; print([name for name in {HEAVY!r} if name in sys.modules], assomem.__version__)"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True, text=True, check=True, cwd=tmp_path, encoding="utf-8", timeout=60,
    )  # fmt: skip
    assert done.stdout.strip() == f"[] {assomem.__version__}"
    assert done.stderr == ""


def test_the_public_names_are_sorted_and_unique() -> None:
    assert assomem.__all__ == sorted(set(assomem.__all__))


@pytest.mark.parametrize("name", assomem.__all__)
def test_every_public_name_can_be_imported_and_keeps_its_name(name: str) -> None:
    found = getattr(assomem, name)
    assert found.__name__ == name
    assert found.__module__.split(".")[0] == "assomem"
    assert found.__doc__
    assert name in dir(assomem)


def test_a_star_import_gives_every_public_name() -> None:
    given: dict[str, object] = {}
    exec("from assomem import *", given)
    assert set(assomem.__all__) <= set(given)


def test_an_unknown_name_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="module 'assomem' has no attribute 'Memori'"):
        assomem.__getattr__("Memori")
    with pytest.raises(ImportError, match="Memori"):
        exec("from assomem import Memori", {})
