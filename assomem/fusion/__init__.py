"""Fusion: readings × weights → scores, and where weights come from.

fuse         the score of every candidate, its parts, weights files
information  conditional mutual information: the paper's rule for weights, and ours
learn        a listwise linear model from labelled questions
"""

from assomem.fusion.fuse import (
    SIGNAL_OF,
    SIGNALS,
    Contribution,
    Fused,
    Preset,
    ReadingWeights,
    fuse,
    weights_for,
)
from assomem.fusion.information import Labelled, conditional_weights, paper_weights
from assomem.fusion.learn import learn

__all__ = [
    "SIGNALS",
    "SIGNAL_OF",
    "Contribution",
    "Fused",
    "Labelled",
    "Preset",
    "ReadingWeights",
    "conditional_weights",
    "fuse",
    "learn",
    "paper_weights",
    "weights_for",
]
