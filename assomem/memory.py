"""START HERE: AssoMem, a memory of dialogues: remember, search, ask, forget.

    remember    dialogue.check → graph.write           utterances, clues and links, once each
    extract     extraction → graph.extract             clues by a language model, in place of those found in words
    search      ranking: question → candidates → signals → fusion → evidence
    ask         search → answer                        cited, or "not in memory"
    forget      graph.forget                           with everything that hangs on it

Each step is a module of its own; this one joins them and holds what a process keeps between calls.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypedDict, Unpack, overload
from zoneinfo import ZoneInfo

from assomem import graph, store
from assomem.analytics import AnalyticsResult, check_analytics, list_analytics, run_analytics
from assomem.answer import Citation, Claim, Context, Found, Written, look_further, stream_answer, write_answer
from assomem.candidates import Filters, Layouts, MemoryState
from assomem.clues import ReadyMadeClue
from assomem.dialogue import Session, Utterance, check_memory_name, check_sessions, identity
from assomem.errors import ClosedError, InputError, LoginRefused, SettingsError, TimezoneNeeded, UnknownMemory
from assomem.evidence import Evidence, Explanation, SearchResult
from assomem.fusion import Preset
from assomem.graph import Extracted, Forgotten, Neighbours, Remembered
from assomem.models.chat import ChatModel, open_chat_model
from assomem.models.embedder import Embedder, open_embedder
from assomem.models.langchain import as_chat_model, as_embedder
from assomem.models.metered import metered
from assomem.models.usage import Purpose, forget_replies
from assomem.ranking import Clock, Ranked, Ranker
from assomem.settings import Settings, read_settings
from assomem.store import Store, load
from assomem.times import end_of_day

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

_log = logging.getLogger(__name__)

_NOT_GONE = (
    "close other programs that use the home (assomem status names it) and forget again, or delete models.sqlite3"
)


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
    claims: tuple[Claim, ...]
    """The statements of a text that a model wrote, each with what it cites."""
    searches: tuple[str, ...]
    """What was searched for: the question, and with `hops` what the model looked for next."""
    result: SearchResult
    """The search behind it, with the evidence of all."""

    def as_json(self) -> dict[str, Any]:
        """As a search, with answer, citations, abstained and usage; plain values.

        Where a model wrote the answer also its claims, and after several searches what was searched for.
        """
        plain: dict[str, Any] = self.result.as_json() | {
            "answer": self.text,
            "citations": [{"marker": one.marker, "utterance_id": one.utterance_id} for one in self.citations],
            "abstained": self.abstained,
            "degraded": list(self.degraded),
            "usage": dict(self.usage),
        }
        if self.claims:
            plain["claims"] = [
                {"text": one.text, "markers": list(one.markers), "supported": one.supported} for one in self.claims
            ]
        if len(self.searches) > 1:
            plain["searches"] = list(self.searches)
        return plain


class SearchOptions(TypedDict, total=False):
    """What `search` and `ask` take beside the question; see `AssoMem.search`."""

    asked_at: datetime | None
    k: int
    preset: Preset | None
    speaker: str | None
    session: str | None
    after: datetime | None
    before: datetime | None


class AssoMem:
    """One memory in one database. Safe to share between threads; close it, or use it as a context manager."""

    def __init__(
        self,
        memory: str = "default",
        *,
        settings: Settings | None = None,
        embedder: "Embedder | Embeddings | None" = None,
        chat: "ChatModel | BaseChatModel | None" = None,
        progress: bool = False,
    ) -> None:
        """Name a memory; the database is reached on first use, and a memory begins with its first write.

        Args:
            memory: its name, 1 to 128 characters.
            settings: everything else; read from the environment and `.env` by default.
            embedder: in place of the one that the settings name; of LangChain's, if you like.
            chat: the language model, in place of the one that the settings name; of LangChain's, if you like.
            progress: show downloads and long work on stderr.

        Raises:
            InputError: the name cannot be used.
            SettingsError: a setting is wrong.
        """
        self.memory = check_memory_name(memory)
        self.settings = settings or read_settings()
        self._given_embedder = None if embedder is None else as_embedder(embedder, self.settings, self.memory)
        self._given_chat = None if chat is None else as_chat_model(chat)
        self._progress = progress
        self._neighbours = Neighbours()
        self._layouts = Layouts()
        self._closed = False
        self._refused: LoginRefused | None = None

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
            ready_made=ready_made, awaits_model=self._has_chat, progress=progress,
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
            self._embedder, self._neighbours,
            has_id=utterance.utterance_id is not None, awaits_model=self._has_chat,
        )  # fmt: skip

    def extract(
        self,
        *,
        session_id: str | None = None,
        budget_tokens: int | None = None,
        again: bool = False,
        retry_failed: bool = True,
        progress: Callable[[int], None] | None = None,
    ) -> Extracted:
        """Have the language model read the sessions it has not read yet, and store the clues it finds.

        Each session is stored by itself as it comes: cut short, a repeat goes on with those that are left. A session
        whose replies cannot be used keeps the clues it has and is marked `failed`; one that got no answer waits.

        Args:
            session_id: only this session.
            budget_tokens: begin no session once the model has taken and given so many tokens.
            again: read also sessions that a language model has read, or that came with clues.
            retry_failed: read also sessions whose replies could not be used earlier.
            progress: told of each session that is finished with.

        Raises:
            SettingsError: no language model is configured; says how.
            UnknownMemory: there is no such memory.
            InputError: there is no such session, or the budget is no number of tokens.
        """
        if budget_tokens is not None and budget_tokens < 1:
            raise InputError(f"budget_tokens: must be 1 or more, not {budget_tokens}")
        chat = self._chat_for("extract")
        if chat is None:
            raise SettingsError(f"extract: {graph.NO_CHAT_MODEL}")
        self._state(same_embedder=True)
        return graph.extract_clues(
            self._store, self.memory, chat, self._embedder, self._neighbours,
            session_id=session_id, again=again, retry_failed=retry_failed, budget_tokens=budget_tokens,
            window_tokens=self.settings.extraction_tokens, workers=self.settings.model_concurrency, progress=progress,
        )  # fmt: skip

    def waiting(self) -> list[str]:
        """Ids of the sessions that `extract` would have a language model read, oldest first."""
        self._state()
        return graph.waiting_sessions(self._store, self.memory)

    def merge_clues(self, clue: str, other: str) -> dict[str, Any]:
        """Make two clues one: `other` becomes a wording of `clue`, now and whatever is written later.

        Both are named by uid, by kind and text (`person:Mira`), or by text alone where only one kind has it.

        Returns:
            The clue as it is now: uid, kind, text, wordings, support, sessions.

        Raises:
            InputError: one of them is no clue, or the name of several; nothing was changed.
        """
        self._state()
        uid = graph.merge_clues(self._store, self.memory, clue, other, self._neighbours)
        return _plain(self._store.read(load("memories/clue"), memory=self.memory, uid=uid))[0]

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
        _check_k(k)
        clock = Clock()
        filters = self._filters(asked_at, speaker=speaker, session=session, after=after, before=before)
        ranked = self._rank(question, filters, preset, clock)
        return self._ranker.evidence(ranked, k, clock)

    def ask(self, question: str, *, hops: int | None = None, **options: Unpack[SearchOptions]) -> Answer:
        """An answer with citations that were checked against the evidence, or "not in memory".

        Without a language model the best evidence is quoted.

        Args:
            question: in words.
            hops: searches at most, 1 to 3: after each the model may name what to look for next, and what that finds
                joins the evidence. Default: the setting. Without a language model there is one.
            options: as for `search`.

        Raises:
            UnknownMemory: as for `search`.
            InputError: as for `search`, or `hops` is out of range.
        """
        started = time.perf_counter()
        chat = self._chat_for("answer")
        found, context = self._evidence(question, chat, hops, options)
        result = found.result
        written = write_answer(
            question, result.asked_at, result.evidence, chat,
            budget_tokens=self.settings.evidence_tokens, answer_tokens=self.settings.answer_tokens,
            confident=result.convincing, context=context,
        )  # fmt: skip
        return _answered(found, written, started)

    def ask_stream(
        self, question: str, *, hops: int | None = None, **options: Unpack[SearchOptions]
    ) -> Iterator[str | Answer]:
        """The answer piece by piece as the model writes it, and last the whole as `Answer`.

        What is quoted or abstains comes as the `Answer` alone. An answer that broke off is marked in `degraded`.
        Arguments and errors as for `ask`.
        """
        started = time.perf_counter()
        chat = self._chat_for("answer")
        found, context = self._evidence(question, chat, hops, options)
        result = found.result
        for piece in stream_answer(
            question, result.asked_at, result.evidence, chat,
            budget_tokens=self.settings.evidence_tokens, answer_tokens=self.settings.answer_tokens,
            confident=result.convincing, context=context,
        ):  # fmt: skip
            yield piece if isinstance(piece, str) else _answered(found, piece, started)

    def explain(
        self,
        question: str,
        *,
        utterance_id: str | None = None,
        asked_at: datetime | None = None,
        k: int = 10,
        preset: Preset | None = None,
        speaker: str | None = None,
        session: str | None = None,
        after: datetime | None = None,
        before: datetime | None = None,
    ) -> list[Explanation]:
        """Why each piece of evidence was chosen; with `utterance_id` why that one was, or why not.

        The other arguments are those of `search`.

        Returns:
            One explanation for each of the first k, or exactly one for the utterance.

        Raises:
            InputError: there is no utterance of that id.
        """
        _check_k(k)
        clock = Clock()
        filters = self._filters(asked_at, speaker=speaker, session=session, after=after, before=before)
        if utterance_id is not None:
            rows = self._store.read(
                load("candidates/ordinal"), memory=self.memory, uid=identity(self.memory, utterance_id)
            )
            if not rows and self._state():
                raise InputError(f"utterance {utterance_id!r}: there is none of that id in memory {self.memory!r}")
        ranked = self._rank(question, filters, preset, clock, also=utterance_id)
        if utterance_id is None:
            return [ranked.explanation(index, k) for index in ranked.order[:k]]
        if utterance_id not in ranked.found.utterance_ids:
            raise InputError(f"utterance {utterance_id!r}: was forgotten a moment ago")
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
            return self._with_replies(lambda: graph.forget_memory(self._store, self.memory, self._neighbours), True)
        if utterance_id is not None:
            uid = identity(self.memory, utterance_id)
            uids = [uid] if self._store.read(load("candidates/ordinal"), memory=self.memory, uid=uid) else []
        else:
            uids = graph.session_uids(self._store, self.memory, scopes[0])
        if not uids:
            raise InputError(
                f"forget: memory {self.memory!r} has no {'session' if session_id is not None else 'utterance'} "
                f"{scopes[0]!r}; nothing was deleted. assomem sessions and assomem show list the ids there are"
            )
        return self._with_replies(
            lambda: graph.forget_utterances(self._store, self.memory, uids, self._neighbours), False
        )

    def memories(self) -> list[dict[str, Any]]:
        """The memories of this database by name, each with counts of utterances, sessions and clues."""
        return _plain(self._store.read(load("memories/list")))

    def sessions(self) -> list[dict[str, Any]]:
        """Sessions, oldest first: session_id, title, started_at, utterances, speakers, topics, clue_state and such.

        `clue_state` is pending while a language model is to read a session, else done or failed; `clue_source` says who
        found its clues (words, given, or a language model), `clue_failure` why a language model could not read it.
        """
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

    @overload
    def analytics(self, /) -> list[dict[str, Any]]: ...

    @overload
    def analytics(self, name: str, /, **parameters: object) -> AnalyticsResult: ...

    def analytics(self, name: str | None = None, /, **parameters: object) -> list[dict[str, Any]] | AnalyticsResult:
        """Without a name the statements there are: name, title, parameters. With one, what it finds in this memory.

        `memory.analytics("speakers").frame()` is a DataFrame of pandas. docs/analytics.md says what each shows.

        Raises:
            UnknownMemory: there is no such memory.
            InputError: there is no such statement, or a parameter is not its own or not of its type.
        """
        if name is None:
            return list_analytics()
        check_analytics(name, parameters)
        self._state()
        return run_analytics(self._store, self.memory, name, parameters)

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

    def _evidence(
        self, question: str, chat: ChatModel | None, hops: int | None, options: SearchOptions
    ) -> tuple[Found, dict[str, Context]]:
        """What an answer rests on, and for a model that writes it, where each piece stands."""
        most = _check_hops(self.settings.hops if hops is None else hops)
        result = self.search(question, **options)
        found = Found(result, (question,))
        if chat is None:
            return found, {}
        again = options | {"asked_at": result.asked_at}
        found = look_further(
            result, lambda further: self.search(further, **again), chat,
            hops=most, budget_tokens=self.settings.evidence_tokens,
        )  # fmt: skip
        uids = [piece.uid for piece in found.result.evidence]
        return found, {
            row["uid"]: Context(row["title"], None if row["text"] is None else (row["speaker"], row["text"]))
            for row in self._store.read(load("evidence/context"), memory=self.memory, uids=uids)
        }

    def _with_replies(self, forget: Callable[[], Forgotten], everything: bool) -> Forgotten:
        """Forget, and with it what language models replied in this memory."""
        # Before, since a kill in between must not leave them; and after, for an answer that was being written.
        forget_replies(self.settings, self.memory, everything=everything)
        forgotten = forget()
        if forget_replies(self.settings, self.memory, everything=everything):
            return forgotten
        return replace(forgotten, degraded=(f"replies of language models are still kept: {_NOT_GONE}",))

    def _rank(
        self, text: str, filters: Filters, preset: Preset | None, clock: Clock, also: str | None = None
    ) -> Ranked:
        with clock("memory"):
            state = self._state(same_embedder=True)
        return self._ranker.rank(state, text, filters, preset, clock, also)

    # -- what is opened on first use

    @cached_property
    def _ranker(self) -> Ranker:
        return Ranker(self._store, self._embedder, self._layouts, self.settings)

    @cached_property
    def _store(self) -> Store:
        from assomem.server import locate

        if self._closed:
            raise ClosedError("this memory was closed; open a new one")
        if self._refused is not None:
            # Neo4j locks an account after a few wrong passwords: one try is enough.
            raise self._refused
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
        except BaseException as error:
            opened.close()
            self._refused = error if isinstance(error, LoginRefused) else None
            raise
        return opened

    @cached_property
    def _embedder(self) -> Embedder:
        return self._given_embedder or open_embedder(self.settings, progress=self._progress, memory=self.memory)

    @cached_property
    def _chat(self) -> ChatModel | None:
        return self._given_chat or open_chat_model(self.settings)

    def _chat_for(self, purpose: Purpose) -> ChatModel | None:
        """The language model, its calls counted and its replies kept; None when there is none."""
        if self._chat is None:
            return None
        return metered(self._chat, self.settings, memory=self.memory, purpose=purpose)

    @property
    def _has_chat(self) -> bool:
        # Not by opening it: storing never fails because a language model is not configured well.
        return self._given_chat is not None or self.settings.chat_model is not None

    def _state(self, *, even_forgetting: bool = False, same_embedder: bool = False) -> MemoryState:
        rows = self._store.read(load("memories/state"), memory=self.memory)
        if not rows or (rows[0]["forgetting"] and not even_forgetting):
            names = [row["memory"] for row in self._store.read(load("memories/list"))]
            there = f"there are: {', '.join(map(repr, names[:20]))}" if names else "there are none yet"
            raise UnknownMemory(
                f"memory {self.memory!r}: there is no memory of that name; {there}. A memory begins with its first "
                "write: assomem import, or AssoMem.remember"
            )
        row = rows[0]
        if same_embedder:
            graph.compare_embedder(self.memory, row, self._embedder)
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


def _answered(found: Found, written: Written, started: float) -> Answer:
    _log.info(
        "ask: %d searches, %d pieces of evidence, abstained %s, %.0f ms",
        len(found.searches), len(found.result.evidence), written.abstained, (time.perf_counter() - started) * 1000,
    )  # fmt: skip
    return Answer(
        text=written.text,
        citations=written.citations,
        evidence=found.result.evidence,
        abstained=written.abstained,
        degraded=(*found.result.degraded, *found.degraded, *written.degraded),
        usage={name: found.usage.get(name, 0) + count for name, count in written.usage.items()},
        claims=written.claims,
        searches=found.searches,
        result=found.result,
    )


def _check_hops(hops: int) -> int:
    if isinstance(hops, bool) or not isinstance(hops, int) or not 1 <= hops <= 3:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"hops: must be a whole number from 1 to 3, not {hops!r}")
    return hops


def _check_k(k: int) -> None:
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= 600:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"k: must be a whole number from 1 to 600, not {k!r}")


def _plain(rows: Sequence[Any]) -> list[dict[str, Any]]:
    """Rows as dictionaries, Neo4j's times as datetimes."""
    return [
        {key: value.to_native() if hasattr(value, "to_native") else value for key, value in row.items()} for row in rows
    ]
