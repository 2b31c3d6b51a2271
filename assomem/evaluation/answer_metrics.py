"""Measures of one answer against a reference, and of one statement against what it cites. Pure functions, each 0..1.

Markers of citations (`[2]`) are not part of what an answer says.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from assomem.terms import terms

_MARKERS = re.compile(r"\s*[\[【]\s*\d{1,9}(?:\s*[,;]\s*\d{1,9})*\s*[\]】]")
_ARTICLES = frozenset(("a", "an", "the"))
_EASTERN = re.compile(r"([぀-ヿ㐀-䶿一-鿿豈-﫿가-힯])")


def token_f1(answer: str, reference: str) -> float:
    """The F1 of the answer's tokens: 2·P·R / (P + R), over multisets; P = shared / answer's, R = shared / reference's.

    Rajpurkar et al., SQuAD (2016), section 6.1, with the normalisation of its script (`normalised`). Two texts without
    tokens count 1, one without and one with 0, as in SQuAD 2.0.
    """
    mine, wanted = Counter(normalised(answer)), Counter(normalised(reference))
    if not mine or not wanted:
        return float(mine == wanted)
    shared = (mine & wanted).total()
    return 2 * shared / (mine.total() + wanted.total())


def exact_match(answer: str, reference: str) -> float:
    """1 when both have the same tokens in the same order after normalisation, else 0; SQuAD's EM."""
    return float(normalised(answer) == normalised(reference))


def contains(answer: str, reference: str) -> float:
    """1 when the reference's tokens stand in the answer, one after the other; 0 also for a reference without tokens.

    A long answer, such as a quote, is not blamed for its length here, as it is by F1; nor for what else it says.
    """
    mine, wanted = normalised(answer), normalised(reference)
    return float(bool(wanted) and any(mine[at : at + len(wanted)] == wanted for at in range(len(mine))))


def normalised(text: str) -> list[str]:
    """Tokens of a text as SQuAD's script has them: lower case, punctuation and English articles out, cut at blanks.

    Beyond it: punctuation of every script, compatible forms made one (NFKC), and a token for each character of
    Chinese, Japanese and Korean, which write without blanks.
    """
    text = unicodedata.normalize("NFKC", without_markers(text)).casefold()
    plain = "".join("" if unicodedata.category(one).startswith("P") else one for one in text)
    return [one for one in _EASTERN.sub(r" \1 ", plain).split() if one not in _ARTICLES]


def word_support(statement: str, evidence: Iterable[str]) -> float:
    """The share of a statement's content words, by their stems and each once, that the evidence holds.

    The K-precision of Adlakha et al., Evaluating correctness and faithfulness of instruction-following models for
    question answering (2023), over content words. It sees words, not what they say: "did not sell" is supported by
    "sold", a paraphrase is not. 1 for a statement without content words, 0 without evidence.
    """
    texts = list(evidence)
    wanted = set(terms(without_markers(statement)))
    if not texts or not wanted:
        return float(bool(texts))
    return len(wanted.intersection(one for text in texts for one in terms(text))) / len(wanted)


def without_markers(text: str) -> str:
    """An answer without its citations."""
    return _MARKERS.sub("", text).strip()
