"""A language model reads the stored sessions: its clues take the place of those found in words.

Sessions are read by several threads and stored one by one as they come, each in one transaction with its state: cut
short at any moment, a repeat goes on with the sessions that are left.
"""

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from typing import Any

from neo4j import Record

from assomem.clues import NAME_KINDS
from assomem.dialogue import CheckedSession, CheckedUtterance, identity
from assomem.errors import BudgetSpent, InputError, ModelError, ModelFailure
from assomem.extraction import Reading, read_session, source_of
from assomem.graph.clues import NewClue, clue_uid, count_support, embedded, new_clue, write_clues
from assomem.graph.nearest import Known, Neighbours
from assomem.graph.write import check_embedder, compare_embedder
from assomem.models.chat import ChatModel
from assomem.models.embedder import Embedder
from assomem.store import Store, Transaction, load

MOST_FAILURES_IN_A_ROW = 5
"""After so many sessions without an answer the endpoint is taken to be down."""

OF_EVERY_CALL: frozenset[ModelFailure] = frozenset({"key_refused", "not_found"})
"""How a call fails when every other one would, too."""

NO_CHAT_MODEL = (
    "no language model is configured; set ASSOMEM_CHAT_MODEL, and OPENAI_API_KEY or OPENAI_BASE_URL. Without one, the "
    "clues found in words stay in use"
)

_log = logging.getLogger(__name__)


@dataclass
class Extracted:
    """What a call of `extract` did. What it counts is stored."""

    memory: str
    sessions: int = 0
    """Sessions that waited for a language model when it began."""
    done: int = 0
    """Of them read, their clues stored."""
    failed: int = 0
    """Of them with replies that could not be used: marked so, with the reason; they keep the clues they had."""
    left: int = 0
    """Of them still waiting: not begun, without an answer from the model, or changed while they were read."""
    clues: int = 0
    """Clues that the sessions done belong to, each once."""
    rejected: dict[str, int] = field(default_factory=dict[str, int])
    """Clues the model proposed that were left out, by reason."""
    problems: dict[str, str] = field(default_factory=dict[str, str])
    """Session id → why it was not read, for those that failed and those that got no answer."""
    usage: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("calls", "input_tokens", "output_tokens"), 0))
    """calls, input_tokens, output_tokens of the language model."""
    degraded: list[str] = field(default_factory=list[str])
    """What did not work as configured, in words."""
    milliseconds: dict[str, float] = field(default_factory=dict[str, float])
    """Time spent, `total`."""
    touched_clues: set[str] = field(default_factory=set[str], repr=False)
    """Uids of those clues."""

    def add(self, later: "Extracted") -> None:
        """Count in what a later call did for the same memory."""
        self.sessions = self.done + self.failed + later.sessions
        self.done += later.done
        self.failed += later.failed
        self.left = later.left
        self.touched_clues |= later.touched_clues
        self.clues = len(self.touched_clues)
        self.rejected = dict(sorted((Counter(self.rejected) + Counter(later.rejected)).items()))
        self.problems |= later.problems
        self.usage = {name: self.usage.get(name, 0) + count for name, count in later.usage.items()}
        self.degraded += [one for one in later.degraded if one not in self.degraded]
        total = self.milliseconds.get("total", 0.0) + later.milliseconds.get("total", 0.0)
        self.milliseconds = {"total": round(total, 1)}

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return {
            "memory": self.memory,
            "sessions": self.sessions,
            "done": self.done,
            "failed": self.failed,
            "left": self.left,
            "clues": self.clues,
            "rejected": dict(self.rejected),
            "problems": dict(self.problems),
            "usage": dict(self.usage),
            "degraded": list(self.degraded),
            "milliseconds": dict(self.milliseconds),
        }


@dataclass(frozen=True, slots=True)
class _Read:
    """A session as it was when a language model read it."""

    session: CheckedSession
    reading: Reading
    unanswered: str | None = None
    """Why the model gave no answer."""
    stop: str | None = None
    """Why no other session should be begun."""


