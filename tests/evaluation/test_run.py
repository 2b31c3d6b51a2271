"""A whole run on two small memories in the test server."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assomem import AssoMem, Settings
from assomem.errors import InputError, ModelError
from assomem.evaluation.datasets import LabelledSet, read_sets
from assomem.evaluation.run import Plan, evaluate, planned_steps
from assomem.models.doubles import HashingEmbedder
from assomem.models.embedder import QuestionEmbedding

ALL = (
    "default", "paper", "flat", "bm25", "hybrid", "session-utterance", "topic-grouping", "lst", "knowledge-graph",
)  # fmt: skip
KEYS = {
    "questions", "recall@6", "recall@10", "recall_all@6", "recall_all@10", "hit@6", "hit@10", "ndcg@6", "ndcg@10",
    "mrr", "ci95", "milliseconds_p50",
}  # fmt: skip


@pytest.fixture
def sets(talks: Path) -> list[LabelledSet]:
    return read_sets([talks])


@pytest.fixture
def nothing_left(memory: AssoMem) -> Iterator[None]:
    """No temporary memory is there afterwards."""
    yield
    assert not [row["memory"] for row in memory.memories() if re.match(r"evaluation \w+ (band|garden)", row["memory"])]


class Counting(HashingEmbedder):
    """Counts the questions it embeds, and can fail on one."""

    def __init__(self, fails_on: str = "") -> None:
        super().__init__()
        self.asked: list[str] = []
        self.fails_on = fails_on

    def embed_question(self, text: str) -> QuestionEmbedding:
        self.asked.append(text)
        if text == self.fails_on:
            raise ModelError("the model failed on purpose")
        return super().embed_question(text)


@pytest.mark.usefixtures("nothing_left")
def test_every_method_and_ablation_gives_the_fields_of_the_contract(sets: list[LabelledSet], apart: Settings) -> None:
    plan = Plan(methods=ALL, ablations=("temporal", "importance", "weights", "clues"))
    done: list[int] = []
    found = evaluate(sets, plan, apart, embedder=HashingEmbedder(), progress=done.append).as_json()
    assert sum(done) == planned_steps(sets, plan)
    assert list(found["data"]) == ["talks", "band", "garden"]
    ablations = ["default-temporal", "default-importance", "default-weights", "default-clues"]
    for name, count in (("talks", 7), ("band", 3), ("garden", 4)):
        assert list(found["data"][name]) == [*ALL, *ablations]
        for one in found["data"][name].values():
            assert set(one) == KEYS | {"by_type", "set_aside", "failed"}
            assert one["questions"] == count
            assert one["failed"] == {}
            assert sum(kind["questions"] for kind in one["by_type"].values()) == count
            for kind in one["by_type"].values():
                assert set(kind) == KEYS
            for measure, (low, high) in one["ci95"].items():
                assert 0 <= low <= one[measure] <= high <= 1
    assert found["data"]["garden"]["default"]["set_aside"] == {"adversarial": 1, "abstention": 1, "no_evidence": 1}
    # Half of the third question's evidence is nowhere: it is missed.
    assert found["data"]["band"]["flat"]["by_type"]["number"]["recall@10"] == 0.5
    assert set(found["comparisons"]["talks"]) == {*ALL[1:], *ablations}
    for compared in found["comparisons"]["talks"].values():
        assert sum(kind["questions"] for kind in compared["by_type"].values()) == 7
        for kind in (compared, *compared["by_type"].values()):
            assert kind["recall@10"]["low"] <= kind["recall@10"]["difference"] <= kind["recall@10"]["high"]
    assert found["settings"]["data"]["talks"] == {"memories": 2, "utterances": 20, "corrected_questions": 1}
    json.dumps(found, allow_nan=False)


@pytest.mark.usefixtures("nothing_left")
def test_the_default_is_what_a_search_of_the_same_memory_finds(
    sets: list[LabelledSet], apart: Settings, memory: AssoMem
) -> None:
    result = evaluate(sets, Plan(methods=("default",)), apart, embedder=HashingEmbedder())
    band = sets[0].memories[0]
    memory.remember(band.sessions)
    for question in band.asked:
        ranking = result.outcomes["default"][band.digest][question.query_id].ranking
        evidence = memory.search(question.text, asked_at=question.asked_at, k=10).evidence
        assert ranking == tuple(one.utterance_id for one in evidence)
        (features,) = [
            one for one in result.features["talks"] if (one.group, one.query_id) == (band.digest, question.query_id)
        ]
        assert set(features.utterance_ids) >= set(ranking)
    memory.forget(everything=True)


def test_a_second_run_asks_nothing_again(sets: list[LabelledSet], apart: Settings) -> None:
    plan = Plan(methods=("default", "flat"), ablations=("weights",))
    first = evaluate(sets, plan, apart, embedder=HashingEmbedder()).as_json()
    embedder = Counting()
    # The double's fingerprint is that of its base: it gives the same vectors.
    done: list[int] = []
    second = evaluate(sets, plan, apart, embedder=embedder, progress=done.append).as_json()
    assert embedder.asked == []
    assert second == first
    assert sum(done) == planned_steps(sets, plan)


@pytest.mark.usefixtures("nothing_left")
def test_a_run_that_was_cut_short_goes_on(sets: list[LabelledSet], apart: Settings) -> None:
    plan = Plan(methods=("default", "flat"))

    def cut(done: int) -> Callable[[int], None]:
        left = done

        def progress(steps: int) -> None:
            nonlocal left
            left -= steps == 1
            if left < 0:
                raise KeyboardInterrupt

        return progress

    with pytest.raises(KeyboardInterrupt):
        evaluate(sets, plan, apart, embedder=HashingEmbedder(), progress=cut(2))
    embedder = Counting()
    found = evaluate(sets, plan, apart, embedder=embedder).as_json()
    assert found["data"]["talks"]["default"]["questions"] == 7
    # Of the three of `band` two were kept with their readings; `flat` still asks all of them.
    whole = evaluate(sets, plan, apart.model_copy(update={"cache": apart.cache / "fresh"}), embedder=HashingEmbedder())
    assert without_times(found["data"]) == without_times(whole.as_json()["data"])


def without_times(data: Any) -> str:
    return re.sub(r'"milliseconds_p50": [\d.]+', "", json.dumps(data))


@pytest.mark.usefixtures("nothing_left")
def test_a_failed_question_counts_nothing_is_listed_and_tried_again(sets: list[LabelledSet], apart: Settings) -> None:
    plan = Plan(methods=("default", "flat", "bm25"))
    found = evaluate(sets, plan, apart, embedder=Counting(fails_on="Who repairs strings?")).as_json()
    one = found["data"]["band"]["default"]
    assert one["failed"] == {"q1": "ModelError: the model failed on purpose"}
    assert one["questions"] == 3
    assert one["by_type"]["person"]["recall@10"] == 0
    assert one["by_type"]["place"]["recall@10"] == 1
    again = evaluate(sets, plan, apart, embedder=HashingEmbedder()).as_json()
    assert again["data"]["band"]["default"]["failed"] == {}
    assert again["data"]["band"]["default"]["by_type"]["person"]["recall@10"] == 1


def test_baselines_alone_need_no_database(sets: list[LabelledSet], apart: Settings) -> None:
    nowhere = apart.model_copy(update={"neo4j_uri": "bolt://127.0.0.1:1"})
    found = evaluate(sets, Plan(methods=("flat", "bm25")), nowhere, embedder=HashingEmbedder()).as_json()
    assert found["data"]["talks"]["flat"]["recall@10"] > 0.5


def test_nothing_said_after_the_day_of_the_question_is_found_by_any_method(
    sets: list[LabelledSet], apart: Settings
) -> None:
    band = sets[0].memories[0]
    first = band.sessions[0].utterances[0].said_at
    assert first is not None
    early = replace(band, questions=tuple(replace(one, asked_at=first) for one in band.questions), digest="early")
    result = evaluate([LabelledSet("early", (early,), False)], Plan(methods=ALL), apart, embedder=HashingEmbedder())
    for method in ALL:
        for outcome in result.outcomes[method]["early"].values():
            assert not [one for one in outcome.ranking if one.startswith("b2")], method


def test_weights_are_learnt_from_other_memories_or_other_sets(
    sets: list[LabelledSet], talks: Path, apart: Settings
) -> None:
    across = evaluate(sets, Plan(methods=("default",), weights="cross-validated"), apart, embedder=HashingEmbedder())
    assert across.as_json()["data"]["talks"]["default"]["questions"] == 7
    two = read_sets([talks / "garden", talks / "band"])
    of_others = Plan(methods=("default",), ablations=("importance",), weights="others")
    found = evaluate(two, of_others, apart, embedder=HashingEmbedder()).as_json()
    assert list(found["data"]) == ["garden", "band"]
    with pytest.raises(InputError, match="another set"):
        evaluate(two[:1], of_others, apart, embedder=HashingEmbedder())


def test_a_weights_file_is_used_by_the_search(sets: list[LabelledSet], apart: Settings, tmp_path: Path) -> None:
    words = {"relevance": {"words": 1.0}, "importance": {}, "temporal": {}}
    file = tmp_path / "weights.json"
    file.write_text(json.dumps({"default": {"people, dated": words}, "paper": words}))
    result = evaluate(sets, Plan(methods=("default", "bm25"), weights=str(file)), apart, embedder=HashingEmbedder())
    for by_memory in ("default", "bm25"):
        assert result.outcomes[by_memory]
    for memory in sets[0].memories:
        for question in memory.asked:
            by_words = result.outcomes["bm25"][memory.digest][question.query_id].ranking
            assert result.outcomes["default"][memory.digest][question.query_id].ranking[: len(by_words)] == by_words


@pytest.mark.parametrize(
    ("plan", "says"),
    [
        (Plan(methods=("best",)), "methods: there is none called 'best'; there are default, paper, flat"),
        (Plan(methods=("rerank:",)), "there is none called 'rerank:'"),
        (Plan(methods=("flat", "flat")), "flat is named twice"),
        (Plan(methods=()), "name at least one"),
        (Plan(ablations=("graph",)), "there are temporal, importance, weights, clues"),
        (Plan(methods=("flat",), ablations=("clues",)), "name it among the methods"),
        (Plan(weights="missing.json"), "weights: 'missing.json' is no file"),
        (Plan(ks=(0, 10)), "k: must be 1 to 600"),
        (Plan(limit=0), "limit: must be 1 or more"),
    ],
)
def test_a_plan_that_cannot_be_carried_out_is_refused(plan: Plan, says: str) -> None:
    with pytest.raises(InputError, match=re.escape(says)):
        plan.checked()


def test_a_reranker_without_its_model_is_left_out_with_a_reason(sets: list[LabelledSet], apart: Settings) -> None:
    plan = Plan(methods=("flat", "rerank:no/such-model"))
    notes: list[str] = []
    found = evaluate(sets, plan, apart, embedder=HashingEmbedder(), note=notes.append).as_json()
    assert list(found["skipped"]) == ["rerank:no/such-model"]
    assert "sentence-transformers" in found["skipped"]["rerank:no/such-model"] or "not at hand" in notes[0]
    assert list(found["data"]["talks"]) == ["flat"]
    with pytest.raises(InputError, match="none of them can be measured"):
        evaluate(sets, replace(plan, methods=plan.methods[1:]), apart, embedder=HashingEmbedder())
