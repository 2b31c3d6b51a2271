"""Weights from one's own labelled questions: a weights file, and what it is worth on questions it was not learnt from.

Questions are ranked once; their readings then serve every rule. A set of several memories is cross-validated by
memory, a set of one by a fifth of its questions.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assomem.errors import InputError
from assomem.evaluation.features import QuestionFeatures
from assomem.evaluation.weights import (
    RULES,
    WeightsOf,
    cross_validated,
    equal_weights,
    known_weights,
    learnt_for,
    of_others,
    outside,
)
from assomem.fusion import SIGNALS, weights_for

KINDS = ("people, dated", "people, undated", "assistant, dated", "assistant, undated")
"""The kinds of memory that a weights file has weights for."""

PLACES = 10
"""Recall is measured over so many."""


@dataclass(frozen=True)
class Fit:
    """What was learnt."""

    weights: Mapping[str, Any]
    """The weights file: provenance, default, paper."""
    worth: Mapping[str, Mapping[str, float | None]]
    """set → way of weighing → recall@10, 0..1; None where it cannot be measured. The ways are `equal`, `shipped`, and
    for each rule `<rule>, cross-validated` and `<rule>, other sets`."""
    candidates: Mapping[str, Mapping[str, float]]
    """set → `recall` (share of the evidence among the candidates, 0..1; the most that any weights can reach), `mean`
    and `most` candidates of a question."""


def fit(sets: Mapping[str, Sequence[QuestionFeatures]], rule: str) -> Fit:
    """Learn weights for every kind of memory.

    Args:
        sets: name → questions with their readings.
        rule: one of `RULES`.

    Raises:
        InputError: no question has evidence among its candidates.
    """
    questions = [one for found in sets.values() for one in found]
    learnt = {kind: learnt_for(kind, questions, RULES[rule]) for kind in KINDS}
    kinds = Counter(one.kind for one in questions)
    seen = "; ".join(f"{kind}: {count} questions" for kind, count in sorted(kinds.items()))
    unseen = ", ".join(kind for kind in KINDS if kind not in kinds)
    file = {
        "provenance": {
            "default": f"Learnt with the rule {rule} from {len(questions)} labelled questions of {', '.join(sets)} "
            f"({seen}), mixed with equal weights."
            + (f" Not among them, so half learnt from all and half equal: {unseen}." if unseen else ""),
            "paper": "As shipped: the paper's rule gives equal weights to within a few thousandths.",
        },
        "default": {
            kind: {signal: {name: round(one, 4) for name, one in by_signal[signal].items()} for signal in SIGNALS}
            for kind, by_signal in learnt.items()
        },
        "paper": weights_for("paper", KINDS[0], None),
    }
    return Fit(
        file,
        {name: _worth(name, sets) for name in sets},
        {name: _reach(found) for name, found in sets.items() if found},
    )


def _reach(questions: Sequence[QuestionFeatures]) -> dict[str, float]:
    counts = [len(one.utterance_ids) for one in questions]
    shares = [float(one.relevant.sum()) / one.evidence_count for one in questions]
    return {
        "recall": sum(shares) / len(shares),
        "mean": sum(counts) / len(counts),
        "most": max(counts),
    }


def _worth(name: str, sets: Mapping[str, Sequence[QuestionFeatures]]) -> dict[str, float | None]:
    mine = sets[name]
    others = outside({one.group for one in mine}, sets)
    shipped = known_weights(None)
    ways: dict[str, float | None] = {
        "equal": _recall(mine, lambda one: equal_weights(shipped(one))),
        "shipped": _recall(mine, shipped),
    }
    for title, rule in RULES.items():
        try:
            ways[f"{title}, cross-validated"] = _recall(mine, cross_validated(mine, rule))
        except InputError:
            ways[f"{title}, cross-validated"] = None  # too few questions to leave some out
        ways[f"{title}, other sets"] = _recall(mine, of_others(others, rule)) if others else None
    return ways


def _recall(questions: Sequence[QuestionFeatures], weights_of: WeightsOf) -> float | None:
    """Mean over the questions of the share of their evidence among the first `PLACES`; None without questions."""
    if not questions:
        return None
    shares: list[float] = []
    for one in questions:
        evidence = {uid for uid, wanted in zip(one.utterance_ids, one.relevant.tolist(), strict=True) if wanted}
        shares.append(len(evidence.intersection(one.ranked(weights_of(one), PLACES))) / one.evidence_count)
    return sum(shares) / len(shares)