def waiting_sessions(store: Store, memory: str, *, failed: bool = True) -> list[str]:
    """Ids of the sessions that a language model has not read yet, or could not (`failed`), oldest first."""
    return [row["session_id"] for row in store.read(load("graph/clue_states"), memory=memory) if _waits(row, failed)]


def _waits(row: Record, failed: bool) -> bool:
    if row["clue_state"] == "failed":
        return failed
    return row["clue_state"] == "pending" or row["clue_source"] in ("words", None)


def extract_clues(
    store: Store,
    memory: str,
    chat: ChatModel,
    embedder: Embedder,
    neighbours: Neighbours,
    *,
    session_id: str | None = None,
    again: bool = False,
    retry_failed: bool = True,
    budget_tokens: int | None = None,
    window_tokens: int = 3000,
    workers: int = 4,
    progress: Callable[[int], None] | None = None,
) -> Extracted:
    """Have a language model read the sessions that wait for it, and store the clues it finds.

    Args:
        store: the database.
        memory: name of a memory that is there.
        chat: the language model.
        embedder: gives the vectors of clues.
        neighbours: what this process knows of the memory's vectors.
        session_id: only this session.
        again: also sessions that a language model has read, or that came with clues. They are marked as waiting
            first, so that a plain repeat goes on when this call is cut short.
        retry_failed: also sessions whose replies could not be used earlier.
        budget_tokens: no session is begun once the model has taken or given so many, as its endpoint counts.
        window_tokens: about so much of a session is shown at once.
        workers: sessions read at the same time.
        progress: told of each session that is finished with.

    Raises:
        InputError: there is no session of that id.
        EmbedderMismatch: the memory was built with another embedder.
        StoreError: Neo4j refused; the sessions reported to `progress` are stored.
    """
    begun = time.perf_counter()
    check_embedder(store, memory, embedder)
    chosen = _chosen(store, memory, session_id, again=again, retry_failed=retry_failed)
    done = Extracted(memory, sessions=len(chosen), left=len(chosen))
    source = source_of(chat)
    rejected: Counter[str] = Counter()
    waiting = deque(chosen)
    running: dict[Future[_Read | None], str] = {}
    in_a_row = 0
    stop: str | None = None
    while waiting or running:
        while waiting and len(running) < workers and stop is None:
            one = waiting.popleft()
            running[_started(lambda one=one: _read(store, memory, one, chat, window_tokens))] = one
        if not running:
            break
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            one = running.pop(future)
            read = future.result()
            if read is not None:
                rejected += read.reading.rejected
                done.usage["calls"] += read.reading.calls
                done.usage["input_tokens"] += read.reading.input_tokens
                done.usage["output_tokens"] += read.reading.output_tokens
                in_a_row = in_a_row + 1 if read.unanswered is not None else 0
                _settle(store, memory, read, source, embedder, neighbours, done)
                stop = stop or read.stop
            else:  # forgotten meanwhile
                done.left -= 1
            if progress is not None:
                progress(1)
        stop = stop or _reason_to_stop(done, in_a_row, budget_tokens, len(running))
    done.clues = len(done.touched_clues)
    done.rejected = dict(sorted(rejected.items()))
    if stop is not None and waiting:
        left = f"{len(waiting):,} sessions were" if len(waiting) > 1 else "1 session was"
        done.degraded.append(f"{stop}; {left} not begun: the next assomem extract goes on there")
    done.milliseconds["total"] = round((time.perf_counter() - begun) * 1000, 1)
    _log.log(
        logging.INFO if chosen else logging.DEBUG,
        "extract: %d sessions, %d done, %d failed, %d left, %d clues, %d rejected, %d calls, %.0f ms",
        done.sessions, done.done, done.failed, done.left, done.clues, rejected.total(), done.usage["calls"],
        done.milliseconds["total"],
    )  # fmt: skip
    return done


