"""Relevance: how much an utterance is about what the question asks, by meaning, by words, and by who speaks.

The paper's relevance is the cosine of question and utterance (AssoMem, ICLR 2026, "RITRanker"). The other readings
are ours; each was measured to find evidence that the cosine misses. Every function gives one number in 0..1 for
each candidate, in their order; an empty list of candidates gives an empty array.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from assomem.candidates import Candidates
from assomem.models.embedder import QuestionEmbedding
from assomem.postings import K1, B
from assomem.question import Question
from assomem.terms import STOP_WORDS, stem, terms

LONG_ENOUGH_CHARACTERS = 120
"""A turn of so many characters says something; a shorter one proportionally less."""
SHORT_REPLY_CHARACTERS = 400
"""A longer turn stands for itself: what was asked before it adds nothing."""
OPENING_TURNS = 2
"""A dialogue's first turns tell what it is about."""
PASSAGE_TOKENS = 32
"""Late interaction looks for what is asked within so many tokens: a sentence or two."""
REPORTING_PHRASES = 2
"""So many say that a speaker tells something of their own."""
COSINE_LEAST_RANGE = 0.05
LATE_LEAST_RANGE = 0.1
WORDS_LEAST_SHARE = 0.3
"""Least ranges of `below_best`. In memories of hundreds of turns the candidates always differ by more."""
CLUE_REACH = 0.15
"""Of `near_best` for the late interaction of clues; measured on LoCoMo with facts that a language model had found."""
STOP_WORD_SHARE = 0.35
"""Share of utterances that hold a given function word, about; it has no posting list to be counted in."""

_ASKS_WHEN = re.compile(r"^\W*(when|what (date|day|month|year|time))\b|\b(how long ago|since when|how long)\b", re.I)
_TIME_WORD = re.compile(
    r"\b(yesterday|today|tonight|tomorrow|ago|last|next|this (week|month|year|weekend|morning)"
    r"|this (summer|spring|fall|winter)|since|(mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|january|february|march|april|june|july|august|september|october|november|december|(19|20)\d\d|\d+(st|nd|rd|th)|week(end)?s?|months?|years?)\b",
    re.I,
)
_FIRST_PERSON = re.compile(r"\b(I|my|we|us|our|me)\b")
_REPORTS = re.compile(
    r"\bI(?:['’]ve| have| had| did| was| got| went| bought| just| recently| finally| actually| already| started"
    r"| used to| made| took| saw| met| lost| finished| attended| tried)\b|\bmy\b",
    re.I,
)
_ASKS_ASSISTANT = re.compile(
    r"\byou (told|said|suggest|recommend|mention|provid|gave|give|list|help|creat|wrote|write|explain|describ)"
    r"|\bremind me\b|\bprevious (chat|conversation)\b|\bour (last|earlier|previous)\b|\bdid you\b|\byou'd\b",
    re.I,
)


def scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Min-max over the candidates: 0 for the least, 1 for the greatest; nan counts as the least.

    All zeros where all are equal, since nothing tells them apart.
    """
    if not len(values):
        return values
    known = values[~np.isnan(values)]
    if not len(known) or known.max() - known.min() < 1e-12:
        return np.zeros(len(values))
    return np.nan_to_num((values - known.min()) / (known.max() - known.min()), nan=0.0)


def below_best(values: NDArray[np.float64], least_range: float) -> NDArray[np.float64]:
    """Min-max over the candidates, measured from the best: 1 for it, also where all are equal; nan gives 0.

    Values that lie closer together than `least_range` are not stretched: in a memory of a few turns a hair's breadth
    must not decide like a mile. Where they lie further apart this is `scaled`.
    """
    known = values[~np.isnan(values)]
    if not len(known):
        return np.zeros(len(values))
    spread = max(float(known.max() - known.min()), least_range)
    return np.nan_to_num(1 - (known.max() - values) / spread, nan=0.0)


def near_best(values: NDArray[np.float64], reach: float) -> NDArray[np.float64]:
    """1 for the best, falling to 0 at `reach` below it; nan gives 0.

    For a reading that few candidates have: what is far from the best says nothing, and counts like having none.
    """
    known = values[~np.isnan(values)]
    if not len(known):
        return np.zeros(len(values))
    return np.maximum(np.nan_to_num(1 - (known.max() - values) / reach, nan=0.0), 0.0)


def scaled_words(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """`below_best` of scores of words, 0 or more each; 0 where no candidate shares a word with the question."""
    best = float(values.max(initial=0.0))
    return below_best(values, WORDS_LEAST_SHARE * best) if best > 0 else np.zeros(len(values))


def readings(question: Question, candidates: Candidates, *, assistant: bool) -> dict[str, NDArray[np.float64]]:
    """Every reading of relevance but the two of late interaction, which are for the best candidates only.

    Args:
        question: the question.
        candidates: the candidates.
        assistant: whether the memory holds talk of users with an assistant.
    """
    mine, other = speaker_named(question.text, candidates.speakers, candidates.texts)
    short = np.array([len(text) <= SHORT_REPLY_CHARACTERS for text in candidates.texts], float)
    return {
        "cosine": below_best(candidates.cosine, COSINE_LEAST_RANGE),
        "context": below_best(candidates.context_cosine, COSINE_LEAST_RANGE),
        "words": scaled_words(candidates.text_score),
        "window": scaled_words(candidates.window_score),
        "session": scaled_words(candidates.session_score),
        "pairs": scaled_words(adjacent_pairs(question.terms, candidates)),
        "speaker": mine,
        "names speaker": other,
        "role": role(question.text, candidates.speakers) if assistant else np.zeros(len(candidates)),
        "length": np.array([min(1.0, len(text) / LONG_ENOUGH_CHARACTERS) for text in candidates.texts], float),
        "first person": _holds(_FIRST_PERSON, [text[:600] for text in candidates.texts]),
        "reports": np.array(
            [min(1.0, len(_REPORTS.findall(text[:3000])) / REPORTING_PHRASES) for text in candidates.texts], float
        ),
        "opening": (candidates.positions <= OPENING_TURNS).astype(float),
        "reply": scaled_words(candidates.reply_score) * short,
        "time word": _holds(_TIME_WORD, [text[:1500] for text in candidates.texts])
        if _ASKS_WHEN.search(question.text)
        else np.zeros(len(candidates)),
    }


def adjacent_pairs(question_terms: Sequence[str], candidates: Candidates) -> NDArray[np.float64]:
    """BM25 over pairs of adjacent terms that the question and an utterance share, 0 or more.

    How often a pair occurs in the memory is counted over the candidates: nearly every utterance with both terms is
    one.
    """
    scores = np.zeros(len(candidates))
    pairs = set(pairwise(question_terms))
    counts = candidates.words.counts
    pairs = {(one, other) for one, other in pairs if one in counts and other in counts}
    if not pairs:
        return scores
    at = candidates.ordinals
    holding = np.zeros(len(at), bool)
    inside = at < len(candidates.words.text)
    for one, other in pairs:
        both = (counts[one] > 0) & (counts[other] > 0)
        holding[inside] |= both[at[inside]]
    found: dict[int, Counter[tuple[str, str]]] = {}
    lengths: dict[int, int] = {}
    for index in np.flatnonzero(holding):
        words = terms(f"{candidates.speakers[index]}: {candidates.texts[index]}")
        found[int(index)] = Counter(pair for pair in pairwise(words) if pair in pairs)
        lengths[int(index)] = len(words)
    mean_length = sum(lengths.values()) / len(lengths) if lengths else 1.0
    for pair in pairs:
        frequency = sum(pair in count for count in found.values())
        idf = np.log(1 + (max(candidates.total, frequency) - frequency + 0.5) / (frequency + 0.5))
        for index, count in found.items():
            times = count[pair]
            scores[index] += idf * times * (K1 + 1) / (times + K1 * (1 - B + B * lengths[index] / mean_length))
    return scores


def speaker_named(
    question: str, speakers: Sequence[str], texts: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Whether the question names the one who speaks, and whether another speaker says a named one's name.

    Returns:
        1 / (number of speakers named) for turns of a named speaker; 1 for turns of the others that hold a named
        speaker's first name. A name counts as a whole word, in any case.
    """
    asked = _names(question)
    firsts = {speaker: first for speaker in set(speakers) if (first := _first_name(speaker))}
    named = {speaker: first for speaker, first in firsts.items() if first in asked}
    if not named:
        return np.zeros(len(speakers)), np.zeros(len(speakers))
    wanted = set(named.values())
    mine = np.array([1 / len(named) if speaker in named else 0.0 for speaker in speakers])
    other = np.array(
        [
            float(speaker not in named and not wanted.isdisjoint(_names(text)))
            for speaker, text in zip(speakers, texts, strict=True)
        ]
    )
    return mine, other


def role(question: str, speakers: Sequence[str]) -> NDArray[np.float64]:
    """1 for turns of the assistant when the question asks what it said ("you suggested ..."), else for all others.

    The others are the user's, and in a memory that holds other talk as well everybody's.
    """
    wanted = _ASKS_ASSISTANT.search(question) is not None
    return np.array([float((speaker.strip().casefold() == "assistant") == wanted) for speaker in speakers])


