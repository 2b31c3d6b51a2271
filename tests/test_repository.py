"""What the repository must not hold."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = subprocess.run(
    ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
    cwd=ROOT, capture_output=True, text=True, check=True,
).stdout.splitlines()  # fmt: skip
TEXTS = [name for name in FILES if (ROOT / name).is_file() and not name.endswith((".png", ".npz"))]


def test_every_link_in_the_documentation_leads_somewhere() -> None:
    lost: list[str] = []
    for name in TEXTS:
        if name.endswith(".md"):
            for target in re.findall(r"\]\(([^)#]+)[^)]*\)", (ROOT / name).read_text(encoding="utf-8")):
                if "://" not in target and not (ROOT / name).parent.joinpath(target).exists():
                    lost.append(f"{name}: {target}")
    assert not lost


@pytest.mark.parametrize("name", [name for name in TEXTS if name.startswith("assomem/") and name.endswith(".py")])
def test_no_cypher_is_written_in_python(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert not re.search(r"\b(MATCH|MERGE|UNWIND) ?\(", text)


def test_no_module_is_called_utils_or_helpers_or_manager() -> None:
    assert not [name for name in TEXTS if re.search(r"(utils?|helpers?|managers?)\.py$", name)]
