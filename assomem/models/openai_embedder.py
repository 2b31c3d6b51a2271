"""Vectors of an OpenAI-compatible endpoint's `/embeddings`, in batches, several at once."""

import base64
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from assomem.errors import ModelError, ModelFailure
from assomem.models.endpoint import Endpoint, Failure, body_of, refusal, requested
from assomem.models.plain import Role, Row, character_pieces
from assomem.models.usage import Call, Ledger

if TYPE_CHECKING:
    import openai

BATCH_TEXTS = 64

_NOT_VECTORS = Failure("the endpoint's reply holds no vectors: is OPENAI_BASE_URL right?", "not_a_completion")


class OpenAIVectors:
    """A `VectorSource` at an endpoint. A refused batch is halved, so that one bad text takes no other along."""

    def __init__(
        self,
        model: str,
        endpoint: Endpoint,
        *,
        timeout_seconds: float = 60.0,
        batch_texts: int = BATCH_TEXTS,
        ledger: Ledger | None = None,
        memory: str | None = None,
    ) -> None:
        """Keep what a call needs; nothing is opened before the first.

        Args:
            model: its name at the endpoint; of a deployment at Azure.
            endpoint: where it is.
            timeout_seconds: for one request. Waiting for the endpoint, when it asks to be left alone, is on top.
            batch_texts: texts in one request at most.
            ledger: where calls are noted.
            memory: for which they are noted.
        """
        self._model = model
        self._endpoint = endpoint
        self._timeout_seconds = timeout_seconds
        self._batch_texts = batch_texts
        self._ledger = ledger
        self._memory = memory
        self._slow = Failure(
            f"no vectors within {timeout_seconds:g} seconds; allow more with ASSOMEM_CHAT_TIMEOUT_SECONDS", "timeout"
        )

    @property
    def fingerprint(self) -> str:
        """Adapter and model, wherever it is served."""
        return f"openai:{self._model}"

    def pieces(self, text: str, prefix: str) -> list[tuple[str, int]]:
        """By characters: an endpoint does not tell its window."""
        del prefix
        return character_pieces(text)

    def vectors(self, texts: Sequence[str], role: Role) -> list[Row | None]:
        """A vector a text; None for one that the endpoint refuses.

        Raises:
            ModelError: the endpoint fails, refuses the key, or does not know the model.
        """
        del role
        size = self._batch_texts
        batches = [texts[at : at + size] for at in range(0, len(texts), size)]
        if len(batches) < 2:
            return [row for batch in batches for row in self._batch(batch)]
        failed = threading.Event()

        def embed(batch: Sequence[str]) -> list[Row | None]:
            if failed.is_set():  # the call as a whole has failed already
                return []
            try:
                return self._batch(batch)
            except ModelError:
                failed.set()
                raise

        with ThreadPoolExecutor(min(self._endpoint.gate.concurrency, len(batches)), "assomem-embed") as pool:
            return [row for rows in pool.map(embed, batches) for row in rows]

    def _batch(self, texts: Sequence[str]) -> list[Row | None]:
        try:
            return self._ask(texts)
        except ModelError as error:
            if error.kind not in {"refused", "too_long"}:
                raise
        if len(texts) == 1:
            return [None]
        half = len(texts) // 2
        return self._batch(texts[:half]) + self._batch(texts[half:])

    def _ask(self, texts: Sequence[str]) -> list[Row | None]:
        deadline = time.monotonic() + self._timeout_seconds + self._endpoint.gate.max_wait_seconds
        tries: list[ModelFailure] = []
        started, tokens, outcome = time.perf_counter(), 0, "ok"
        try:
            rows, tokens = self._endpoint.call(
                lambda left: self._request(texts, min(left, self._timeout_seconds)),
                deadline=deadline,
                who=f"embedder {self._model}",
                tries=tries,
                slow=self._slow,
            )
        except ModelError as error:
            outcome = error.kind
            raise
        finally:
            if self._ledger is not None:
                estimated = outcome == "ok" and not tokens
                count = sum(map(len, texts)) // 4 if estimated else tokens
                seconds = time.perf_counter() - started
                self._ledger.note(
                    Call(self._memory, "embed", self._model, count, 0, seconds, outcome, estimated, tuple(tries))
                )
        return list(rows)

    def _request(self, texts: Sequence[str], seconds: float) -> tuple[list[Row], int] | Failure:
        deadline = time.monotonic() + seconds

        def open_reply() -> AbstractContextManager[Any]:
            create: Any = self._endpoint.client.embeddings.with_streaming_response.create
            return create(model=self._model, input=list(texts), encoding_format="float", timeout=seconds)

        def refused(error: "openai.APIStatusError") -> Failure:
            return refusal(
                error.status_code,
                error.response.headers.get("retry-after"),
                naming="ASSOMEM_EMBEDDER",
                shortening="texts are sent in pieces of 1,500 characters",
            )

        return requested(
            open_reply,
            lambda reply: _read(body_of(reply, deadline), len(texts)),
            refused=refused,
            slow=self._slow,
            not_read=_NOT_VECTORS,
        )


def _read(answer: Mapping[str, Any], count: int) -> tuple[list[Row], int] | Failure:
    data: object = answer.get("data")
    if not isinstance(data, list):
        return _NOT_VECTORS
    rows: dict[int, Row] = {}
    for at, entry in enumerate(cast("list[object]", data)):
        if not isinstance(entry, dict):
            return _NOT_VECTORS
        given = cast("Mapping[str, Any]", entry)
        index: object = given.get("index", at)
        rows[index if isinstance(index, int) else at] = _row(given.get("embedding"))
    if sorted(rows) != list(range(count)):
        return _NOT_VECTORS
    usage: object = answer.get("usage")
    counted: object = cast("Mapping[str, object]", usage).get("prompt_tokens") if isinstance(usage, dict) else 0
    return [rows[at] for at in range(count)], counted if isinstance(counted, int) else 0


def _row(given: object) -> Row:
    """A vector as numbers, or as some endpoints send it in spite of the request, in base64.

    Raises:
        ValueError: it is neither.
    """
    if isinstance(given, str):
        return np.frombuffer(base64.b64decode(given, validate=True), dtype="<f4").astype(np.float32)
    try:
        row = np.array(given, np.float32)
    except TypeError:
        raise ValueError from None
    if row.ndim != 1 or not row.size:
        raise ValueError
    return row
