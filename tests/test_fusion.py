"""Fusion: a score is a sum that can be read, and weights are a file that is checked."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from assomem.candidates import MemoryState
from assomem.errors import SettingsError
from assomem.fusion import SIGNALS, Preset, ReadingWeights, fuse, mixed, weights_for
from assomem.signals.relevance import scaled

KINDS = ("people, dated", "people, undated", "assistant, dated", "assistant, undated")

RELEVANCE = {
    "late interaction", "late context", "late clue", "cosine", "context", "words", "window", "session", "pairs",
    "speaker",
    "names speaker", "role", "length", "first person", "reports", "opening", "reply", "time word",
}  # fmt: skip

Readings = dict[str, NDArray[np.float64]]


def array(*values: float) -> NDArray[np.float64]:
    return np.array(values, np.float64)


@st.composite
def fusions(draw: st.DrawFn) -> tuple[Readings, dict[str, dict[str, float]]]:
    """Readings of a few candidates, and weights of which some are 0 and some are of readings that are not there."""
    count = draw(st.integers(1, 5))
    numbers = st.lists(st.floats(0, 1), min_size=count, max_size=count)
    weights = {
        signal: {f"{signal} {n}": draw(st.sampled_from([0.0, 0.01, 0.3, 2.0])) for n in range(draw(st.integers(0, 3)))}
        for signal in SIGNALS
    }
    weights["relevance"]["cosine"] = draw(st.floats(0.01, 1))
    readings = {"cosine": np.array(draw(numbers)), "without weight": np.array(draw(numbers))}
    for shares in weights.values():
        for name in shares:
            if name != "cosine" and draw(st.booleans()):
                readings[name] = np.array(draw(numbers))
    return readings, weights


@given(fusions())
def test_contributions_add_up_to_the_score_and_so_do_signals_times_weights(
    drawn: tuple[Readings, dict[str, dict[str, float]]],
) -> None:
    fused = fuse(*drawn)
    assert sum(fused.signal_weights.values()) == pytest.approx(1)
    for index, score in enumerate(fused.scores.tolist()):
        assert 0 <= score <= 1 + 1e-12
        parts = fused.contributions(index)
        assert sum(part.adds for part in parts) == pytest.approx(score, abs=1e-12)
        assert all(part.adds == part.value * part.weight for part in parts)
        assert [part.adds for part in parts] == sorted((part.adds for part in parts), reverse=True)
        signals = fused.signals(index)
        assert set(signals) == set(SIGNALS)
        assert all(0 <= value <= 1 + 1e-12 for value in signals.values())
        added = sum(fused.signal_weights[signal] * value for signal, value in signals.items())
        assert added == pytest.approx(score, abs=1e-12)


@given(fusions())
def test_the_weight_of_a_reading_that_is_not_there_is_shared_out_in_proportion(
    drawn: tuple[Readings, dict[str, dict[str, float]]],
) -> None:
    readings, weights = drawn
    fused = fuse(readings, weights)
    there = {name: weight for shares in weights.values() for name, weight in shares.items() if name in readings}
    kept = {name: weight for shares in fused.weights.values() for name, weight in shares.items()}
    assert kept == pytest.approx({name: weight / sum(there.values()) for name, weight in there.items()})
    assert "without weight" not in kept


def test_scores_of_two_candidates_by_hand() -> None:
    weights = {"relevance": {"cosine": 0.3, "words": 0.1}, "importance": {"walk": 0.4}, "temporal": {"said": 0.2}}
    readings = {"cosine": array(1, 0.5), "words": array(0, 1), "said": array(1, 0)}
    fused = fuse(readings, weights)  # without the walk 0.6 is left
    np.testing.assert_allclose(fused.scores, [(0.3 + 0.2) / 0.6, (0.15 + 0.1) / 0.6])
    assert fused.signal_weights == pytest.approx({"relevance": 4 / 6, "importance": 0, "temporal": 2 / 6})
    assert fused.signals(0) == pytest.approx({"relevance": 0.75, "importance": 0, "temporal": 1})
    assert [part.reading for part in fused.contributions(0)] == ["cosine", "said", "words"]
    first = fused.contributions(0)[0]
    assert (first.signal, first.reading, first.value) == ("relevance", "cosine", 1)
    assert (first.weight, first.adds) == pytest.approx((0.5, 0.5))


def test_without_candidates_there_are_no_scores() -> None:
    weights = {"relevance": {"cosine": 1.0}, "importance": {}, "temporal": {}}
    assert fuse({"cosine": array()}, weights).scores.tolist() == []


def test_where_no_reading_there_has_a_weight_every_score_is_zero() -> None:
    # The first pass of a weights file that knows late interaction alone.
    weights = {"relevance": {"late interaction": 1.0}, "importance": {}, "temporal": {}}
    assert fuse({"cosine": array(0.2, 0.9)}, weights).scores.tolist() == [0, 0]


def test_the_papers_preset_by_hand() -> None:
    weights = weights_for("paper", "people, dated", None)
    readings = {
        "cosine": scaled(array(0.80, 0.60, 0.70)),  # 1, 0, 1/2
        "pagerank": scaled(array(0.01, 0.05, 0.04)),  # 0, 1, 3/4
        "interval": scaled(array(0.0, 0.2, 0.8)),  # 0, 1/4, 1
    }
    fused = fuse(readings, weights)
    np.testing.assert_allclose(fused.scores, [1 / 3, 1.25 / 3, 2.25 / 3], atol=2e-4)
    assert fused.signals(2) == pytest.approx({"relevance": 0.5, "importance": 0.75, "temporal": 1})
    assert fused.signal_weights == pytest.approx(dict.fromkeys(SIGNALS, 1 / 3), abs=1e-3)


# -- the shipped weights


def shipped(preset: Preset, kind: str) -> ReadingWeights:
    return weights_for(preset, kind, None)


@pytest.mark.parametrize("kind", KINDS)
def test_the_shipped_weights_of_a_kind_sum_to_one_over_the_readings_that_are_made(kind: str) -> None:
    weights = shipped("default", kind)
    assert {signal: set(weights[signal]) for signal in SIGNALS} == {
        "relevance": RELEVANCE,
        "importance": {"clue walk"},
        "temporal": {"said", "meant"},
    }
    values = [weight for shares in weights.values() for weight in shares.values()]
    assert sum(values) == pytest.approx(1)
    assert min(values) > 0


@pytest.mark.parametrize("kind", [*KINDS, "of some other kind"])
def test_the_papers_weights_know_no_kinds(kind: str) -> None:
    weights = shipped("paper", kind)
    assert {signal: set(weights[signal]) for signal in SIGNALS} == {
        "relevance": {"cosine"},
        "importance": {"pagerank"},
        "temporal": {"interval"},
    }
    assert sum(weight for shares in weights.values() for weight in shares.values()) == pytest.approx(1)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_every_kind_of_memory_has_shipped_weights(utterances: int, dated: int, assistant: int) -> None:
    state = MemoryState("m", "key", 1, 384, utterances, min(dated, utterances), min(assistant, utterances))
    assert set(state.kinds) <= set(KINDS)
    assert sum(state.kinds.values()) == pytest.approx(1)
    weights = mixed(state.kinds, lambda kind: shipped("default", kind))
    assert sum(weight for shares in weights.values() for weight in shares.values()) == pytest.approx(1)


def test_a_mixed_memory_gets_each_kinds_weights_by_its_share() -> None:
    of = {
        "people, dated": {"relevance": {"cosine": 0.5}, "importance": {}, "temporal": {"said": 0.5}},
        "assistant, dated": {"relevance": {"cosine": 0.2, "role": 0.8}, "importance": {}, "temporal": {}},
    }
    weights = mixed({"people, dated": 0.25, "assistant, dated": 0.75}, lambda kind: cast(ReadingWeights, of[kind]))
    assert weights["relevance"] == pytest.approx({"cosine": 0.275, "role": 0.6})
    assert weights["temporal"] == pytest.approx({"said": 0.125})


# -- a weights file of one's own


def written(folder: Path, content: object) -> Path:
    file = folder / "weights.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return file


def of_form(relevance: object, **others: object) -> dict[str, Any]:
    signals = {"relevance": relevance, "importance": {"clue walk": 1}, "temporal": {"said": 1}} | others
    return {"default": {"people, dated": signals}, "paper": signals}


def test_a_file_of_weights_is_used_and_scaled_to_sum_one(tmp_path: Path) -> None:
    file = written(tmp_path, of_form({"cosine": 5, "words": 1}))
    weights: Mapping[str, Mapping[str, float]] = weights_for("default", "people, dated", file)
    assert weights["relevance"] == pytest.approx({"cosine": 5 / 8, "words": 1 / 8})
    assert weights["temporal"] == pytest.approx({"said": 1 / 8})


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{not JSON", "is not JSON"),
        ("", "is not JSON"),
        ([], "must be an object"),
        ({"default": {}}, "'default' and 'paper'"),
        ({"default": [], "paper": {}}, "'default' and 'paper'"),
        ({"default": {}, "paper": {}}, "no weights for memories of kind 'people, dated'"),
        ({"default": {"people, dated": 5}, "paper": {}}, "no weights for memories of kind 'people, dated'"),
        ({"default": {"people, dated": {"relevance": {"cosine": 1}}}, "paper": {}}, "relevance, importance, temporal"),
        (of_form({"cosine": 1}, other={}), "exactly the signals relevance, importance, temporal"),
        (of_form({"cosin": 1}), "there is no reading 'cosin'"),
        (of_form(0.5), "each an object of readings"),
        (of_form({"cosine": -0.1}), "a number, 0 or more"),
        (of_form({"cosine": "1"}), "a number, 0 or more"),
        (of_form({"cosine": None}), "a number, 0 or more"),
        (of_form({"cosine": float("nan")}), "a number, 0 or more"),
        (of_form({"cosine": float("inf")}), "a number, 0 or more"),
        (of_form({"cosine": 0}, importance={}, temporal={"said": 0}), "at least one weight must be above 0"),
    ],
)
def test_a_wrong_file_is_refused_with_the_reason_and_the_way_out(tmp_path: Path, content: object, says: str) -> None:
    file = written(tmp_path, content)
    with pytest.raises(SettingsError) as caught:
        weights_for("default", "people, dated", file)
    for part in (says, str(file), "weights.json shows the form"):
        assert part in str(caught.value)


def test_a_missing_file_a_folder_and_bytes_that_are_no_text_are_refused_by_name(tmp_path: Path) -> None:
    noise = tmp_path / "noise.json"
    noise.write_bytes(b"\xff\xfe\x00")
    wrong = [(tmp_path / "none.json", "cannot be read"), (tmp_path, "cannot be read"), (noise, "is not JSON")]
    for file, says in wrong:
        with pytest.raises(SettingsError, match=says) as caught:
            weights_for("paper", "people, dated", file)
        assert str(file) in str(caught.value)
        assert "weights.json shows the form" in str(caught.value)
