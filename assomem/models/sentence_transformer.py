"""Embedders of the library sentence-transformers (an extra), from a folder or the Hugging Face hub."""

import hashlib
import importlib
import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assomem.errors import ModelError, SettingsError
from assomem.models.pieces import cut, gaps
from assomem.models.plain import Prefixes, Role, Row, character_pieces

_SMALL_BYTES = 1_000_000

_MOST_TOKENS = 126
"""Of a piece, even where the window is larger: one sentence among many is not seen in their common vector."""


class SentenceTransformerVectors:
    """A `VectorSource` over a model that is loaded at the first text."""

    def __init__(self, model: str) -> None:
        """Keep its name.

        Args:
            model: a folder, or a name on the hub.

        Raises:
            SettingsError: the extra is not installed.
        """
        if importlib.util.find_spec("sentence_transformers") is None:
            raise SettingsError(
                f"settings: embedder: {model} needs sentence-transformers: pip install "
                '"assomem[sentence-transformers]", or choose another with ASSOMEM_EMBEDDER'
            )
        self._model = model
        self._folder = Path(model).expanduser()
        self._using = threading.Lock()
        self._loaded: Any = None

    @property
    def fingerprint(self) -> str:
        """Adapter and name on the hub, or what lies in the folder, wherever that is."""
        if not self._folder.is_dir():
            return f"sentence-transformers:{self._model}"
        digest = hashlib.sha256()
        for file in sorted(self._folder.rglob("*")):
            if file.is_file():
                size = file.stat().st_size
                # Weights are told apart by their size: reading gigabytes at every start is not worth it.
                content = file.read_bytes() if size < _SMALL_BYTES and file.suffix == ".json" else b""
                digest.update(repr((file.relative_to(self._folder).as_posix(), size, content)).encode())
        return f"sentence-transformers:{self._folder.name}@{digest.hexdigest()[:12]}"

    def prefixes(self) -> Prefixes | None:
        """What the model itself says a question and a text begin with; None when it says nothing."""
        with self._using:
            prompts: dict[str, str] = dict(self._opened().prompts or {})
        question = prompts.get("query") or ""
        text = prompts.get("passage") or prompts.get("document") or ""
        return Prefixes(question, text, text) if question or text else None

    def pieces(self, text: str, prefix: str) -> list[tuple[str, int]]:
        """By the model's own tokens where its tokenizer tells where they stand, else by characters."""
        with self._using:
            model = self._opened()
            window: int | None = model.max_seq_length
            tokenizer: Any = model.tokenizer
            if window is None or not getattr(tokenizer, "is_fast", False):
                return character_pieces(text)
            before = len(tokenizer(prefix, add_special_tokens=False)["input_ids"]) if prefix else 0
            most = window - tokenizer.num_special_tokens_to_add() - before
            encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
            places: list[tuple[int, int]] = [(int(start), int(end)) for start, end in encoded["offset_mapping"]]
            words: list[int | None] = list(encoded.word_ids())
        most = min(most, _MOST_TOKENS)
        if len(places) <= most or most < 1:
            return [(text, max(1, len(places)))]
        # One less: cut off at a blank, the first word of a piece may take another token than inside the text.
        return [
            (text[places[first][0] : places[last - 1][1]], last - first)
            for first, last in cut(gaps(text, places, words), max(1, most - 1))
        ]

    def vectors(self, texts: Sequence[str], role: Role) -> list[Row | None]:
        """A vector a text.

        Raises:
            ModelError: the model cannot be loaded or run.
        """
        del role
        with self._using:
            model = self._opened()
            try:
                # The prefix is in the text already.
                rows: Any = model.encode(list(texts), prompt="", show_progress_bar=False, convert_to_numpy=True)
            except (RuntimeError, MemoryError) as error:
                raise ModelError(
                    f"embedder {self._model}: torch failed on {len(texts)} texts ({type(error).__name__}); is there "
                    "memory left? Try again, or choose another with ASSOMEM_EMBEDDER"
                ) from error
        return [np.asarray(row, np.float32) for row in rows]

    def _opened(self) -> Any:
        if self._loaded is None:
            library: Any = importlib.import_module("sentence_transformers")
            try:
                self._loaded = library.SentenceTransformer(str(self._folder) if self._folder.is_dir() else self._model)
            except (OSError, ValueError, RuntimeError, KeyError, ImportError) as error:
                raise ModelError(
                    f"embedder {self._model}: sentence-transformers cannot load it ({type(error).__name__}): is it the "
                    "folder of a model, or its name on the hub, and can the hub be reached? Check ASSOMEM_EMBEDDER"
                ) from error
        return self._loaded
