"""Which weights rank a question: the shipped ones, a file's, or ones learnt from other labelled questions.

This is the one place where learning is plugged in: `fusion.learn(features) -> ReadingWeights`. What it learns from
never holds the question that is ranked, nor another one of the same memory unless there is only one memory.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from assomem import fusion
from assomem.errors import InputError
from assomem.evaluation.datasets import hash_of
from assomem.evaluation.features import QuestionFeatures
from assomem.fusion import ReadingWeights, weights_for

FOLDS = 5
"""Of a set of one memory."""

Learner = Callable[[Sequence[QuestionFeatures]], ReadingWeights]


def learner() -> Learner:
    """What learns weights from labelled questions.

    Raises:
        InputError: this version has none.
    """
    found: Any = getattr(fusion, "learn", None)
    if found is None:
        raise InputError(
            "weights: this version cannot learn weights; allowed are shipped and the name of a weights file"
        )
    return found


def known_weights(file: Path | None) -> Callable[[QuestionFeatures], ReadingWeights]:
    """The weights of a file, None: the shipped ones, by the kind of memory."""
    return lambda question: weights_for("default", question.kind, file)


def cross_validated(
    questions: Sequence[QuestionFeatures], learn: Learner
) -> Callable[[QuestionFeatures], ReadingWeights]:
    """Weights for each question of a set, learnt without its fold: its memory, or a fifth of a single memory.

    Raises:
        InputError: there are not two folds to learn from.
    """
    single = len({one.group for one in questions}) == 1
    folds: dict[str, list[QuestionFeatures]] = {}
    for one in questions:
        folds.setdefault(_fold(one, single=single), []).append(one)
    if len(folds) < 2:
        raise InputError("weights: cross-validated needs questions in at least two folds; give more questions")
    learnt: Mapping[str, ReadingWeights] = {
        fold: learn([one for name, others in folds.items() if name != fold for one in others]) for fold in folds
    }
    return lambda question: learnt[_fold(question, single=single)]


def of_others(others: Sequence[QuestionFeatures], learn: Learner) -> Callable[[QuestionFeatures], ReadingWeights]:
    """The same weights for every question of a set, learnt from the other sets.

    Raises:
        InputError: there is no other set.
    """
    if not others:
        raise InputError("weights: others needs another set to learn from; give several sets")
    learnt = learn(others)
    return lambda question: learnt


def _fold(question: QuestionFeatures, *, single: bool) -> str:
    return str(int(hash_of(question.query_id), 16) % FOLDS) if single else question.group
