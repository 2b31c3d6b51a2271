"""START HERE: AssoMem, a memory of dialogues: remember, search, ask, forget.

    remember    dialogue.check → graph.write           utterances, clues and links, once each
    search      question → candidates → signals → fusion → evidence
    ask         search → answer                        cited, or "not in memory"
    forget      graph.forget                           with everything that hangs on it

Each step is a module of its own; this one joins them and holds what a process keeps between calls.
"""

import logging
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from types import TracebackType
from typing import Any, Self
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from assomem import graph, store, walk
from assomem.answer import Citation, write_answer
from assomem.candidates import Candidates, Filters, Layouts, MemoryState, find, token_vectors
from assomem.clues import ReadyMadeClue
from assomem.dialogue import Session, Utterance, check_memory_name, check_sessions, identity
from assomem.errors import ClosedError, InputError, TimezoneNeeded, UnknownMemory
from assomem.evidence import Evidence, Explanation, SearchResult, convincing, explain_in_words
from assomem.fusion import Fused, Preset, fuse, weights_for
from assomem.graph import Forgotten, Neighbours, Remembered
from assomem.models.chat import ChatModel, open_chat_model
from assomem.models.embedder import Embedder, open_embedder
from assomem.question import Question, understand
from assomem.settings import Settings, read_settings
from assomem.signals import importance, relevance, temporal
from assomem.store import Store, load
from assomem.times import end_of_day

LATE_CANDIDATES = 50
"""Late interaction re-ranks so many: of the final ten, 0.2 % stood lower before it."""

WALK_DAMPING = 0.5
WALK_ITERATIONS = 20
"""Damping and iterations of the default walk: 0.5^20 is below 1e-6."""

