"""One memory as the baselines see it: vectors, terms and clues of every utterance, in this process.

They get the same embedder, the same terms and the same clues as AssoMem, and the same limit of time: nothing said after
the day of the question.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assomem.clues import ReadyMadeClue, extract, normalised
from assomem.dialogue import Session
from assomem.evaluation.datasets import LabelledMemory, LabelledQuestion
from assomem.evaluation.embeddings import KeptEmbedder
from assomem.postings import UNDATED, Layout, WordScores, pack_postings, score_words
from assomem.terms import terms
from assomem.times import end_of_day


@dataclass(frozen=True)
class IndexedClue:
    """A clue with the utterances it is anchored to, as their numbers."""

    kind: str
    text: str
    members: tuple[int, ...]


@dataclass(frozen=True)
class Asked:
    """A question as the baselines see it."""

    text: str
    vector: NDArray[np.float32]
    terms: tuple[str, ...]
    allowed: NDArray[np.bool_]
    """Which utterances may be found."""
    cosine: NDArray[np.float64]
    """Question and utterance, -1..1."""
    words: WordScores


class IndexedMemory:
    """Utterances are numbered from 0, in the order of the sessions. Memories without utterances do not occur."""

    def __init__(self, memory: LabelledMemory, embedder: KeptEmbedder, clues: str) -> None:
        """Index a memory.

        Args:
            memory: whose sessions were prepared in `embedder`.
            embedder: gives the vectors.
            clues: `none`, `built-in` or `ready`, as for AssoMem.
        """
        said = [(number, one) for number, session in enumerate(memory.sessions) for one in session.utterances]
        self.embedder = embedder
        self.ids = tuple(spelled_id(session, place) for session in memory.sessions for place in _places(session))
        self.texts = tuple(one.text for _, one in said)
        self.speakers = tuple(one.speaker for _, one in said)
        self.session = np.array([number for number, _ in said], np.int64)
        embeddings = embedder.embed_utterances([f"{one.speaker}: {one.text}" for _, one in said])
        self.vectors = np.stack([one.vector for one in embeddings])
        self._counts: dict[str, dict[int, int]] = {}
        lengths: list[int] = []
        for number, (_, one) in enumerate(said):
            found = Counter(terms(f"{one.speaker}: {one.text}"))
            lengths.append(found.total())
            for term, count in found.items():
                self._counts.setdefault(term, {})[number] = count
        self.instants = np.array(
            [UNDATED if one.said_at is None else int(one.said_at.timestamp()) for _, one in said], np.int64
        )
        places = np.array([place for session in memory.sessions for place in _places(session)], np.int64)
        self._layout = Layout(self.session, places, np.array(lengths, np.float64), self.instants)
        self.clues = _clues(memory, self.ids, clues)

    def __len__(self) -> int:
        return len(self.ids)

    def ask(self, question: LabelledQuestion) -> Asked:
        """A question with what every baseline needs of it."""
        vector = self.embedder.embed_question(question.text).vector
        until = int(np.ceil(end_of_day(question.asked_at).timestamp()))
        return Asked(
            text=question.text,
            vector=vector,
            terms=tuple(terms(question.text)),
            allowed=self.instants < until,
            cosine=(self.vectors @ vector).astype(np.float64),
            words=self.score(terms(question.text)),
        )

    def score(self, words: list[str]) -> WordScores:
        """BM25 of some terms against every utterance, window and session."""
        postings: dict[str, list[bytes]] = {}
        for term in words:
            held = self._counts.get(term, {})
            postings[term] = [pack_postings(list(held), list(held.values()))] if held else []
        return score_words(self._layout, postings)

    @cached_property
    def sessions(self) -> Mapping[int, NDArray[np.int64]]:
        """Session number → its utterances in order."""
        return {int(number): np.flatnonzero(self.session == number) for number in np.unique(self.session)}

    @cached_property
    def clue_vectors(self) -> NDArray[np.float32]:
        """(number of clues, dimensions), unit rows."""
        return self.embedder.embed_phrases([clue.text for clue in self.clues])


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Rows at unit length; zeros stay."""
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True).clip(1e-12)


def spelled_id(session: Session, place: int) -> str:
    """The id under which an utterance is stored: the given one, else `<session_id>:<place>`, from 1."""
    given = session.utterances[place - 1].utterance_id
    return f"{session.session_id}:{place}" if given is None else given


def _places(session: Session) -> range:
    return range(1, len(session.utterances) + 1)


def _clues(memory: LabelledMemory, ids: tuple[str, ...], mode: str) -> tuple[IndexedClue, ...]:
    """The clues of every session, those of one kind and spelling joined."""
    if mode == "none":
        return ()
    ready: dict[str, list[ReadyMadeClue]] = {}
    if mode == "ready":
        for clue in memory.clues:
            ready.setdefault(clue.session_id, []).append(clue)
    number = {one: place for place, one in enumerate(ids)}
    members: dict[tuple[str, str], dict[int, None]] = {}
    wordings: dict[tuple[str, str], str] = {}
    for session in memory.sessions:
        found = (
            [(one.kind, one.text, one.utterance_ids) for one in ready[session.session_id]]
            if session.session_id in ready
            else [
                (one.kind, one.text, tuple(spelled_id(session, anchor + 1) for anchor in one.anchors))
                for one in extract(session)
            ]
        )
        for kind, text, anchors in found:
            key = (kind, normalised(text))
            wordings.setdefault(key, text)
            members.setdefault(key, {}).update({number[one]: None for one in anchors if one in number})
    return tuple(
        IndexedClue(kind, wordings[kind, spelling], tuple(anchored))
        for (kind, spelling), anchored in members.items()
        if anchored
    )