def token_weights(
    question: QuestionEmbedding, document_frequency: Mapping[str, int], total: int
) -> NDArray[np.float64]:
    """idf_j = ln(1 + N / (1 + n)) for each token of the question, n being the utterances that hold its word.

    Args:
        question: its token vectors.
        document_frequency: utterances that hold each of the question's terms.
        total: N, utterances in the memory.
    """
    return np.array([_token_weight(word, document_frequency, total) for word in question.token_words], np.float64)


def met_tokens(
    question: QuestionEmbedding, tokens: Mapping[int, Sequence[NDArray[np.float32]]]
) -> dict[int, list[NDArray[np.float32]]]:
    """How closely each token j of the question is met in each stretch of an utterance: max_i cos(q_j, u_i), -1..1.

    Args:
        question: its token vectors; without any the result is empty.
        tokens: by ordinal, token vectors of utterances, one array of unit rows for each piece.

    Returns:
        By ordinal, for each piece an array (stretches of `PASSAGE_TOKENS` / 2 tokens, tokens of the question).
    """
    pieces = [(ordinal, piece) for ordinal, held in tokens.items() for piece in held if len(piece)]
    if question.token_vectors is None or not len(question.token_vectors) or not pieces:
        return {}
    # One product and one reduction for all: a loop over hundreds of small ones costs more than they do.
    cosines = np.concatenate([piece for _, piece in pieces]) @ question.token_vectors.T
    starts: list[int] = []
    counts: list[int] = []
    begun = 0
    for _, piece in pieces:
        stretches = range(begun, begun + len(piece), PASSAGE_TOKENS // 2)
        starts += stretches
        counts.append(len(stretches))
        begun += len(piece)
    best = np.split(np.maximum.reduceat(cosines, starts, axis=0), np.cumsum(counts)[:-1])
    met: dict[int, list[NDArray[np.float32]]] = {}
    for (ordinal, _), stretches in zip(pieces, best, strict=True):
        met.setdefault(ordinal, []).append(stretches)
    return met


def late_interaction(
    met: Mapping[int, Sequence[NDArray[np.float32]]], weights: NDArray[np.float64]
) -> dict[int, float]:
    """How well the question's words are met within one passage of an utterance, in context; -1..1, by ordinal.

    sum_j idf_j max_i cos(q_j, u_i) / sum_j idf_j over the question's tokens j and the tokens i of a passage of
    `PASSAGE_TOKENS`, the best passage counting (Khattab & Zaharia, ColBERT, 2020; weights and passages are ours: in a
    long reply something is always near to every word).

    Args:
        met: what `met_tokens` gives; utterances without tokens are left out.
        weights: idf_j, one for each token of the question.
    """
    return {
        ordinal: max(
            float((np.maximum(piece[:-1], piece[1:]) if len(piece) > 1 else piece).dot(weights).max())
            for piece in pieces
        )
        / float(weights.sum())
        for ordinal, pieces in met.items()
    }


def late_context(
    met: Mapping[int, Sequence[NDArray[np.float32]]],
    before: Mapping[int, Sequence[int]],
    weights: NDArray[np.float64],
) -> dict[int, float]:
    """The same over an utterance and those before it taken together, whole; -1..1, by ordinal.

    An answer is often understood only with what it answers.

    Args:
        met: what `met_tokens` gives for all of them; those without tokens are left out.
        before: ordinal of an utterance → ordinals of those to read with it.
        weights: idf_j, one for each token of the question.
    """
    whole = {ordinal: np.concatenate(pieces).max(axis=0) for ordinal, pieces in met.items()}
    return {
        ordinal: float(np.maximum.reduce([whole[one] for one in (ordinal, *earlier) if one in whole]) @ weights)
        / float(weights.sum())
        for ordinal, earlier in before.items()
        if ordinal in whole
    }


def _token_weight(word: str, document_frequency: Mapping[str, int], total: int) -> float:
    if word in STOP_WORDS or not any(character.isalnum() for character in word):
        holding = STOP_WORD_SHARE * total
    else:
        holding = document_frequency.get(stem(word), 0)
    return float(np.log(1 + total / (1 + holding)))


def _holds(pattern: re.Pattern[str], texts: Sequence[str]) -> NDArray[np.float64]:
    return np.array([float(pattern.search(text) is not None) for text in texts], float)


def _first_name(speaker: str) -> str:
    words = re.findall(r"\w+", speaker.casefold())
    return words[0] if words else ""


def _names(text: str) -> set[str]:
    return set(re.findall(r"\w+", text[:20_000].casefold()))
