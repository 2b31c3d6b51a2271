"""What AssoMem is measured against: other ways to find utterances, over the same vectors, terms and clues.

Every baseline is a function of an indexed memory and a question that gives the numbers of utterances, best first. What
the paper's tables call a baseline is described there in a phrase; how it is done here is ours and said in each.
"""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from assomem.evaluation.indexed import Asked, IndexedMemory, unit

Baseline = Callable[[IndexedMemory, Asked], list[int]]

RANK_CONSTANT = 60
"""k of reciprocal rank fusion, as its authors have it."""
FUSED = 200
"""So many of each list take part in it."""
NEAREST_TOPICS = 10
"""K of AssoMem's clue list."""
RECENT_SESSIONS = 3
SEGMENT_UTTERANCES = 3
OPENED = 2
"""So many utterances of a segment that was found are brought in."""
OF_A_SESSION = 3
"""... and of a session."""


def flat(index: IndexedMemory, asked: Asked) -> list[int]:
    """Utterance-flat of the paper: every utterance by the cosine of its vector and the question's."""
    return by_score(asked.cosine, asked.allowed)


def bm25(index: IndexedMemory, asked: Asked) -> list[int]:
    """Words alone: Okapi BM25 of every utterance, over stems; those without a word of the question are left out."""
    return by_score(asked.words.text, asked.allowed & (asked.words.text > 0))


def hybrid(index: IndexedMemory, asked: Asked) -> list[int]:
    """Flat and BM25 joined by reciprocal rank fusion, the usual retrieval of today.

    score = Σ 1 / (60 + rank) over the two lists (Cormack, Clarke & Büttcher, 2009), each cut at 200.
    """
    return fused([flat(index, asked), bm25(index, asked)])


def session_utterance(index: IndexedMemory, asked: Asked) -> list[int]:
    """Session-utterance of the paper, mixed granularity: sessions and utterances compete in one list by cosine.

    A session stands for its utterances in order of their cosine. Ours: a session's vector is the mean of its
    utterances'; as means lie nearer to any question than single utterances do, each kind is first freed of its own
    mean and spread over the memory, and a session brings in at most its three best.
    """
    numbers = list(index.sessions)
    means = unit(np.stack([index.vectors[index.sessions[number]].mean(axis=0) for number in numbers]))
    sessions = _standard((means @ asked.vector).astype(np.float64))
    utterances = _standard(asked.cosine)
    entries: list[tuple[float, list[int]]] = [
        (float(utterances[one]), [one]) for one in by_score(asked.cosine, asked.allowed)
    ]
    for number, score in zip(numbers, sessions, strict=True):
        members = _nearest(asked, index.sessions[number])[:OF_A_SESSION]
        if members:
            entries.append((float(score), members))
    entries.sort(key=lambda entry: -entry[0])
    return once(one for _, members in entries for one in members)


def topic_grouping(index: IndexedMemory, asked: Asked) -> list[int]:
    """Topic grouping of the paper: topics narrow the search, then utterances are compared.

    The 10 topics nearest to the question, then all of their utterances by cosine. Ours: a topic is near by its text and
    by the mean of its utterances' vectors, each spread alike over the topics, since a text of a few words alone often
    misses; and what else there is follows by cosine, so that a memory with few or no topics still gives a full list.
    """
    topics = [number for number, clue in enumerate(index.clues) if clue.kind == "topic"]
    inside = np.zeros(len(index), bool)
    if topics:
        means = unit(np.stack([index.vectors[list(index.clues[number].members)].mean(axis=0) for number in topics]))
        by_text, by_mean = ((rows @ asked.vector).astype(np.float64) for rows in (index.clue_vectors[topics], means))
        closeness = _standard(by_text) + _standard(by_mean)
        for place in np.argsort(-closeness, kind="stable")[:NEAREST_TOPICS]:
            inside[list(index.clues[topics[int(place)]].members)] = True
    return [*by_score(asked.cosine, asked.allowed & inside), *by_score(asked.cosine, asked.allowed & ~inside)]


def long_short_term(index: IndexedMemory, asked: Asked) -> list[int]:
    """LST memory of the paper: a short-term memory of the latest sessions, a long-term memory of segments.

    Ours: the latest three sessions before the question are looked at utterance by utterance; older ones are cut into
    segments of three utterances, each found by the mean of its vectors and opened to its two best. Both memories
    compete in one list by cosine.
    """
    there = [number for number, members in index.sessions.items() if asked.allowed[members].any()]
    latest = sorted(there, key=lambda number: (int(index.instants[index.sessions[number]].max()), number))
    recent = set(latest[-RECENT_SESSIONS:])
    short = np.isin(index.session, list(recent))
    entries: list[tuple[float, list[int]]] = [
        (float(asked.cosine[one]), [one]) for one in by_score(asked.cosine, asked.allowed & short)
    ]
    for number in there:
        if number not in recent:
            members = index.sessions[number]
            for start in range(0, len(members), SEGMENT_UTTERANCES):
                segment = members[start : start + SEGMENT_UTTERANCES]
                closeness = float(unit(index.vectors[segment].mean(axis=0)) @ asked.vector)
                entries.append((closeness, _nearest(asked, segment)[:OPENED]))
    entries.sort(key=lambda entry: -entry[0])
    return once(one for _, members in entries for one in members)


def by_score(scores: NDArray[np.float64], allowed: NDArray[np.bool_]) -> list[int]:
    """The allowed utterances, the highest score first, ties in the order of the memory."""
    numbers = np.flatnonzero(allowed)
    return numbers[np.argsort(-scores[numbers], kind="stable")].tolist()


def fused(lists: Sequence[Sequence[int]]) -> list[int]:
    """Lists joined by reciprocal rank fusion; ties in the order of the memory."""
    scores: dict[int, float] = {}
    for ranked in lists:
        for rank, one in enumerate(ranked[:FUSED], start=1):
            scores[one] = scores.get(one, 0.0) + 1 / (RANK_CONSTANT + rank)
    return sorted(scores, key=lambda one: (-scores[one], one))


def once(numbers: Iterable[int]) -> list[int]:
    """Each number where it comes first."""
    return list(dict.fromkeys(numbers))


def _nearest(asked: Asked, members: NDArray[np.int64]) -> list[int]:
    return [one for one in sorted(members.tolist(), key=lambda one: -asked.cosine[one]) if asked.allowed[one]]


def _standard(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return (values - values.mean()) / max(float(values.std()), 1e-12)


BASELINES: dict[str, Baseline] = {
    "flat": flat,
    "bm25": bm25,
    "hybrid": hybrid,
    "session-utterance": session_utterance,
    "topic-grouping": topic_grouping,
    "lst": long_short_term,
}
"""By the names under which they are asked for."""
