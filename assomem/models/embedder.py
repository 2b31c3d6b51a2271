"""What an embedder is, what it gives, and how one is opened by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from assomem.errors import SettingsError
from assomem.settings import Settings

if TYPE_CHECKING:
    from assomem.models.plain import Prefixes


@dataclass(frozen=True, eq=False)
class UtteranceEmbedding:
    """The vectors of one utterance.

    A text longer than the embedder's window is cut into pieces that together hold every word of it. A text
    that fits is one piece, and `pieces[0]` is then `vector`.
    """

    vector: NDArray[np.float32]
    """(dimensions,), unit length: the mean of the pieces, each weighing as many tokens as it holds."""

    pieces: NDArray[np.float32]
    """(p, dimensions), p >= 1, unit rows, in the order of the text."""

    token_vectors: NDArray[np.int8] | None
    """(t, 128) in the order of the text; a row divided by 127 has unit length to within rounding. None when
    the embedder has none."""

    piece_tokens: tuple[int, ...]
    """Rows of `token_vectors` that belong to each piece, one number a piece; they sum to t. 0 for a piece
    beyond the tokens that are kept, and for every piece when `token_vectors` is None."""


@dataclass(frozen=True, eq=False)
class QuestionEmbedding:
    """The vectors of one question."""

    vector: NDArray[np.float32]
    """(dimensions,), unit length; for a question longer than the window the mean of its pieces."""

    token_vectors: NDArray[np.float32] | None
    """(t, 128), unit rows, in the order of the question, t at most 62 (the first ones). None when the
    embedder has none."""

    token_words: tuple[str, ...]
    """For each row of `token_vectors` the word it is part of, lower-case, punctuation being words of its own:
    a rare word's tokens can then weigh more. Empty when `token_vectors` is None."""


class Embedder(Protocol):
    """Turns texts into vectors whose cosine says how close they are in meaning.

    Every method may be called from several threads at once. What a call gives depends on its texts alone.
    An embedder may fail for one text and give zeros, NaN or a vector of the wrong size for it; the caller
    checks each vector with `usable`.
    """

    @property
    def name(self) -> str:
        """What the user calls it, such as `e5-small-v2`."""
        ...

    @property
    def fingerprint(self) -> str:
        """Two embedders with the same fingerprint give the same vectors; known without loading the model."""
        ...

    @property
    def dimensions(self) -> int:
        """Size of its vectors."""
        ...

    @property
    def delta(self) -> float:
        """Clues of one kind whose cosine is at least this are the same clue."""
        ...

    @property
    def gamma(self) -> float:
        """Utterances, or clues, whose cosine is at least this are SIMILAR."""
        ...

    def embed_utterances(self, texts: Sequence[str]) -> list[UtteranceEmbedding]:
        """One embedding a text, in their order; empty for no texts. A text begins `Speaker: `.

        Raises:
            ModelError: the model cannot be run.
        """
        ...

    def embed_phrases(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """(len(texts), dimensions), unit rows, in their order: for clues, which are compared with each other.

        Raises:
            ModelError: the model cannot be run.
        """
        ...

    def embed_question(self, text: str) -> QuestionEmbedding:
        """The vectors of a question of any length.

        Raises:
            ModelError: the model cannot be run.
        """
        ...


def usable(vector: NDArray[np.float32], dimensions: int) -> bool:
    """Whether a vector can be stored and compared: of the right size, finite, and not zero.

    Neo4j refuses any other in a vector index and takes the whole transaction with it, so one bad text would
    take its session along.
    """
    # The length is taken in float64: a finite float32 vector may have an infinite float32 length.
    return vector.shape == (dimensions,) and 0.0 < float(np.linalg.norm(vector.astype(np.float64))) < np.inf


def open_embedder(settings: Settings, *, progress: bool = False, memory: str | None = None) -> Embedder:
    """The embedder that `settings.embedder` names. Files are fetched, models loaded and called at the first text.

    With `progress` a download is shown on stderr. Calls to an endpoint are noted for `memory`.

    Raises:
        SettingsError: no embedder of that name; says what there is. Or what it needs is not installed or not set.
    """
    from assomem.models.onnx import PACKAGED, OnnxEmbedder

    name = settings.embedder
    recipe = PACKAGED.get(name)
    if recipe is not None:
        delta, gamma = settings.delta, settings.gamma
        recipe = replace(
            recipe,
            delta=recipe.delta if delta is None else delta,
            gamma=recipe.gamma if gamma is None else gamma,
        )
        return OnnxEmbedder(recipe, settings.cache, progress=progress)
    return _open_plain(name, settings, memory)


def _open_plain(name: str, settings: Settings, memory: str | None) -> Embedder:
    from assomem.models.langchain import EMBEDDING_PROVIDERS, open_vectors, provider_of
    from assomem.models.plain import PlainEmbedder, VectorSource, prefixes_for

    kind, _, model = name.partition(":")
    named = provider_of(name, EMBEDDING_PROVIDERS)
    own: Callable[[], Prefixes | None] = _no_prefixes
    source: VectorSource
    if kind == "openai" and model:
        from assomem.models.endpoint import Endpoint
        from assomem.models.openai_embedder import OpenAIVectors
        from assomem.models.usage import Ledger, usage_file

        endpoint = Endpoint.of(settings)
        ledger = Ledger(usage_file(settings))
        source = OpenAIVectors(
            model, endpoint, timeout_seconds=settings.chat_timeout_seconds, ledger=ledger, memory=memory
        )
    elif named is not None:
        model = named[1]
        source = open_vectors(*named, settings, memory)
    elif (kind == "sentence-transformers" and model) or "/" in name or Path(name).expanduser().is_dir():
        from assomem.models.sentence_transformer import SentenceTransformerVectors

        model = model if kind == "sentence-transformers" else name
        vectors = SentenceTransformerVectors(model)
        source, own = vectors, vectors.prefixes
    else:
        raise SettingsError(
            f"settings: embedder: there is none of that name; there are {', '.join(sorted(_packaged_names()))}, "
            "openai:NAME, a folder, a name on the Hugging Face hub with a slash, sentence-transformers:NAME, and "
            f"PROVIDER:NAME by LangChain ({', '.join(sorted(EMBEDDING_PROVIDERS))}). "
            "Set ASSOMEM_EMBEDDER to one of them, or leave it unset for the default"
        )
    return PlainEmbedder(
        name, source, lambda: prefixes_for(model, settings, own()), delta=settings.delta, gamma=settings.gamma
    )


def _no_prefixes() -> "Prefixes | None":
    return None


def _packaged_names() -> list[str]:
    from assomem.models.onnx import PACKAGED

    return list(PACKAGED)
