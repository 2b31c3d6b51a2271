"""AssoMem without one of its parts, from the readings of the same searches."""

from collections.abc import Callable

from assomem.evaluation.features import QuestionFeatures
from assomem.evaluation.weights import equal_weights
from assomem.fusion import ReadingWeights

ABLATIONS = ("temporal", "importance", "weights", "clues")
"""temporal: without the signal and the candidates that only the time meant brought in. importance: without the signal.
weights: every reading weighs the same. clues: without the walk over clues and the candidates that only clues brought
in. What is left is ranked with the same weights in proportion; readings are not scaled again."""


def ablated(
    part: str, weights_of: Callable[[QuestionFeatures], ReadingWeights]
) -> Callable[[QuestionFeatures, int], tuple[str, ...]]:
    """Gives the first k of a question without a part, one of `ABLATIONS`."""

    def rank(question: QuestionFeatures, k: int) -> tuple[str, ...]:
        weights = weights_of(question)
        if part == "weights":
            return question.ranked(equal_weights(weights), k)
        signal = "importance" if part == "clues" else part
        lists = {"temporal": ["time"], "clues": ["clue"]}.get(part, [])
        left = question.without(list(weights[signal]), lists)
        return left.ranked(weights, k)

    return rank
