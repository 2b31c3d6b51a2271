"""`assomem fit`: a weights file that a search takes, and what it is worth on questions that were left out."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assomem.errors import InputError
from assomem.evaluation.features import QuestionFeatures
from assomem.evaluation.fit import KINDS, fit
from assomem.fusion import SIGNAL_OF, weights_for

Run = Callable[..., subprocess.CompletedProcess[str]]

NAMES = tuple(name for name in SIGNAL_OF if name not in {"pagerank", "interval"})


def questions(group: str, decisive: str, kind: str, seed: int) -> list[QuestionFeatures]:
    """Forty questions whose evidence one reading tells; the others are noise."""
    chance = np.random.default_rng(seed)
    found: list[QuestionFeatures] = []
    for number in range(40):
        readings = chance.random((30, len(NAMES))).astype(np.float32)
        relevant = np.zeros(30, bool)
        relevant[number % 30] = True
        readings[relevant, NAMES.index(decisive)] = 1.0
        readings[~relevant, NAMES.index(decisive)] *= 0.5
        found.append(
            QuestionFeatures(
                query_id=f"{group}{number}", query_type="any", types={}, kinds={kind: 1.0}, group=group,
                utterance_ids=tuple(f"u{at}" for at in range(30)), found_by=("text",) * 30, reading_names=NAMES,
                readings=readings, relevant=relevant, evidence_count=1,
            )
        )  # fmt: skip
    return found


@pytest.mark.parametrize("rule", ["listwise", "information"])
def test_each_kind_of_memory_gets_the_weights_its_questions_ask_for(rule: str) -> None:
    sets = {"one": questions("a", "words", "people, dated", 1), "two": questions("b", "said", "assistant, dated", 2)}
    found = fit(sets, rule)
    people, assistant = (found.weights["default"][kind] for kind in ("people, dated", "assistant, dated"))
    assert people["relevance"]["words"] > 3 * people["temporal"]["said"]
    assert assistant["temporal"]["said"] > 3 * assistant["relevance"]["words"]
    for kind in KINDS:
        weights = [one for shares in found.weights["default"][kind].values() for one in shares.values()]
        assert sum(weights) == pytest.approx(1, abs=0.002)
    assert "people, undated" in found.weights["provenance"]["default"]
    assert "80 labelled questions of one, two" in found.weights["provenance"]["default"]


def test_the_worth_is_measured_on_questions_that_were_left_out() -> None:
    mine = [*questions("a", "words", "people, dated", 1), *questions("b", "words", "people, dated", 3)]
    worth = fit({"one": mine}, "listwise").worth["one"]
    assert list(worth) == [
        "equal", "shipped", "listwise, cross-validated", "listwise, other sets", "information, cross-validated",
        "information, other sets",
    ]  # fmt: skip
    assert worth["listwise, other sets"] is None
    assert worth["listwise, cross-validated"] == 1.0
    assert (worth["equal"] or 0) < 1
    found = fit({"one": mine[:40]}, "listwise").candidates["one"]
    assert found == {"recall": 1.0, "mean": 30.0, "most": 30}
    # Where the other memory follows something else, it teaches nothing.
    apart = [*questions("a", "words", "people, dated", 1), *questions("b", "said", "people, dated", 3)]
    assert (fit({"one": apart}, "listwise").worth["one"]["listwise, cross-validated"] or 0) < 0.9


def test_without_evidence_among_the_candidates_nothing_is_learnt() -> None:
    blind = questions("a", "words", "people, dated", 1)
    for one in blind:
        one.relevant[:] = False
    with pytest.raises(InputError, match="nothing to learn from"):
        fit({"one": blind}, "listwise")


def test_the_command_writes_a_file_that_a_search_takes(run: Run, talks: Path, tmp_path: Path) -> None:
    file = tmp_path / "made" / "weights.json"
    done = run("fit", str(talks / "garden"), str(talks / "band"), "--out", str(file), "--json")
    assert done.returncode == 0, done.stderr
    found: Any = json.loads(done.stdout)
    assert found["file"] == str(file)
    assert set(found["recall@10"]) == set(found["candidates"]) == {"garden", "band"}
    weights = weights_for("default", "people, dated", file)
    assert sum(one for shares in weights.values() for one in shares.values()) == pytest.approx(1, abs=0.002)
    shown = run("fit", str(talks / "band"), "--out", str(file), "--rule", "information")
    assert shown.returncode == 0, shown.stderr
    assert "information, cross-validated" in shown.stdout
    assert "band" in shown.stdout
    assert str(file) in shown.stderr.replace("\n", "")


def test_a_place_to_write_to_must_be_given(run: Run, talks: Path) -> None:
    done = run("fit", str(talks / "band"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "--out" in done.stderr
