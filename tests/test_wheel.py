"""The wheel, built and installed somewhere else."""

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)],
        check=True,
        capture_output=True,
    )
    return next(folder.glob("*.whl"))


def test_wheel_holds_queries_prompts_weights_and_sample_and_nothing_downloaded(wheel: Path) -> None:
    inside = set(zipfile.ZipFile(wheel).namelist())
    queries = {str(path.relative_to(ROOT)) for path in (ROOT / "cypher").rglob("*.cypher")}
    assert {f"assomem/{name}" for name in queries} <= inside
    assert {
        "assomem/weights.json",
        "assomem/neo4j.lock",
        "assomem/sample/memory.jsonl",
        "assomem/sample/queries.jsonl",
        "assomem/evaluation/judge_items.jsonl",
        "assomem/prompts/answer.md",
        "assomem/py.typed",
    } <= inside
    assert not [name for name in inside if name.endswith((".jar", ".onnx")) or name.startswith(("tests/", "docs/"))]


def test_wheel_installed_elsewhere_finds_its_queries_and_answers(
    wheel: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    # The dependencies are this environment's; the package itself must be the installed wheel's.
    dependencies = next(path for path in sys.path if path.endswith("site-packages"))
    (next((tmp_path / "venv" / "lib").iterdir()) / "site-packages" / "dependencies.pth").write_text(dependencies)
    script = (
        "import assomem, pathlib\n"
        "assert 'venv' in assomem.__file__, assomem.__file__\n"
        "with assomem.AssoMem('wheel') as memory:\n"
        "    turn = assomem.Utterance('Mira', 'The spare key hangs behind the blue door.')\n"
        "    memory.remember([assomem.Session('s', [turn])])\n"
        "    print(memory.search('Where is the spare key?').evidence[0].utterance_id)\n"
        "    memory.forget(everything=True)\n"
    )
    done = subprocess.run(
        [str(python), "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "s:1\n"), done.stderr
