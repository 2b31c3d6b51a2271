"""Embeddings kept on disk, so that every method and every run reads the same vectors without computing them again."""

import hashlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assomem.dialogue import Session
from assomem.evaluation.files import write_arrays
from assomem.models.embedder import Embedder, QuestionEmbedding, UtteranceEmbedding


class KeptEmbedder:
    """An `Embedder` that gives what another one gives, and remembers it.

    Utterances come from disk once `prepare` was called for their sessions; questions are remembered in this process.
    """

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        """Keep the vectors of `embedder` in `folder`, made when needed."""
        self._embedder = embedder
        self._folder = folder / hashlib.sha256(embedder.fingerprint.encode()).hexdigest()[:16]
        self._utterances: dict[str, UtteranceEmbedding] = {}
        self._questions: dict[str, tuple[QuestionEmbedding, float]] = {}
        self._phrases: dict[str, NDArray[np.float32]] = {}
        self.saved_milliseconds = 0.0
        """Time that remembered questions took when they were embedded: what a method would have needed by itself."""

    @property
    def name(self) -> str:
        """As the other's."""
        return self._embedder.name

    @property
    def fingerprint(self) -> str:
        """As the other's: the vectors are the same."""
        return self._embedder.fingerprint

    @property
    def dimensions(self) -> int:
        """As the other's."""
        return self._embedder.dimensions

    @property
    def delta(self) -> float:
        """As the other's."""
        return self._embedder.delta

    @property
    def gamma(self) -> float:
        """As the other's."""
        return self._embedder.gamma

    def prepare(self, sessions: Sequence[Session], progress: Callable[[int], None]) -> None:
        """Load the embeddings of these sessions, or compute and store them; those of other sessions are let go.

        Args:
            sessions: what will be asked for.
            progress: told how many more utterances are done.

        Raises:
            ModelError: the model cannot be run.
        """
        self._utterances = {}
        talks = [[f"{one.speaker}: {one.text}" for one in session.utterances] for session in sessions]
        distinct = list(dict.fromkeys(text for talk in talks for text in talk))
        digest = hashlib.sha256()
        for text in distinct:
            digest.update(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
        file = self._folder / f"{digest.hexdigest()[:32]}.npz"
        kept = _loaded(file)
        if kept is not None and len(kept) == len(distinct):
            self._utterances = dict(zip(distinct, kept, strict=True))
            progress(sum(map(len, talks)))
            return
        for talk in talks:
            # One session a call, as the memory itself does: a batch may change the last bits.
            missing = [text for text in dict.fromkeys(talk) if text not in self._utterances]
            embedded = self._embedder.embed_utterances(missing) if missing else []
            self._utterances |= dict(zip(missing, embedded, strict=True))
            progress(len(talk))
        _store(file, [self._utterances[text] for text in distinct])

    def embed_utterances(self, texts: Sequence[str]) -> list[UtteranceEmbedding]:
        """One embedding a text; texts that were not prepared are embedded now.

        Raises:
            ModelError: the model cannot be run.
        """
        missing = [text for text in dict.fromkeys(texts) if text not in self._utterances]
        fresh = dict(zip(missing, self._embedder.embed_utterances(missing), strict=True)) if missing else {}
        return [fresh[text] if text in fresh else self._utterances[text] for text in texts]

    def embed_phrases(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(len(texts), dimensions), unit rows.

        Raises:
            ModelError: the model cannot be run.
        """
        for text in texts:
            if text not in self._phrases:
                self._phrases[text] = self._embedder.embed_phrases([text])[0]
        rows = [self._phrases[text] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.dimensions), np.float32)

    def embed_question(self, text: str) -> QuestionEmbedding:
        """The vectors of a question. A repeat adds the time the first one took to `saved_milliseconds`.

        Raises:
            ModelError: the model cannot be run.
        """
        known = self._questions.get(text)
        if known is None:
            begun = time.perf_counter()
            embedding = self._embedder.embed_question(text)
            self._questions[text] = (embedding, (time.perf_counter() - begun) * 1000)
            return embedding
        self.saved_milliseconds += known[1]
        return known[0]


def _store(file: Path, embeddings: Sequence[UtteranceEmbedding]) -> None:
    tokens = [one.token_vectors for one in embeddings if one.token_vectors is not None]
    write_arrays(
        file,
        {
            "vectors": _stacked([one.vector for one in embeddings]),
            "pieces": np.concatenate([one.pieces for one in embeddings]) if embeddings else np.zeros((0, 0)),
            "piece_counts": np.array([len(one.pieces) for one in embeddings], np.int64),
            "piece_tokens": np.array([count for one in embeddings for count in one.piece_tokens], np.int64),
            "has_tokens": np.array([one.token_vectors is not None for one in embeddings], bool),
            "tokens": np.concatenate(tokens) if tokens else np.zeros((0, 1), np.int8),
        },
    )


def _stacked(rows: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    return np.stack(rows) if rows else np.zeros((0, 0), np.float32)


def _loaded(file: Path) -> list[UtteranceEmbedding] | None:
    """The stored embeddings; None where there are none."""
    if not file.is_file():
        return None
    with np.load(file, allow_pickle=False) as arrays:
        vectors, pieces, counts = arrays["vectors"], arrays["pieces"], arrays["piece_counts"]
        piece_tokens, has_tokens, tokens = arrays["piece_tokens"], arrays["has_tokens"], arrays["tokens"]
    found: list[UtteranceEmbedding] = []
    piece = token = 0
    for vector, count, has in zip(vectors, counts.tolist(), has_tokens.tolist(), strict=True):
        held = tuple(int(one) for one in piece_tokens[piece : piece + count])
        rows = tokens[token : token + sum(held)] if has else None
        found.append(UtteranceEmbedding(vector, pieces[piece : piece + count], rows, held))
        piece += count
        token += sum(held)
    return found
