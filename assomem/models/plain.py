"""Embedders that give one vector a text and no token vectors: what they have in common.

    text → pieces → prefix → vectors → unit length → mean

A text longer than the model's window, or than `PIECE_CHARACTERS` where that is not known, is cut into pieces that
together hold every word of it, so that no endpoint cuts its end off unseen.
"""

import hashlib
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from assomem.errors import ModelError
from assomem.models.embedder import QuestionEmbedding, UtteranceEmbedding, usable
from assomem.models.scales import Scales, measure
from assomem.settings import Settings

Row = NDArray[np.float32]

Role = Literal["question", "text"]

PIECE_CHARACTERS = 1500
"""About 400 tokens of English; as many of Chinese are more than most windows hold, hence `_WIDE`."""

_WIDE = re.compile(r"[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7ff\uf900-\ufaff]")

_SENTENCE_END = re.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？\n]+")
_BLANK = re.compile(r"\s+")


class VectorSource(Protocol):
    """A model that turns texts into vectors. May be called from several threads at once."""

    @property
    def fingerprint(self) -> str:
        """Adapter and model: what decides the vectors, but for prefixes and dimensions."""
        ...

    def vectors(self, texts: Sequence[str], role: Role) -> list[Row | None]:
        """A vector a text, of any length; None for a text that the model refuses. No text is blank.

        Raises:
            ModelError: the model cannot be run.
        """
        ...

    def pieces(self, text: str, prefix: str) -> list[tuple[str, int]]:
        """The text in pieces that fit the model after the prefix, each with its weight in the mean."""
        ...


@dataclass(frozen=True)
class Prefixes:
    """What stands before a text so that the model knows what it is."""

    question: str = ""
    text: str = ""
    phrase: str = ""


def prefixes_for(name: str, settings: Settings, own: "Prefixes | None" = None) -> Prefixes:
    """Those of the settings, else those that the model itself names, else those of its family (E5, Nomic)."""
    family = own or Prefixes()
    if own is None and re.search(r"(?:^|[/_-])e5-(?!.*instruct)", name.lower()):
        family = Prefixes("query: ", "passage: ", "query: ")
    elif own is None and "nomic-embed-text" in name.lower():
        family = Prefixes("search_query: ", "search_document: ", "search_document: ")
    question, text = settings.embedder_question_prefix, settings.embedder_text_prefix
    return Prefixes(
        family.question if question is None else question,
        family.text if text is None else text,
        family.phrase if text is None else text,
    )


