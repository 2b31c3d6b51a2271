"""δ and γ of a model that nobody has measured, from a few phrases whose closeness is known.

Cosines have no common scale: between unrelated sentences e5 gives about .8, BGE .5, others .1. So the model is shown
pairs of phrases that mean the same or differ in one decisive word, and sentences that have nothing to do with each
other or talk about the same thing. The numbers are coarser than those of the packaged models, which were measured on
whole dialogues; `ASSOMEM_DELTA` and `ASSOMEM_GAMMA` replace them.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

DIFFERENT = (
    ("pottery class", "painting class"),
    ("camping trip in June", "camping trip in July"),
    ("likes hiking", "hates hiking"),
    ("guitar lessons", "piano lessons"),
    ("left knee", "right knee"),
    ("sister's wedding", "brother's wedding"),
    ("flight to Rome", "flight to Madrid"),
    ("allergic to peanuts", "allergic to shellfish"),
    ("meeting on Monday", "meeting on Tuesday"),
    ("budget for marketing", "budget for research"),
)
"""Phrases that differ in one decisive word: they are never the same clue."""

RELATED = (
    ("We adopted two kittens from the shelter last week.", "The cats have settled in and sleep on the sofa."),
    ("My knee has hurt since I ran the marathon.", "The doctor says I should not run for a month."),
    ("We are moving to Berlin in the spring.", "I found a flat in Berlin with a small balcony."),
    ("The budget for the project was cut by a third.", "We need to tell the client that the project costs more."),
    ("Grandma taught me how to bake this bread.", "I baked a loaf for the whole family on Sunday."),
    ("The guitar lessons start again in September.", "I have practised the guitar every evening."),
    ("Our flight to Rome was delayed by six hours.", "We slept at the airport and reached Rome at noon."),
    ("She got the job at the hospital.", "Her first shift at the hospital is on Monday."),
)
"""Sentences of one conversation about the same thing; those of different rows have nothing to do with each other."""

_GAMMA_PLACE = 1.3
"""Where γ lies, 0 being the mean cosine of unrelated and 1 that of related sentences. So chosen that the two packaged
models get what was measured for them on whole dialogues, to within .02; their δ is met exactly."""


class Scales(NamedTuple):
    """The two cosines of `Embedder`."""

    delta: float
    gamma: float


def measure(phrases: Callable[[Sequence[str]], NDArray[np.float32]]) -> Scales:
    """δ: just above the most alike of different phrases. γ: above most related sentences.

    Args:
        phrases: gives unit rows, as `Embedder.embed_phrases`; called once, with a few dozen short texts.
    """
    texts = [text for pair in (*DIFFERENT, *RELATED) for text in pair]
    rows = np.nan_to_num(phrases(texts).astype(np.float64))
    cosines = rows @ rows.T
    first = np.arange(0, len(texts), 2)
    pairs = cosines[first, first + 1]
    delta = math.floor(float(pairs[: len(DIFFERENT)].max()) * 100 + 1) / 100
    sentences = first[len(DIFFERENT) :]
    related = float(pairs[len(DIFFERENT) :].mean())
    unrelated = float(np.mean([cosines[one, other + 1] for one in sentences for other in sentences if one != other]))
    gamma = unrelated + _GAMMA_PLACE * (related - unrelated)
    return Scales(min(delta, 0.99), round(min(max(gamma, 0.0), 0.99), 2))