def _chosen(store: Store, memory: str, session_id: str | None, *, again: bool, retry_failed: bool) -> list[str]:
    rows = store.read(load("graph/clue_states"), memory=memory)
    if session_id is not None:
        rows = [row for row in rows if row["session_id"] == session_id]
        if not rows:
            raise InputError(
                f"extract: memory {memory!r} has no session {session_id!r}; assomem sessions lists those there are"
            )
    chosen = [row["session_id"] for row in rows if again or _waits(row, retry_failed)]
    if again and chosen:
        store.write(load("graph/mark_pending"), memory=memory, session_ids=chosen)
    return chosen


def _reason_to_stop(done: Extracted, in_a_row: int, budget_tokens: int | None, running: int) -> str | None:
    """Why no other session should be begun; None when one may."""
    if in_a_row >= MOST_FAILURES_IN_A_ROW:
        return f"the language model gave no answer for {in_a_row} sessions in a row, so it was asked no more"
    spent = done.usage["input_tokens"] + done.usage["output_tokens"]
    # What is under way will cost about what those before it did.
    finished = done.sessions - done.left
    if budget_tokens is None or spent + running * (spent // finished if finished else 0) < budget_tokens:
        return None
    return f"the budget of {budget_tokens:,} tokens is used up"


def _started(work: Callable[[], "_Read | None"]) -> "Future[_Read | None]":
    """Run work in a thread of its own that never holds up the end of the process: a call may take minutes."""
    future: Future[_Read | None] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001  (raised again where the result is taken)
            future.set_exception(error)

    threading.Thread(target=run, name="assomem extract", daemon=True).start()
    return future


def _read(store: Store, memory: str, session_id: str, chat: ChatModel, window_tokens: int) -> _Read | None:
    """A session read by the language model; None when it is not there any more."""
    session = stored_session(store, memory, session_id)
    if session is None:
        return None
    reading = Reading()
    try:
        read_session(session, chat, window_tokens=window_tokens, reading=reading)
    except BudgetSpent as error:
        return _Read(session, reading, stop=str(error))
    except ModelError as error:
        if error.kind == "filtered":  # it is about this session, and would be the same again
            reading.failure = str(error)
            return _Read(session, reading)
        hint = "; ASSOMEM_EXTRACTION_TOKENS says how much of a session is shown at once"
        why = f"{error}{hint if error.kind == 'too_long' else ''}"
        stop = f"every call would fail so: {error}" if error.kind in OF_EVERY_CALL else None
        return _Read(session, reading, why, stop)
    return _Read(session, reading)


def stored_session(store: Store, memory: str, session_id: str) -> CheckedSession | None:
    """A session as it is stored; None when there is none, or nothing in it."""
    rows = store.read(load("graph/read_session"), memory=memory, session_id=session_id)
    if not rows or not rows[0]["utterance_ids"]:
        return None
    row = rows[0]
    return CheckedSession(
        session_id,
        row["title"],
        None if row["started_at"] is None else row["started_at"].to_native(),
        tuple(
            CheckedUtterance(utterance_id, session_id, speaker, text, None if said_at is None else said_at.to_native())
            for utterance_id, speaker, text, said_at in zip(
                row["utterance_ids"], row["speakers"], row["texts"], row["said_at"], strict=True
            )
        ),
    )


def _settle(
    store: Store,
    memory: str,
    read: _Read,
    source: str,
    embedder: Embedder,
    neighbours: Neighbours,
    done: Extracted,
) -> None:
    """Store what was read, or why nothing was."""
    session_id = read.session.session_id
    if read.stop is not None and read.unanswered is None:  # it was not asked for
        return
    why = read.unanswered or read.reading.failure
    if why is not None:
        state = "pending" if read.unanswered is not None else "failed"
        store.write(load("graph/mark_unread"), memory=memory, session_id=session_id, clue_state=state, why=why)
        done.problems[session_id] = why
        done.failed += read.unanswered is None
        done.left -= read.unanswered is None
        return
    clues = store_clues(store, memory, read.session, read.reading, source, embedder, neighbours)
    if clues is None:
        done.problems[session_id] = "it changed while it was read, and waits to be read as it is now"
        return
    done.touched_clues |= clues
    done.done += 1
    done.left -= 1


def store_clues(
    store: Store,
    memory: str,
    session: CheckedSession,
    reading: Reading,
    source: str,
    embedder: Embedder,
    neighbours: Neighbours,
) -> set[str] | None:
    """Write the clues that a language model found in a session, in one transaction with the session's state.

    They replace earlier ones of a model, and of those found in words topics, phrases, and names of which the model says
    that they are names of something else. Without any clues, all of these stay.

    Returns:
        The uids of the clues; None, and nothing is written, when the session has other utterances by now.
    """
    uids = [identity(memory, one.utterance_id) for one in session.utterances]
    clues = [
        new_clue(memory, clue.kind, clue.text, clue.weight, [uids[anchor] for anchor in clue.anchors], "model")
        for clue in reading.clues
    ]
    # All of them: what is stored now may be deleted a moment before it is written anew.
    vectors = embedded(clues, embedder)

    def work(transaction: Transaction) -> tuple[tuple[str, int], Known, set[str]] | None:
        # Unlike a write of utterances this makes no memory: what was forgotten meanwhile stays forgotten.
        states = transaction.run(load("graph/lock_memory"), memory=memory)
        now = transaction.run(load("graph/session_state"), memory=memory, session_id=session.session_id)
        if not states or states[0]["forgetting"] or not now or now[0]["uids"] != uids:
            return None
        state = states[0]
        compare_embedder(memory, state, embedder)
        key, revision = str(state["key"]), int(state["revision"])
        known = neighbours.take(transaction, memory, (key, revision - 1), embedder.dimensions, state["next_ordinal"])
        written: set[str] = set()
        if clues:
            kept = _unanchored(transaction, memory, session.session_id, clues, known)
            written = write_clues(transaction, memory, clues, vectors, embedder, known)
            count_support(transaction, memory, written | kept)
            _forget_deleted(transaction, memory, kept - written, known)
        transaction.run(
            load("graph/write_clue_state"), memory=memory, session_id=session.session_id, clue_source=source
        )
        return (key, revision), known, written

    stored = store.transaction(work)
    if stored is None:
        return None
    revision, known, written = stored
    neighbours.give(memory, revision, known)
    return written


def _unanchored(
    transaction: Transaction, memory: str, session_id: str, clues: Sequence[NewClue], known: Known
) -> set[str]:
    """Take a session off the clues that these replace; what nothing supports any more is deleted.

    Returns:
        Clues that may be without support now and are kept all the same until the new ones are written: they come back
        as they were, with their links; or a person merged others into them, and those may come back.
    """
    # A model knows better than capitals whether Georgia is a person; as both, it may be both.
    names = {clue.uid: clue for clue in clues if clue.kind in NAME_KINDS}
    corrected = {clue_uid(memory, kind, clue.text) for clue in names.values() for kind in NAME_KINDS} - names.keys()
    rows = transaction.run(load("graph/unanchor"), memory=memory, session_id=session_id, corrected=sorted(corrected))
    touched = {row["uid"] for row in rows}
    coming = {clue.uid for clue in clues}
    kept = {row["uid"] for row in rows if row["aliased"] or row["uid"] in coming}
    count_support(transaction, memory, touched - kept)
    _forget_deleted(transaction, memory, touched - kept, known)
    return kept


def _forget_deleted(transaction: Transaction, memory: str, uids: set[str], known: Known) -> None:
    """Take the vectors of those clues out of what is known that are not stored any more."""
    if uids:
        rows: Sequence[Record] = transaction.run(load("graph/known_clues"), memory=memory, uids=sorted(uids))
        known.remove_clues(uids - {row["uid"] for row in rows if row["there"]})
