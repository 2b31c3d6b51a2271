"""Relevance reranking of the paper: a cross-encoder reads the question with each of the best utterances."""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from assomem.errors import ModelError
from assomem.evaluation.baselines import Baseline, hybrid
from assomem.evaluation.indexed import Asked, IndexedMemory

RERANKED = 50
"""So many of the hybrid's best are read again; the others follow as they were."""


def reranked(model: str) -> Baseline:
    """A baseline that orders the hybrid's best 50 by a cross-encoder of sentence-transformers.

    Args:
        model: a folder, or a name whose files are at hand; nothing is downloaded.

    Raises:
        ModelError: the library or the model is not at hand; says how to get it.
    """
    try:
        library: Any = import_module("sentence_transformers")
    except ImportError:
        raise ModelError(
            "needs sentence-transformers, which is not installed: pip install 'assomem[sentence-transformers]'"
        ) from None
    try:
        encoder: Any = library.CrossEncoder(model, local_files_only=True)
    except (OSError, ValueError) as error:
        raise ModelError(f"the model {model} is not at hand ({type(error).__name__}); fetch it first") from None

    def score(pairs: Sequence[tuple[str, str]]) -> Sequence[float]:
        return encoder.predict(list(pairs), show_progress_bar=False).tolist()

    return by_pairs(score)


def by_pairs(score: Callable[[Sequence[tuple[str, str]]], Sequence[float]]) -> Baseline:
    """The baseline of a function that scores (question, utterance) pairs, higher being better."""

    def rank(index: IndexedMemory, asked: Asked) -> list[int]:
        first = hybrid(index, asked)
        read, rest = first[:RERANKED], first[RERANKED:]
        scores: Sequence[float] = score([(asked.text, f"{index.speakers[one]}: {index.texts[one]}") for one in read])
        order = np.argsort(-np.array(scores, np.float64), kind="stable")
        return [*(read[int(place)] for place in order), *rest]

    return rank