class PlainEmbedder:
    """An `Embedder` over a source of vectors. Its dimensions are found by one call, at the first need."""

    def __init__(
        self,
        name: str,
        source: VectorSource,
        prefixes: Callable[[], Prefixes] = Prefixes,
        *,
        delta: float | None = None,
        gamma: float | None = None,
    ) -> None:
        """Keep what is needed; nothing is called yet.

        Args:
            name: what the user calls it.
            source: gives the vectors.
            prefixes: called once, at the first need: a model may have to be loaded to know.
            delta: as in `Embedder`; None: measured with a few phrases, at the first need.
            gamma: likewise.
        """
        self._name = name
        self._source = source
        self._find_prefixes = prefixes
        self._given = (delta, gamma)
        self._finding = threading.RLock()

    @property
    def name(self) -> str:
        """As given."""
        return self._name

    @property
    def fingerprint(self) -> str:
        """Adapter, model, prefixes, and dimensions, for which the model is called once.

        Raises:
            ModelError: the model cannot be run.
        """
        digest = hashlib.sha256(repr(self._prefixes).encode()).hexdigest()
        return f"{self._source.fingerprint}/{self.dimensions}/{digest[:12]}"

    @property
    def dimensions(self) -> int:
        """Size of its vectors, for which the model is called once.

        Raises:
            ModelError: the model cannot be run.
        """
        with self._finding:
            return self._dimensions

    @property
    def delta(self) -> float:
        """As given, or measured (see `scales`)."""
        return self._scale(0)

    @property
    def gamma(self) -> float:
        """As given, or measured (see `scales`)."""
        return self._scale(1)

    def embed_utterances(self, texts: Sequence[str]) -> list[UtteranceEmbedding]:
        """One embedding a text, in their order; zeros for a text that the model refuses.

        Raises:
            ModelError: the model cannot be run.
        """
        return [
            UtteranceEmbedding(vector, pieces, None, (0,) * len(pieces))
            for vector, pieces in self._embed(texts, self._prefixes.text, "text")
        ]

    def embed_phrases(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(len(texts), dimensions), unit rows, in their order; zeros for a text that the model refuses.

        Raises:
            ModelError: the model cannot be run.
        """
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for at, (vector, _) in enumerate(self._embed(texts, self._prefixes.phrase, "text")):
            rows[at] = vector
        return rows

    def embed_question(self, text: str) -> QuestionEmbedding:
        """The vector of a question of any length.

        Raises:
            ModelError: the model cannot be run.
        """
        ((vector, _),) = self._embed([text], self._prefixes.question, "question")
        return QuestionEmbedding(vector, None, ())

    def _embed(self, texts: Sequence[str], prefix: str, role: Role) -> list[tuple[Row, NDArray[np.float32]]]:
        """The vector and the pieces of each text."""
        size = self.dimensions  # before any text: a model that refuses all of them is told from one that refuses one
        cuts = [self._source.pieces(text, prefix) if text.strip() else [] for text in texts]
        flat = [prefix + piece for pieces in cuts for piece, _ in pieces]
        done = iter(self._source.vectors(flat, role) if flat else [])
        found: list[tuple[Row, NDArray[np.float32]]] = []
        for pieces in cuts:
            rows = np.zeros((max(1, len(pieces)), size), np.float32)
            for at in range(len(pieces)):
                row = next(done)
                if row is not None and usable(row, size):
                    rows[at] = row / np.linalg.norm(row.astype(np.float64))
            weights = np.array([weight for _, weight in pieces] or [1], np.float32)
            mean = weights @ rows
            length = float(np.linalg.norm(mean))
            found.append((rows[0] if len(rows) == 1 else mean / length if length else mean, rows))
        return found

    @cached_property
    def _dimensions(self) -> int:
        (row,) = self._source.vectors([self._prefixes.text + "How large is a vector?"], "text")
        if row is None or not usable(row, len(row)):
            raise ModelError(
                f"embedder {self._name}: the model gives no usable vector, whatever the text; is it an embedding "
                "model? Check ASSOMEM_EMBEDDER",
                kind="refused",
            )
        return len(row)

    @cached_property
    def _prefixes(self) -> Prefixes:
        return self._find_prefixes()

    def _scale(self, index: int) -> float:
        given = self._given[index]
        if given is not None:
            return given
        with self._finding:
            return self._measured[index]

    @cached_property
    def _measured(self) -> Scales:
        return measure(self.embed_phrases)


def character_pieces(text: str, most: int = PIECE_CHARACTERS) -> list[tuple[str, int]]:
    """A text in pieces of at most `most` characters, cut at the last sentence end, else the last blank, else anywhere.

    Where the script is dense (Chinese, Japanese, Korean) a piece holds a third of that. Each piece with its length.
    """
    if len(_WIDE.findall(text)) * 4 > len(text):
        most = max(1, most // 3)
    pieces: list[str] = []
    start = 0
    while len(text) - start > most:
        window = text[start : start + most]
        ends = (
            [found.end() for found in pattern.finditer(window) if found.end() >= most // 3]
            for pattern in (_SENTENCE_END, _BLANK)
        )
        end = next((places[-1] for places in ends if places), most)
        pieces.append(window[:end])
        start += end
    pieces.append(text[start:])
    return [(piece, len(piece)) for piece in pieces if piece.strip()] or [(text, 1)]
