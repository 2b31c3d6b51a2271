"""Measures of one ranking against the evidence of one question. Pure functions, each 0..1.

In all of them `ranking` holds distinct utterance ids, best first, and `evidence` the ids that support the answer, at
least one. Evidence that the ranking does not hold is missed, wherever it was lost. k is 1 or more; a ranking shorter
than k counts as it is.
"""

import math
from collections.abc import Collection, Sequence

from assomem.errors import InputError


def recall_at_k(ranking: Sequence[str], evidence: Collection[str], k: int) -> float:
    """The share of the evidence among the first k: |first k ∩ evidence| / |evidence|.

    Manning, Raghavan & Schütze, Introduction to Information Retrieval (2008), section 8.3, cut at k; the R@k of
    LongMemEval (Wu et al., 2024) and of AssoMem (ICLR 2026).
    """
    wanted = _checked(evidence, k)
    return len(wanted.intersection(ranking[:k])) / len(wanted)


def recall_all_at_k(ranking: Sequence[str], evidence: Collection[str], k: int) -> float:
    """1 when all of the evidence is among the first k, else 0; the `recall_all@k` of LongMemEval (Wu et al., 2024)."""
    return float(_checked(evidence, k).issubset(ranking[:k]))


def hit_at_k(ranking: Sequence[str], evidence: Collection[str], k: int) -> float:
    """1 when any of the evidence is among the first k, else 0; the `recall_any@k` of LongMemEval (Wu et al., 2024)."""
    return float(not _checked(evidence, k).isdisjoint(ranking[:k]))


def ndcg_at_k(ranking: Sequence[str], evidence: Collection[str], k: int) -> float:
    """Normalised discounted cumulative gain of the first k, with gain 1 for evidence and 0 for anything else.

    DCG = Σ_i gain_i / log2(i + 1) over the ranks i = 1..k, divided by the DCG of a ranking that has min(k, |evidence|)
    pieces of evidence first. Järvelin & Kekäläinen, Cumulated gain-based evaluation of IR techniques (2002), with the
    discount log2(i + 1) of Burges et al. (2005), as trec_eval has it.
    """
    wanted = _checked(evidence, k)
    gained = sum(1 / math.log2(rank + 1) for rank, one in enumerate(ranking[:k], start=1) if one in wanted)
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(wanted)) + 1))
    return gained / best


def mrr(ranking: Sequence[str], evidence: Collection[str]) -> float:
    """1 / the rank of the first piece of evidence, 0 without any; its mean over questions is the MRR.

    Voorhees, The TREC-8 Question Answering Track Report (1999). Nothing is cut: give as much of a ranking as counts.
    """
    wanted = _checked(evidence, 1)
    return next((1 / rank for rank, one in enumerate(ranking, start=1) if one in wanted), 0.0)


def _checked(evidence: Collection[str], k: int) -> set[str]:
    if not evidence:
        raise InputError("evidence: is empty; a question without evidence has no recall, leave it out")
    if k < 1:
        raise InputError(f"k: must be 1 or more, not {k}")
    return set(evidence)
