"""AssoMem itself as a method: a temporary memory in Neo4j, filled, searched and deleted.

Whatever happens, no memory is written, changed or deleted that an evaluation did not make: each is marked in the very
transaction that creates it, and a name that is taken by an unmarked memory is refused.
"""

import secrets
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from filelock import FileLock, Timeout

from assomem import graph
from assomem.clues import ReadyMadeClue
from assomem.dialogue import MAX_NAME_CHARACTERS, Session, check_sessions
from assomem.errors import InputError
from assomem.evaluation.datasets import LabelledMemory, LabelledQuestion
from assomem.evaluation.features import QuestionFeatures, features_of
from assomem.evaluation.files import key_of
from assomem.fusion import Preset
from assomem.memory import AssoMem
from assomem.models.chat import ChatModel
from assomem.models.embedder import Embedder
from assomem.ranking import Ranked
from assomem.settings import Settings
from assomem.store import Transaction, load


class TemporaryMemory(AssoMem):
    """A memory of an evaluation. `begin` it, `fill` it, search it, `end` it."""

    _last: Ranked | None = None

    def begin(self) -> None:
        """Make the memory, empty and marked. One of that name that an earlier evaluation left is deleted first.

        Raises:
            InputError: the name is taken by a memory that no evaluation made; it was not touched.
        """
        if self._there():
            self.end()

        def work(transaction: Transaction) -> None:
            rows = transaction.run(load("evaluation/is_temporary"), memory=self.memory)
            if rows:
                raise _taken(self.memory)
            transaction.run(
                load("graph/make_memory"),
                memory=self.memory,
                key=secrets.token_hex(6),
                embedder=self._embedder.fingerprint,
                embedder_name=self._embedder.name,
                dimensions=self._embedder.dimensions,
            )
            transaction.run(load("evaluation/mark_temporary"), memory=self.memory)

        self._store.transaction(work)

    def fill(
        self,
        sessions: Sequence[Session],
        clues: Mapping[str, Sequence[ReadyMadeClue]],
        progress: Callable[[int], None] | None = None,
    ) -> None:
        """Store sessions; those named in `clues` get these clues, perhaps none, the others their own.

        Raises:
            InputError: the memory is not one of an evaluation, or something cannot be stored.
        """
        if not self._there():
            raise InputError(f"memory {self.memory!r}: was not begun")
        checked = check_sessions(sessions, timezone_name="UTC", max_text_characters=self.settings.max_text_characters)
        graph.write(
            self._store, self.memory, checked, self._embedder, self._neighbours, ready_made=clues, progress=progress
        )

    def end(self) -> None:
        """Delete the memory; nothing when it is gone already.

        Raises:
            InputError: the name is taken by a memory that no evaluation made; it was not touched.
        """
        if self._there():
            self.forget(everything=True)

    def ranked(
        self, question: LabelledQuestion, k: int, preset: Preset, group: str
    ) -> tuple[tuple[str, ...], tuple[str, ...], QuestionFeatures]:
        """What `search` finds for a question: utterance ids, what was degraded, and the readings behind it."""
        result = self.search(question.text, asked_at=question.asked_at, k=k, preset=preset)
        assert self._last is not None
        last = self._last
        return (
            tuple(one.utterance_id for one in result.evidence),
            result.degraded,
            features_of(question, group, last.state.kinds, last.found, last.readings, result.question_type),
        )

    def _rank(self, *given: Any, **named: Any) -> Ranked:
        # Kept for `ranked`, so that the readings are those of the very search that was measured.
        self._last = super()._rank(*given, **named)
        return self._last

    def _there(self) -> bool:
        """Whether the memory exists, being one of an evaluation.

        Raises:
            InputError: it exists and is not.
        """
        rows = self._store.read(load("evaluation/is_temporary"), memory=self.memory)
        if rows and not rows[0]["temporary"]:
            raise _taken(self.memory)
        return bool(rows)


@contextmanager
def temporary_memory(
    memory: LabelledMemory,
    settings: Settings,
    embedder: Embedder,
    clues: str,
    progress: Callable[[int], None] | None = None,
    chat: ChatModel | None = None,
) -> Generator[TemporaryMemory]:
    """A filled memory, deleted at the end. Its name begins `evaluation` and a token of what is in it.

    Its answers are written by `chat`; by nobody without one, whatever the settings name.

    Raises:
        InputError: another process measures the same data, or the name is taken.
    """
    token = key_of(memory.digest, clues, embedder.fingerprint)[:8]
    name = f"evaluation {token} {memory.name}"[:MAX_NAME_CHARACTERS]
    locks = settings.cache / "evaluation" / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    lock = FileLock(locks / f"{token}.lock", timeout=0)
    try:
        lock.acquire()
    except Timeout:
        raise InputError(f"{memory.name}: another evaluation of this data is running; wait until it is done") from None
    try:
        silent = settings.model_copy(update={"chat_model": None})
        with TemporaryMemory(name, settings=silent, embedder=embedder, chat=chat) as opened:
            opened.begin()
            try:
                opened.fill(memory.sessions, clues_of(memory, clues), progress)
                yield opened
            finally:
                opened.end()
    finally:
        lock.release()


def clues_of(memory: LabelledMemory, mode: str) -> dict[str, list[ReadyMadeClue]]:
    """Clues by session id in place of extracted ones: `none` names every session with none, `built-in` no session."""
    if mode == "none":
        return {session.session_id: [] for session in memory.sessions}
    ready: dict[str, list[ReadyMadeClue]] = {}
    if mode == "ready":
        for clue in memory.clues:
            ready.setdefault(clue.session_id, []).append(clue)
    return ready


def _taken(name: str) -> InputError:
    return InputError(f"memory {name!r}: exists and was not made by an evaluation; it was not touched")
