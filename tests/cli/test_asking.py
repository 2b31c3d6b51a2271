"""search, ask and explain on the sample."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]

QUESTION = "Who repaired Oskar's bicycle in August?"
ASKED_AT = "2025-11-20T18:00:00+00:00"

SEARCH = {
    "memory", "question", "asked_at", "question_type", "intervals", "weights", "evidence", "degraded", "milliseconds",
}  # fmt: skip
EVIDENCE = {
    "rank", "uid", "utterance_id", "session_id", "speaker", "said_at", "text", "score", "signals", "clues",
}  # fmt: skip
SIGNALS = {"relevance", "importance", "temporal"}


def asked(run: Run, command: str, *arguments: str, question: str = QUESTION) -> Any:
    done = run(command, question, "--asked-at", ASKED_AT, "--json", *arguments)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_search_gives_the_fields_of_the_contract(run: Run, sample: str) -> None:
    result = asked(run, "search", "--memory", sample, "--k", "3")
    assert set(result) == SEARCH
    assert (result["memory"], result["question"], result["asked_at"]) == (sample, QUESTION, ASKED_AT)
    assert sum(result["question_type"].values()) == pytest.approx(1)
    assert result["intervals"] == [
        {"from": "2025-08-01T00:00:00+00:00", "to": "2025-09-01T00:00:00+00:00", "text": "August"}
    ] or {"from", "to", "text"} == set(result["intervals"][0])
    assert set(result["weights"]) == SIGNALS
    assert "total" in result["milliseconds"]
    assert [piece["rank"] for piece in result["evidence"]] == [1, 2, 3]
    for piece in result["evidence"]:
        assert set(piece) == EVIDENCE
        parts = [result["weights"][signal] * piece["signals"][signal] for signal in SIGNALS]
        assert sum(parts) == pytest.approx(piece["score"], abs=1e-4)
    assert result["evidence"][0]["utterance_id"] == "s08:4"


def test_ask_adds_the_answer_and_what_it_cites(run: Run, sample: str) -> None:
    result = asked(run, "ask", "--memory", sample)
    assert set(result) == SEARCH | {"answer", "citations", "abstained", "usage"}
    assert "Hettie Sloane" in result["answer"]
    assert result["abstained"] is False
    assert all(set(citation) == {"marker", "utterance_id"} for citation in result["citations"])
    assert "s08:4" in {citation["utterance_id"] for citation in result["citations"]}


def test_ask_shows_a_person_the_answer_its_citations_and_the_signals(run: Run, sample: str) -> None:
    done = run("ask", QUESTION, "--asked-at", ASKED_AT, "--memory", sample)
    assert done.returncode == 0
    for part in (
        "Hettie Sloane",
        "[1] Oskar, 2025-08-24",
        "(s08:4)",
        "temporal",
        "weights:",
        "2025-08-01 to 2025-09-01",
    ):
        assert part in done.stdout


@pytest.mark.parametrize("columns", ["40", "90", "200"])
def test_evidence_is_shown_on_a_terminal_of_any_width(run: Run, sample: str, columns: str) -> None:
    done = run("search", QUESTION, "--memory", sample, "--k", "2", env={"COLUMNS": columns})
    assert done.returncode == 0
    table = done.stdout[: done.stdout.index("weights:")]
    assert max(len(line) for line in table.splitlines()) <= int(columns) + 10
    assert "Oskar" in table


def test_what_was_said_outside_a_filter_is_not_found(run: Run, sample: str) -> None:
    only = asked(
        run, "search", "--memory", sample, "--speaker", "nadia", "--after", "2025-03-01T00:00:00Z",
        "--before", "2025-06-01T00:00:00Z",
    )  # fmt: skip
    assert only["evidence"]
    for piece in only["evidence"]:
        assert piece["speaker"] == "Nadia"
        assert "2025-03-01" <= piece["said_at"] < "2025-06-01"
    session = asked(run, "search", "--memory", sample, "--session", "s01")
    assert {piece["session_id"] for piece in session["evidence"]} == {"s01"}


def test_a_moment_without_a_zone_is_refused_until_a_zone_is_set(run: Run, sample: str) -> None:
    for option in ("--asked-at", "--after", "--before"):
        refused = run("search", QUESTION, "--memory", sample, option, "2025-11-20")
        assert refused.returncode == 1
        assert option in refused.stderr
        assert "ASSOMEM_TIMEZONE" in refused.stderr
    done = run(
        "search",
        QUESTION,
        "--memory",
        sample,
        "--asked-at",
        "2025-11-20",
        "--json",
        env={"ASSOMEM_TIMEZONE": "Asia/Tokyo"},
    )
    assert json.loads(done.stdout)["asked_at"] == "2025-11-20T00:00:00+09:00"


def test_the_paper_s_ranking_and_other_weights_are_options(run: Run, sample: str, tmp_path: Path) -> None:
    weights = json.loads((Path(__file__).parents[2] / "assomem" / "weights.json").read_text(encoding="utf-8"))
    weights["paper"] = {"relevance": {"cosine": 1}, "importance": {"pagerank": 0}, "temporal": {"interval": 0}}
    file = tmp_path / "weights.json"
    file.write_text(json.dumps(weights), encoding="utf-8")
    result = asked(run, "search", "--memory", sample, "--preset", "paper", "--weights", str(file))
    assert result["weights"] == {"relevance": 1, "importance": 0, "temporal": 0}


def test_explain_gives_contributions_that_add_up_to_the_score(run: Run, sample: str) -> None:
    every = asked(run, "explain", "--memory", sample, "--k", "4")
    assert [one["rank"] for one in every] == [1, 2, 3, 4]
    one = asked(run, "explain", "--memory", sample, "--utterance", "s01:1")
    assert one["utterance_id"] == "s01:1"
    for explained in (*every, one):
        assert set(explained) == {"question", "utterance_id", "rank", "score", "contributions", "lost_at", "says"}
        assert {frozenset(part) for part in explained["contributions"]} == {
            frozenset({"signal", "reading", "value", "weight", "adds"})
        }
        assert sum(part["adds"] for part in explained["contributions"]) == pytest.approx(explained["score"], abs=1e-4)


def test_explain_shows_a_person_every_reading(run: Run, sample: str) -> None:
    done = run("explain", QUESTION, "--memory", sample, "--k", "1")
    assert done.returncode == 0
    assert "s08:4: rank 1" in done.stdout
    assert "late interaction" in done.stdout


def test_what_is_not_in_memory_is_not_answered(run: Run, sample: str) -> None:
    result = asked(run, "ask", "--memory", sample, question="Which galaxy does the zookeeper's submarine orbit?")
    assert result["abstained"] is True