PAPER_DAMPING = 0.85
PAPER_ITERATIONS = 50
"""d of the paper, and iterations after which its ranks move by less than 3e-4."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Answer:
    """An answer with the evidence it rests on."""

    text: str
    citations: tuple[Citation, ...]
    """The markers `[n]` of the text, each with the utterance it stands for."""
    evidence: tuple[Evidence, ...]
    abstained: bool
    """True: the memory does not hold the answer; `evidence` then holds the nearest misses."""
    degraded: tuple[str, ...]
    usage: Mapping[str, int]
    """input_tokens, output_tokens of the language model."""
    result: SearchResult
    """The search behind it."""

    def as_json(self) -> dict[str, Any]:
        """The answer as plain values: what a search gives, and answer, citations, abstained, usage."""
        return self.result.as_json() | {
            "answer": self.text,
            "citations": [{"marker": one.marker, "utterance_id": one.utterance_id} for one in self.citations],
            "abstained": self.abstained,
            "degraded": list(self.degraded),
            "usage": dict(self.usage),
        }


class AssoMem:
    """One memory in one database. Safe to share between threads; close it, or use it as a context manager."""

    def __init__(
        self,
        memory: str = "default",
        *,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        chat: ChatModel | None = None,
        progress: bool = False,
    ) -> None:
        """Name a memory; the database is reached on first use, and a memory begins with its first write.

        Args:
            memory: its name, 1 to 128 characters.
            settings: everything else; read from the environment and `.env` by default.
            embedder: in place of the one that the settings name.
            chat: the language model that writes answers, in place of the one that the settings name.
            progress: show downloads and long work on stderr.

        Raises:
            InputError: the name cannot be used.
            SettingsError: a setting is wrong.
        """
        self.memory = check_memory_name(memory)
        self.settings = settings or read_settings()
        self._given_embedder = embedder
        self._given_chat = chat
        self._progress = progress
        self._neighbours = Neighbours()
        self._layouts = Layouts()
        self._closed = False

    # -- writing

    def remember(
        self,
        sessions: Iterable[Session],
        *,
        timezone: str | None = None,
        clues: Iterable[ReadyMadeClue] = (),
        progress: Callable[[int], None] | None = None,
    ) -> Remembered:
        """Store sessions verbatim. What is stored already stays; a session may grow; all is checked before a write.

        Args:
            sessions: in any order.
            timezone: IANA name in which times without a zone are read; default: the setting.
            clues: ready-made clues, used in place of extraction for the sessions they name.
            progress: told how many more utterances are done.

        Raises:
            InputError: something cannot be stored, and nothing was; see `dialogue.check_sessions`.
            EmbedderMismatch: the memory was built with another embedder; nothing was written.
        """
        checked = check_sessions(
            sessions,
            timezone_name=timezone or self.settings.timezone,
            max_text_characters=self.settings.max_text_characters,
        )
        ready_made: dict[str, list[ReadyMadeClue]] = {}
        for clue in clues:
            ready_made.setdefault(clue.session_id, []).append(clue)
        return graph.write(
            self._store, self.memory, checked, self._embedder, self._neighbours,
            ready_made=ready_made, progress=progress,
        )  # fmt: skip

    def append(self, session_id: str, utterance: Utterance, *, timezone: str | None = None) -> Remembered:
        """Add one turn to a session, which may be new. A repeat changes nothing only if it carries an utterance id.

        Raises:
            InputError: the utterance cannot be stored.
            EmbedderMismatch: the memory was built with another embedder.
        """
        return graph.append(
            self._store, self.memory,
            check_sessions(
                [Session(session_id, [utterance])],
                timezone_name=timezone or self.settings.timezone,
                max_text_characters=self.settings.max_text_characters,
            )[0],
            self._embedder, self._neighbours, has_id=utterance.utterance_id is not None,
        )  # fmt: skip

    # -- asking

    def search(
        self,
        question: str,
        *,
        asked_at: datetime | None = None,
        k: int = 10,
        preset: Preset | None = None,
        speaker: str | None = None,
        session: str | None = None,
        after: datetime | None = None,
        before: datetime | None = None,
    ) -> SearchResult:
        """The utterances that best support an answer.

        Args:
            question: in words.
            asked_at: when it is asked, with a zone; relative words are read from there, and nothing said after the
                end of that day is found. Default: now.
            k: how many pieces of evidence, 1 to 600.
            preset: `default` or `paper`; default: the setting.
            speaker: only what this speaker said (case does not count).
            session: only this session.
            after: only what was said at this moment or later.
            before: only what was said before this moment.

        Raises:
            UnknownMemory: there is no such memory; names the ones there are.
            InputError: the question or an option cannot be used.
        """
        clock = _Clock()
        filters = self._filters(asked_at, speaker=speaker, session=session, after=after, before=before)
        ranked = self._rank(question, filters, _checked_k(k), preset, clock)
        return self._result(ranked, k, clock)

    def ask(
        self,
        question: str,
        *,
        asked_at: datetime | None = None,
        k: int = 10,
        preset: Preset | None = None,
        speaker: str | None = None,
        session: str | None = None,
        after: datetime | None = None,
        before: datetime | None = None,
    ) -> Answer:
        """An answer with citations that were checked against the evidence, or "not in memory".

        Without a language model the best evidence is quoted. Arguments and errors as for `search`.
        """
        result = self.search(
            question, asked_at=asked_at, k=k, preset=preset,
            speaker=speaker, session=session, after=after, before=before,
        )  # fmt: skip
        started = time.perf_counter()
        written = write_answer(
            result.question, result.asked_at, result.evidence, self._chat,
            budget_tokens=self.settings.evidence_tokens, confident=result.convincing,
        )  # fmt: skip
        milliseconds = (time.perf_counter() - started) * 1000
        _log.info(
            "ask: %d pieces of evidence, abstained %s, %.0f ms",
            len(result.evidence),
            written.abstained,
            milliseconds,
        )
        return Answer(
            text=written.text,
            citations=written.citations,
            evidence=result.evidence,
            abstained=written.abstained,
            degraded=(*result.degraded, *written.degraded),
            usage=written.usage,
            result=result,
        )

    def explain(
        self,
        question: str,
        *,
        utterance_id: str | None = None,
        asked_at: datetime | None = None,
        k: int = 10,
        preset: Preset | None = None,
    ) -> list[Explanation]:
        """Why each piece of evidence was chosen; with `utterance_id` why that one was, or why not.

        Returns:
            One explanation for each of the first k, or exactly one for the utterance.

        Raises:
            InputError: there is no utterance of that id.
        """
        clock = _Clock()
        filters = self._filters(asked_at)
        if utterance_id is not None:
            rows = self._store.read(
                load("candidates/ordinal"), memory=self.memory, uid=identity(self.memory, utterance_id)
            )
            if not rows and self._state():
                raise InputError(f"utterance {utterance_id!r}: there is none of that id in memory {self.memory!r}")
        ranked = self._rank(question, filters, _checked_k(k), preset, clock, also=utterance_id)
        if utterance_id is None:
            return [ranked.explanation(index, k) for index in ranked.order[:k]]
        return [ranked.explanation(ranked.found.utterance_ids.index(utterance_id), k)]

    # -- forgetting, and looking at what is there

    def forget(
        self, *, session_id: str | None = None, utterance_id: str | None = None, everything: bool = False
    ) -> Forgotten:
        """Delete one session, one utterance, or everything: text, vectors, links, and clues that nothing supports.

        Raises:
            InputError: not exactly one scope, or a blank one; nothing was deleted.
            UnknownMemory: there is no such memory.
        """
        scopes = [scope for scope in (session_id, utterance_id) if scope is not None]
        if len(scopes) + everything != 1 or any(not scope.strip() for scope in scopes):
            raise InputError(
                "forget: name exactly one scope: session_id, utterance_id, or everything=True; nothing was deleted"
            )
        # What was cut short goes on, although such a memory is not found any more.
        self._state(even_forgetting=everything)
        if everything:
            return graph.forget_memory(self._store, self.memory, self._neighbours)
        uids = (
            [identity(self.memory, utterance_id)]
            if utterance_id is not None
            else graph.session_uids(self._store, self.memory, scopes[0])
        )
        return graph.forget_utterances(self._store, self.memory, uids, self._neighbours)

    def memories(self) -> list[dict[str, Any]]:
        """The memories of this database by name, each with counts of utterances, sessions and clues."""
        return _plain(self._store.read(load("memories/list")))

    def sessions(self) -> list[dict[str, Any]]:
        """Sessions, oldest first: session_id, title, started_at, utterances, speakers, topics, clue_state."""
        self._state()
        return _plain(self._store.read(load("memories/sessions"), memory=self.memory))

    def clues(self, *, limit: int = 100) -> list[dict[str, Any]]:
        """Clues, those with the most utterances first: uid, kind, text, wordings, support, sessions."""
        self._state()
        return _plain(self._store.read(load("memories/clues"), memory=self.memory, limit=limit))

    def show(self, session_or_utterance: str) -> list[dict[str, Any]]:
        """The utterances of a session in order, or the one utterance of that id, each with its clues.

        Raises:
            InputError: there is neither.
        """
        self._state()
        name = session_or_utterance
        rows = self._store.read(load("memories/show_session"), memory=self.memory, session_id=name)
        rows = rows or self._store.read(load("memories/show_utterance"), memory=self.memory, utterance_id=name)
        if not rows:
            raise InputError(f"show: memory {self.memory!r} has no session and no utterance {name!r}")
        return _plain(rows)

    def doctor(self) -> list[graph.Problem]:
        """What is wrong with the memories of this database; reads only, and names each check."""
        return graph.check(self._store)

    def close(self) -> None:
        """Close the connections. A second time does nothing; any other use afterwards raises `ClosedError`."""
        self._closed = True
        # Not through the property: closing what was never used must start no server.
        if "_store" in self.__dict__:
            self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # -- the ranking: question → candidates → signals → fusion

    def _rank(
        self,
        text: str,
        filters: Filters,
        k: int,
        preset: Preset | None,
        clock: "_Clock",
        also: str | None = None,
    ) -> "_Ranked":
        name = preset or self.settings.preset
        with clock("memory"):
            state = self._state()
            graph.check_embedder(self._store, self.memory, self._embedder)
        with clock("question"):
            question = understand(
                text, filters.asked_at, self._embedder, max_characters=self.settings.max_question_characters
            )
        with clock("candidates"):
            found = find(self._store, state, question, filters, self._layouts, clues_only=name == "paper", also=also)
        degraded = [] if question.embedding is not None else [_NO_VECTOR]
        if not found.total and state.utterances:
            degraded.append(_ALL_FILTERED)
        weights = weights_for(name, state.kind, self.settings.weights)
        rank = self._paper_signals if name == "paper" else self._default_signals
        closeness: dict[int, float] = {}
        fused = fuse(rank(state, question, found, filters, degraded, closeness, clock, weights), weights)
        return _Ranked(state, question, found, fused, degraded, closeness)

    def _default_signals(
        self,
        state: MemoryState,
        question: Question,
        found: Candidates,
        filters: Filters,
        degraded: list[str],
        closeness: dict[int, float],
        clock: "_Clock",
        weights: Mapping[str, Mapping[str, float]],
    ) -> dict[str, NDArray[np.float64]]:
        with clock("temporal"):
            said = temporal.said_alignment(question.intervals, found.instants)
            meant = temporal.meant_alignment(question.intervals, found.means)
        with clock("relevance"):
            readings = relevance.readings(question, found, assistant=state.kind.startswith("assistant"))
            readings |= {"said": said, "meant": meant}
            first = fuse(readings, weights).scores
            best = np.argsort(-first, kind="stable")[:LATE_CANDIDATES]
            if question.embedding is not None and question.embedding.token_vectors is None:
                degraded.append(_NO_TOKENS)
            elif question.embedding is not None:
                tokens = token_vectors(self._store, state, found.ordinals[best].tolist())
                closeness |= relevance.late_interaction(
                    question.embedding, tokens, found.words.document_frequency, state.utterances
                )
                late = [closeness.get(ordinal, np.nan) for ordinal in found.ordinals.tolist()]
                readings["late interaction"] = relevance.scaled(np.array(late, np.float64))
        with clock("importance"):
            shares = importance.seed_shares(fuse(readings, weights).scores)
            pairs = walk.shared_clues(self._store, state, question, found)
            readings["clue walk"] = np.zeros(len(found))
            if pairs:
                way = importance.symmetric_walk(pairs, shares)
                ranks, says = walk.pagerank(
                    self._store, state, way.sources, way.targets, way.weights, dict(way.seeds),
                    nodes=way.nodes, damping=WALK_DAMPING, iterations=WALK_ITERATIONS,
                )  # fmt: skip
                degraded.extend([] if says is None else [says])
                readings["clue walk"] = relevance.scaled(importance.carried(pairs, shares, ranks, WALK_DAMPING))
        return readings

    def _paper_signals(
        self,
        state: MemoryState,
        question: Question,
        found: Candidates,
        filters: Filters,
        degraded: list[str],
        closeness: dict[int, float],
        clock: "_Clock",
        weights: Mapping[str, Mapping[str, float]],
    ) -> dict[str, NDArray[np.float64]]:
        with clock("relevance"):
            cosine = relevance.scaled(found.cosine)
        with clock("importance"):
            ranks, says = walk.paper_importance(
                self._store,
                state,
                question,
                found,
                filters.until,
                damping=PAPER_DAMPING,
                iterations=PAPER_ITERATIONS,
            )
            degraded.extend([] if says is None else [says])
        with clock("temporal"):
            said = [() if np.isnan(at) else ((float(at), float(at)),) for at in found.instants]
            times = [(*means, *point) for means, point in zip(found.means, said, strict=True)]
            interval = temporal.paper_alignment(question.intervals, times)
        return {"cosine": cosine, "pagerank": relevance.scaled(ranks), "interval": relevance.scaled(interval)}

    def _result(self, ranked: "_Ranked", k: int, clock: "_Clock") -> SearchResult:
        chosen = ranked.order[:k]
        with clock("evidence"):
            ordinals = ranked.found.ordinals[chosen].tolist()
            rows = self._store.read(load("evidence/clues"), memory=self.memory, ordinals=ordinals)
            clues = {row["ordinal"]: tuple(row["clues"]) for row in rows}
        evidence = tuple(ranked.piece(index, rank, clues) for rank, index in enumerate(chosen, start=1))
        words = ranked.found.words
        best = {
            term
            for term, counts in words.counts.items()
            for ordinal in ordinals[:3]
            if ordinal < len(counts) and counts[ordinal] > 0
        }
        return SearchResult(
            memory=self.memory,
            question=ranked.question.text,
            asked_at=ranked.question.asked_at,
            question_type=ranked.question.types,
            intervals=ranked.question.intervals,
            weights=ranked.fused.signal_weights,
            evidence=evidence,
            convincing=bool(evidence)
            and convincing(words.document_frequency, best, ranked.state.utterances, ranked.closeness.get(ordinals[0])),
            degraded=tuple(ranked.degraded),
            milliseconds=clock.parts(),
        )

    # -- what is opened on first use

    @cached_property
    def _store(self) -> Store:
        from assomem.server import locate

        if self._closed:
            raise ClosedError("this memory was closed; open a new one")
        address = locate(self.settings, progress=self._progress)
        opened = Store(
            address.uri,
            username=address.username,
            password=address.password,
            database=address.database,
            timeout_seconds=self.settings.query_timeout_seconds,
        )
        try:
            store.prepare(opened)
        except BaseException:
            opened.close()
            raise
        return opened

    @cached_property
    def _embedder(self) -> Embedder:
        return self._given_embedder or open_embedder(self.settings, progress=self._progress)

    @cached_property
    def _chat(self) -> ChatModel | None:
        return self._given_chat or open_chat_model(self.settings)

    def _state(self, *, even_forgetting: bool = False) -> MemoryState:
        rows = self._store.read(load("memories/state"), memory=self.memory)
        if not rows or (rows[0]["forgetting"] and not even_forgetting):
            names = [row["memory"] for row in self._store.read(load("memories/list"))]
            there = f"there are: {', '.join(map(repr, names[:20]))}" if names else "there are none yet"
            raise UnknownMemory(
                f"memory {self.memory!r}: there is no memory of that name; {there}. A memory begins with its first "
                "write: assomem import, or AssoMem.remember"
            )
        row = rows[0]
        return MemoryState(
            self.memory, row["key"], row["revision"], row["dimensions"],
            row["utterances"], row["dated"], row["assistant"],
        )  # fmt: skip

    def _filters(
        self,
        asked_at: datetime | None,
        *,
        speaker: str | None = None,
        session: str | None = None,
        after: datetime | None = None,
        before: datetime | None = None,
    ) -> Filters:
        zone = None if self.settings.timezone is None else ZoneInfo(self.settings.timezone)
        moment = datetime.now(zone).astimezone(zone) if asked_at is None else asked_at
        for name, given in (("asked_at", moment), ("after", after), ("before", before)):
            if given is not None and given.utcoffset() is None:
                raise TimezoneNeeded(f"{name}: has no zone; give one, for example datetime(..., tzinfo=UTC)")
        for name, value in (("speaker", speaker), ("session", session)):
            if value is not None and not value.strip():
                raise InputError(f"{name}: is empty; leave it out to search everything")
        return Filters(moment, end_of_day(moment), after, before, speaker, session)


@dataclass(frozen=True)
class _Ranked:
    """All candidates of a question with their scores."""

    state: MemoryState
    question: Question
    found: Candidates
    fused: Fused
    degraded: list[str]
    closeness: Mapping[int, float]
    """Late interaction of the best candidates as it was measured, -1..1, by ordinal; empty without it."""

    @cached_property
    def order(self) -> list[int]:
        """Indices of the candidates, best first; ties by the time they were stored. Those on no list are left out."""
        order = np.argsort(-self.fused.scores, kind="stable").tolist()
        return [index for index in order if self.found.found_by[index]]

    def piece(self, index: int, rank: int, clues: Mapping[int, tuple[str, ...]]) -> Evidence:
        """One candidate as evidence."""
        found = self.found
        return Evidence(
            rank=rank,
            uid=found.uids[index],
            utterance_id=found.utterance_ids[index],
            session_id=found.session_ids[index],
            speaker=found.speakers[index],
            said_at=found.said_at[index],
            text=found.texts[index],
            score=float(self.fused.scores[index]),
            signals=self.fused.signals(index),
            clues=clues.get(int(found.ordinals[index]), ()),
            contributions=self.fused.contributions(index),
        )

    def explanation(self, index: int, k: int) -> Explanation:
        """Why one candidate stands where it does."""
        rank = self.order.index(index) + 1 if self.found.found_by[index] else None
        said_at = self.found.said_at[index]
        lost_at = None
        if rank is None:
            late = said_at is not None and said_at >= end_of_day(self.question.asked_at)
            lost_at = "filtered by time: said after the day of the question" if late else "not in any list"
        elif rank > k:
            lost_at = f"cut by the budget: the first {k} are evidence"
        score, contributions = float(self.fused.scores[index]), self.fused.contributions(index)
        return Explanation(
            question=self.question.text,
            utterance_id=self.found.utterance_ids[index],
            rank=rank,
            score=score,
            contributions=contributions,
            lost_at=lost_at,
            says=explain_in_words(rank, lost_at, contributions, score),
        )


@dataclass
class _Clock:
    """Milliseconds spent, by part."""

    started: float = field(default_factory=time.perf_counter)
    spent: dict[str, float] = field(default_factory=dict[str, float])

    @contextmanager
    def __call__(self, part: str) -> Generator[None]:
        begun = time.perf_counter()
        yield
        self.spent[part] = self.spent.get(part, 0.0) + (time.perf_counter() - begun) * 1000

    def parts(self) -> dict[str, float]:
        """The parts and their total, rounded to a tenth."""
        total = (time.perf_counter() - self.started) * 1000
        return {part: round(spent, 1) for part, spent in (*self.spent.items(), ("total", total))}


_NO_VECTOR = "the embedder gave no usable vector for the question: it was answered by words, time and speaker alone"
_ALL_FILTERED = (
    "nothing in this memory passes the filters: speaker, session, after, before, and the day of asked_at; "
    "assomem sessions lists what is there"
)
_NO_TOKENS = (
    "late interaction is off: the embedder gives no token vectors. ASSOMEM_EMBEDDER=e5-small-v2 does; its weight was "
    "shared out among the other readings"
)


def _checked_k(k: int) -> int:
    if not 1 <= k <= 600:
        raise InputError(f"k: must be 1 to 600, not {k}")
    return k


def _plain(rows: Sequence[Any]) -> list[dict[str, Any]]:
    """Rows as dictionaries, Neo4j's times as datetimes."""
    return [
        {key: value.to_native() if hasattr(value, "to_native") else value for key, value in row.items()} for row in rows
    ]
