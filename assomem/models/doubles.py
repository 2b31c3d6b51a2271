"""Models for tests: no download, no network, the same results on every machine, and failures on demand.

They ship with the package so that programs built on it can be tested without a model, too.
"""

import hashlib
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assomem.errors import ModelError
from assomem.models.chat import Completion
from assomem.models.embedder import Embedder, QuestionEmbedding, UtteranceEmbedding

_WORD = re.compile(r"\w+|[^\w\s]")

TOKEN_DIMENSIONS = 128


class HashingEmbedder:
    """An `Embedder` whose vectors are sums of one pseudo-random vector for each word.

    Texts with the same words, in whatever order and case, have cosine 1; texts without a shared word are
    about orthogonal, the more dimensions the more so. Paraphrases are given as `meanings`.
    """

    def __init__(
        self,
        dimensions: int = 64,
        *,
        tokens: bool = True,
        meanings: Mapping[str, str] | None = None,
        name: str = "hashing",
        delta: float = 0.95,
        gamma: float = 0.6,
        piece_words: int = 126,
    ) -> None:
        """Choose what it gives.

        Args:
            dimensions: size of the vectors, at least 1.
            tokens: whether there are token vectors, one a word.
            meanings: lower-case word → the lower-case word whose vector it gets: `{"kitten": "cat"}`.
            name: part of the fingerprint.
            delta: as in `Embedder`.
            gamma: as in `Embedder`.
            piece_words: most words in a piece, at least 1.
        """
        self._dimensions = dimensions
        self._tokens = tokens
        self._meanings = dict(meanings or {})
        self._name = name
        self._delta = delta
        self._gamma = gamma
        self._piece_words = piece_words
        self._known: dict[tuple[str, int], NDArray[np.float32]] = {}

    @property
    def name(self) -> str:
        """As given."""
        return self._name

    @property
    def fingerprint(self) -> str:
        """Changes with name, dimensions, tokens, meanings and piece size."""
        rest = repr((self._tokens, sorted(self._meanings.items()), self._piece_words))
        return f"{self._name}/{self._dimensions}/{hashlib.sha256(rest.encode()).hexdigest()[:12]}"

    @property
    def dimensions(self) -> int:
        """As given."""
        return self._dimensions

    @property
    def delta(self) -> float:
        """As given."""
        return self._delta

    @property
    def gamma(self) -> float:
        """As given."""
        return self._gamma

    def embed_utterances(self, texts: Sequence[str]) -> list[UtteranceEmbedding]:
        """One embedding a text; every word keeps its token vector."""
        return [self._embed_utterance(text) for text in texts]

    def embed_phrases(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(len(texts), dimensions), unit rows."""
        rows = np.zeros((len(texts), self._dimensions), np.float32)
        for at, text in enumerate(texts):
            rows[at] = self._sum(_words(text))
        return rows

    def embed_question(self, text: str) -> QuestionEmbedding:
        """The vectors of a question; its first 62 words have token vectors."""
        words = _words(text)
        if not self._tokens:
            return QuestionEmbedding(self._sum(words), None, ())
        return QuestionEmbedding(self._sum(words), self._rows(words[:62]), tuple(words[:62]))

    def _embed_utterance(self, text: str) -> UtteranceEmbedding:
        words = _words(text)
        size = self._piece_words
        pieces = [words[at : at + size] for at in range(0, len(words), size)] or [[]]
        vectors = np.stack([self._sum(piece) for piece in pieces])
        if not self._tokens:
            return UtteranceEmbedding(self._sum(words), vectors, None, (0,) * len(pieces))
        rows = np.rint(self._rows(words) * 127).astype(np.int8)
        return UtteranceEmbedding(self._sum(words), vectors, rows, tuple(len(piece) for piece in pieces))

    def _sum(self, words: Sequence[str]) -> NDArray[np.float32]:
        # A text without words gets the vector of the empty word, which no other text shares.
        total = np.sum([self._vector(word, self._dimensions) for word in words or [""]], axis=0)
        return (total / np.linalg.norm(total)).astype(np.float32)

    def _rows(self, words: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(words), TOKEN_DIMENSIONS), np.float32)
        for at, word in enumerate(words):
            vector = self._vector(word, TOKEN_DIMENSIONS)
            rows[at] = vector / np.linalg.norm(vector)
        return rows

    def _vector(self, word: str, dimensions: int) -> NDArray[np.float32]:
        word = self._meanings.get(word, word)
        known = self._known.get((word, dimensions))
        if known is None:
            seed = int.from_bytes(hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()[:8], "big")
            # Not of unit length: in one dimension unit vectors could cancel each other out.
            drawn = np.random.default_rng(seed).standard_normal(dimensions)
            known = self._known[word, dimensions] = drawn.astype(np.float32)
        return known


Fault = Literal["zeros", "nan", "size", "error"]
"""What goes wrong with a text: a vector of zeros, of NaN, of one number too many, or a `ModelError` for the
call."""


class FaultyEmbedder:
    """An `Embedder` that does as another one does, but fails for texts that hold certain words."""

    def __init__(self, embedder: Embedder, faults: Mapping[str, Fault]) -> None:
        """`faults`: part of a text → what goes wrong with every text that holds it; the first one counts."""
        self._embedder = embedder
        self._faults = dict(faults)

    @property
    def name(self) -> str:
        """That of the other."""
        return self._embedder.name

    @property
    def fingerprint(self) -> str:
        """That of the other."""
        return self._embedder.fingerprint

    @property
    def dimensions(self) -> int:
        """That of the other."""
        return self._embedder.dimensions

    @property
    def delta(self) -> float:
        """That of the other."""
        return self._embedder.delta

    @property
    def gamma(self) -> float:
        """That of the other."""
        return self._embedder.gamma

    def embed_utterances(self, texts: Sequence[str]) -> list[UtteranceEmbedding]:
        """As the other, with the faults; a fault replaces `vector` and `pieces`.

        Raises:
            ModelError: a text has the fault `error`.
        """
        found = self._embedder.embed_utterances(texts)
        for at, text in enumerate(texts):
            vector = self._broken(text)
            if vector is not None:
                found[at] = replace(found[at], vector=vector, pieces=vector[np.newaxis])
        return found

    def embed_phrases(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """As the other, with the faults. One array has one width: the fault `size` widens every row.

        Raises:
            ModelError: a text has the fault `error`.
        """
        rows = self._embedder.embed_phrases(texts)
        for at, text in enumerate(texts):
            vector = self._broken(text)
            if vector is None:
                continue
            if len(vector) > rows.shape[1]:
                rows = np.pad(rows, ((0, 0), (0, len(vector) - rows.shape[1])))
            rows[at, : len(vector)] = vector
        return rows

    def embed_question(self, text: str) -> QuestionEmbedding:
        """As the other, with the faults.

        Raises:
            ModelError: the text has the fault `error`.
        """
        found = self._embedder.embed_question(text)
        vector = self._broken(text)
        return found if vector is None else replace(found, vector=vector)

    def _broken(self, text: str) -> NDArray[np.float32] | None:
        fault: Fault | None = next((fault for part, fault in self._faults.items() if part in text), None)
        match fault:
            case None:
                return None
            case "zeros":
                return np.zeros(self.dimensions, np.float32)
            case "nan":
                return np.full(self.dimensions, np.nan, np.float32)
            case "size":
                return np.ones(self.dimensions + 1, np.float32)
            case "error":
                raise ModelError(f"embedder {self.name}: fails on purpose; take the text out, or the fault")


@dataclass(frozen=True)
class Call:
    """What a chat model was asked."""

    system: str
    user: str
    max_tokens: int
    schema: Mapping[str, Any] | None = None


class ScriptedChatModel:
    """A `ChatModel` that gives prepared replies in order and keeps what it was asked in `calls`.

    A text is a whole reply; a `Completion` is given as it is; an error is raised.
    """

    def __init__(self, replies: Iterable[str | Completion | Exception], name: str = "scripted") -> None:
        """Prepare the replies; one call takes one."""
        self._name = name
        self._replies = list(replies)
        self._taking = threading.Lock()
        self.calls: list[Call] = []

    @property
    def name(self) -> str:
        """As given."""
        return self._name

    def complete(
        self, system: str, user: str, *, max_tokens: int, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        """The next reply.

        Raises:
            ModelError: there is none left.
            Exception: the reply is that error.
        """
        return self._reply(Call(system, user, max_tokens, schema))

    def stream(self, system: str, user: str, *, max_tokens: int) -> Iterator[str | Completion]:
        """The next reply in pieces of a word each, then whole. Errors as for `complete`."""
        completion = self._reply(Call(system, user, max_tokens))
        yield from re.findall(r"\s*\S+|\s+", completion.text)
        yield completion

    def _reply(self, call: Call) -> Completion:
        with self._taking:
            number = len(self.calls)
            self.calls.append(call)
        if number >= len(self._replies):
            raise ModelError(
                f"chat model {self._name}: only {len(self._replies)} replies were prepared; this is call {number + 1}"
            )
        reply = self._replies[number]
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, Completion):
            return reply
        return Completion(reply, "stop", len(call.system + call.user) // 4, len(reply) // 4)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
