"""`assomem evaluate`: its JSON, its report, its exit codes."""

import json
import re
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_the_json_is_that_of_the_contract_and_the_report_shows_it(run: Run, talks: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    done = run(
        "evaluate", str(talks / "garden"), str(talks / "band"), "--methods", "default,flat,bm25",
        "--ablate", "temporal", "--clues", "ready", "--k", "3,10", "--density", "16", "--report", str(folder), "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: Any = json.loads(done.stdout)
    assert list(found["data"]) == ["garden", "band"]
    assert list(found["data"]["band"]) == ["default", "flat", "bm25", "default-temporal"]
    assert {"recall@3", "recall@10", "recall_all@10", "ndcg@10", "mrr", "by_type", "ci95", "questions",
            "milliseconds_p50"} <= set(found["data"]["band"]["default"])  # fmt: skip
    assert found["settings"]["k"] == [3, 10]
    assert found["settings"]["clues"] == "ready"
    assert "band: has no clues.jsonl" in done.stderr
    assert list(found["density"]["garden"]["near-duplicates"]) == ["12", "16"]
    assert json.loads((folder / "results.json").read_text(encoding="utf-8")) == found
    text = (folder / "report.md").read_text(encoding="utf-8")
    page = (folder / "report.html").read_text(encoding="utf-8")
    for method, one in found["data"]["band"].items():
        cell = f"{100 * one['recall@10']:.1f} ["
        assert re.search(rf"^\| {method} \| 3 \|.*{re.escape(cell)}", text, re.MULTILINE)
        assert f"<td>{method}</td>" in page
    assert "Not in these numbers: 1 adversarial, 1 abstention, 1 no evidence." in text
    # The page needs nothing from elsewhere.
    assert not re.search(r"<script|<link|<img|@import|url\(|https?://", page)
    plots = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(plots) == 2 + 4  # bars of two sets; curves of two sets grown in two ways
    for plot in plots:
        ET.fromstring(plot)


def test_a_table_for_people_and_no_memory_left(run: Run, talks: Path) -> None:
    done = run("evaluate", str(talks / "band"), "--methods", "default", "--limit", "2")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^\s*default\s+2\s", done.stdout, re.MULTILINE)
    assert "report.md" in done.stderr
    left = json.loads(run("memories", "--json").stdout)
    assert not [row for row in left if re.match(r"evaluation \w+ band", row["memory"])]


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (["--methods", "best"], 1, "there is none called 'best'"),
        (["--k", "six"], 2, "whole numbers"),
        (["--clues", "model"], 2, "model"),
        (["--distractors", "."], 2, "--density"),
        (["--weights", "nowhere.json"], 1, "is no file"),
        (["--density", "0"], 1, "1 or more"),
    ],
)
def test_wrong_use_is_named(run: Run, talks: Path, options: list[str], code: int, says: str) -> None:
    done = run("evaluate", str(talks / "band"), *options)
    assert (done.returncode, done.stdout) == (code, "")
    assert says in done.stderr


def test_delta_and_gamma_are_tried_one_at_a_time_and_shown(run: Run, talks: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    tried = ("--delta", "0.5,0.99", "--gamma", "0.8", "--report", str(folder))
    done = run("evaluate", str(talks / "band"), "--methods", "paper", "--limit", "2", *tried, "--json")
    assert done.returncode == 0, done.stderr
    points: Any = json.loads(done.stdout)["sensitivity"]
    assert [(point["delta"], point["gamma"]) for point in points] == [(0.5, 0.89), (0.99, 0.89), (0.96, 0.8)]
    assert all(point["data"]["band"]["paper"]["questions"] == 2 for point in points)
    assert "δ and γ, band" in (folder / "report.md").read_text(encoding="utf-8")
    wrong = run("evaluate", str(talks / "band"), "--methods", "flat", "--delta", "0.5")
    assert wrong.returncode == 1
    assert "name one of them" in wrong.stderr
    for value in ("1.5", "much", "nan", "", "-1"):
        assert run("evaluate", str(talks / "band"), "--delta", value).returncode == 2
    assert run("evaluate", str(talks / "band"), "--answers", "--judge", "").returncode == 2
