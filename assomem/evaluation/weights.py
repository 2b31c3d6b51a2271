"""Which weights rank a question: the shipped ones, a file's, or ones learnt from other labelled questions.

What is learnt from never holds the question that is ranked, nor
another one of the same memory unless there is only one memory.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from functools import cache
from pathlib import Path

from assomem.errors import InputError
from assomem.evaluation.datasets import hash_of
from assomem.evaluation.features import QuestionFeatures
from assomem.fusion import (
    LEARNT_SHARE,
    SIGNALS,
    ReadingWeights,
    learn_by_information,
    learn_listwise,
    mixed,
    weights_for,
)

FOLDS = 5
"""Of a set of one memory."""

UNSEEN_SHARE = 0.5
"""Of learnt weights where the kind of memory was not among what they were learnt from; the rest is equal weights."""

SOMETIMES = ("late clue",)
"""Readings that a question has only where its candidates have something to read."""

WeightsOf = Callable[[QuestionFeatures], ReadingWeights]

Rule = Callable[[Sequence[QuestionFeatures], float], ReadingWeights]
"""Labelled questions with the same readings and the share of learnt weights → weights."""

RULES: Mapping[str, Rule] = {"listwise": learn_listwise, "information": learn_by_information}


def known_weights(file: Path | None) -> WeightsOf:
    """The weights of a file, None: the shipped ones, by the kind of memory."""
    return lambda question: mixed(question.kinds, lambda kind: weights_for("default", kind, file))


def equal_weights(weights: ReadingWeights) -> ReadingWeights:
    """The same readings, each as heavy as every other."""
    return {signal: dict.fromkeys(weights[signal], 1.0) for signal in SIGNALS}


def cross_validated(questions: Sequence[QuestionFeatures], rule: Rule = learn_listwise) -> WeightsOf:
    """Weights for each question of a set, learnt without its fold: its memory, or a fifth of a single memory.

    Raises:
        InputError: there are not two folds to learn from, or no evidence among the candidates of the others.
    """
    single = len({one.group for one in questions}) == 1
    folds: dict[str, list[QuestionFeatures]] = {}
    for one in questions:
        folds.setdefault(_fold(one, single=single), []).append(one)
    if len(folds) < 2:
        raise InputError("weights: cross-validated needs questions in at least two folds; give more questions")

    @cache
    def learnt(fold: str, kind: str) -> ReadingWeights:
        return learnt_for(kind, [one for name, others in folds.items() if name != fold for one in others], rule)

    return lambda question: mixed(question.kinds, lambda kind: learnt(_fold(question, single=single), kind))


def outside(groups: Set[str], sets: Mapping[str, Sequence[QuestionFeatures]]) -> list[QuestionFeatures]:
    """The questions of all sets about other memories: the same one may be in two sets, and must not teach itself."""
    return [one for found in sets.values() for one in found if one.group not in groups]


def of_others(others: Sequence[QuestionFeatures], rule: Rule = learn_listwise) -> WeightsOf:
    """Weights for every question of a set, learnt from the other sets.

    Raises:
        InputError: there is no other set, or no evidence among its candidates.
    """
    if not others:
        raise InputError("weights: others needs another set to learn from; give several sets")

    @cache
    def learnt(kind: str) -> ReadingWeights:
        return learnt_for(kind, others, rule)

    return lambda question: mixed(question.kinds, learnt)


def learnt_for(kind: str, questions: Sequence[QuestionFeatures], rule: Rule = learn_listwise) -> ReadingWeights:
    """Weights for a kind of memory: from questions of that kind where there are any, else from all, mostly equal.

    Raises:
        InputError: no question has evidence among its candidates.
    """
    usable = [one for one in questions if one.relevant.any()]
    if not usable:
        raise InputError("weights: no question has evidence among its candidates; there is nothing to learn from")
    # All must have the same readings; a question without a vector has fewer. A memory without statements among its
    # clues lacks the reading of these: it says nothing there, and where it says nothing at all it keeps an equal share.
    always = Counter(_always(one) for one in usable).most_common(1)[0][0]
    usable = [one for one in usable if _always(one) == always]
    usable = [one.filled((*always, *SOMETIMES)) for one in usable]
    same = [one for one in usable if one.kind == kind]
    return rule(same, LEARNT_SHARE) if same else rule(usable, UNSEEN_SHARE)


def _always(question: QuestionFeatures) -> tuple[str, ...]:
    return tuple(name for name in question.reading_names if name not in SOMETIMES)


def _fold(question: QuestionFeatures, *, single: bool) -> str:
    return str(int(hash_of(question.query_id), 16) % FOLDS) if single else question.group
