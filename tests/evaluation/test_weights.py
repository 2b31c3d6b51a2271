"""Weights are learnt from other questions only, and ablations take one part away."""

from dataclasses import replace

import numpy as np
import pytest

from assomem.errors import InputError
from assomem.evaluation.ablations import ABLATIONS, ablated
from assomem.evaluation.features import QuestionFeatures
from assomem.evaluation.weights import cross_validated, known_weights, learnt_for, of_others
from assomem.fusion import ReadingWeights

NAMES = ("words", "cosine", "clue walk", "said")


def question(query_id: str, group: str, telling: str, kind: str = "people, dated") -> QuestionFeatures:
    """A question whose evidence is told by one reading; the others are noise."""
    random = np.random.default_rng(abs(hash_of(query_id + group)))
    readings = random.random((30, len(NAMES))).astype(np.float32)
    readings[0, NAMES.index(telling)] = 1.0
    readings[1:, NAMES.index(telling)] *= 0.5
    return QuestionFeatures(
        query_id=query_id,
        query_type="any",
        types={},
        kinds={kind: 1.0},
        group=group,
        utterance_ids=tuple(f"u{number}" for number in range(30)),
        found_by=("text", "clue", "time", *["text,vector"] * 27),
        reading_names=NAMES,
        readings=readings,
        relevant=np.arange(30) == 0,
        evidence_count=1,
    )


def hash_of(text: str) -> int:
    return sum(ord(character) * 31**place for place, character in enumerate(text)) % 2**32


def strongest(weights: ReadingWeights) -> str:
    flat = {name: weight for shares in weights.values() for name, weight in shares.items()}
    return max(flat, key=lambda name: flat[name])


def test_a_memory_is_ranked_with_what_the_other_memories_teach() -> None:
    first = [question(f"q{n}", "one", "words") for n in range(20)]
    second = [question(f"q{n}", "two", "said") for n in range(20)]
    weights_of = cross_validated([*first, *second])
    assert strongest(weights_of(first[0])) == "said"
    assert strongest(weights_of(second[0])) == "words"


def test_questions_of_a_single_memory_are_learnt_from_in_folds() -> None:
    questions = [question(f"q{n}", "one", "cosine") for n in range(20)]
    odd = replace(question("odd", "one", "said"), readings=questions[0].readings)
    weights_of = cross_validated([*questions, odd])
    assert strongest(weights_of(questions[0])) == "cosine"
    assert len({id(weights_of(one)) for one in questions}) <= 5
    with pytest.raises(InputError, match="at least two folds"):
        cross_validated(questions[:1])


def test_other_sets_teach_what_they_know() -> None:
    others = [question(f"q{n}", "one", "words") for n in range(20)]
    assert strongest(of_others(others)(question("q", "two", "said"))) == "words"
    with pytest.raises(InputError, match="another set"):
        of_others([])


def test_a_kind_that_was_not_seen_gets_weights_nearer_to_equal() -> None:
    others = [question(f"q{n}", "one", "words") for n in range(20)]
    seen, unseen = learnt_for("people, dated", others), learnt_for("assistant, dated", others)
    assert seen["relevance"]["words"] > unseen["relevance"]["words"] > 0.25
    mixed = [*others, *(question(f"q{n}", "two", "said", "assistant, dated") for n in range(20))]
    assert strongest(learnt_for("assistant, dated", mixed)) == "said"


def test_questions_with_fewer_readings_or_without_evidence_among_the_candidates_teach_nothing() -> None:
    others = [question(f"q{n}", "one", "words") for n in range(5)]
    blind = replace(others[0], relevant=np.zeros(30, bool))
    short = others[0].without(["said"], [])
    assert learnt_for("people, dated", [*others, blind, short]) == learnt_for("people, dated", others)
    with pytest.raises(InputError, match="nothing to learn from"):
        learnt_for("people, dated", [blind])


def test_the_shipped_weights_depend_on_the_kind_alone() -> None:
    weights_of = known_weights(None)
    one = question("q", "one", "words")
    assert weights_of(one) == weights_of(replace(one, query_id="other"))
    assert weights_of(one) != weights_of(replace(one, kinds={"people, undated": 1.0}))


def test_an_ablation_ranks_without_one_part() -> None:
    one = question("q", "one", "words")
    weights = {
        "relevance": {"words": 0.2, "cosine": 0.1}, "importance": {"clue walk": 0.4}, "temporal": {"said": 0.3},
    }  # fmt: skip
    ranked = {part: ablated(part, lambda _: weights)(one, 30) for part in ABLATIONS}
    columns = {name: one.readings[:, place].astype(float) for place, name in enumerate(NAMES)}

    def order(shares: dict[str, float], left_out: int | None = None) -> tuple[str, ...]:
        scores = sum(weight * columns[name] for name, weight in shares.items())
        best = [int(place) for place in np.argsort(-np.asarray(scores), kind="stable")]
        return tuple(f"u{place}" for place in best if place != left_out)

    assert ranked["temporal"] == order({"words": 0.2, "cosine": 0.1, "clue walk": 0.4}, left_out=2)
    assert ranked["importance"] == order({"words": 0.2, "cosine": 0.1, "said": 0.3})
    assert ranked["clues"] == order({"words": 0.2, "cosine": 0.1, "said": 0.3}, left_out=1)
    assert ranked["weights"] == order(dict.fromkeys(NAMES, 0.25))


def test_a_reading_that_some_questions_do_not_have_is_learnt_from_those_that_do() -> None:
    bare = [question(str(number), "one", "words") for number in range(6)]
    nothing = np.zeros((len(bare[0].utterance_ids), 1), np.float32)
    told = [
        replace(
            one,
            query_id=f"told {one.query_id}",
            reading_names=(*one.reading_names, "late clue"),
            readings=np.concatenate([one.readings, one.relevant[:, None].astype(np.float32)], axis=1),
        )
        for one in bare
    ]
    unknown = learnt_for("people, dated", bare)["relevance"]
    assert 0 < unknown["late clue"] < unknown["words"], "what says nothing anywhere keeps an equal share"
    assert learnt_for("people, dated", [*bare, *told])["relevance"]["late clue"] > unknown["late clue"]
    assert bare[0].filled(told[0].reading_names).readings[:, -1:].tolist() == nothing.tolist()
    assert told[0].filled(bare[0].reading_names).reading_names == bare[0].reading_names
