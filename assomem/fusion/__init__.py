"""Fusion: readings × weights → scores, and where weights come from.

fuse         the score of every candidate, its parts, weights files
information  conditional mutual information: the paper's rule for weights, and ours
learn        weights from labelled questions, listwise or by information
"""

from assomem.fusion.fuse import (
    SIGNAL_OF,
    SIGNALS,
    Contribution,
    Fused,
    Preset,
    ReadingWeights,
    fuse,
    mixed,
    weights_for,
)
from assomem.fusion.information import Labelled, conditional_weights, paper_weights
from assomem.fusion.learn import LEARNT_SHARE, learn_by_information, learn_listwise

__all__ = [
    "LEARNT_SHARE",
    "SIGNALS",
    "SIGNAL_OF",
    "Contribution",
    "Fused",
    "Labelled",
    "Preset",
    "ReadingWeights",
    "conditional_weights",
    "fuse",
    "learn_by_information",
    "learn_listwise",
    "mixed",
    "paper_weights",
    "weights_for",
]
