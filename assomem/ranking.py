"""Ranking: candidates → readings of the three signals → scores, for either preset.

default   relevance.readings, said, meant → late interaction of the best → clue walk from the best → fuse
paper     cosine, PageRank over the whole memory, cosine of time embeddings → fuse
"""

import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from neo4j import Record
from numpy.typing import NDArray

from assomem import walk
from assomem.candidates import Candidates, Filters, Layouts, MemoryState, find, token_vectors
from assomem.evidence import Evidence, Explanation, SearchResult, convincing, explain_in_words
from assomem.fusion import Fused, Preset, ReadingWeights, fuse, mixed, weights_for
from assomem.graph import speaker_key
from assomem.models.embedder import Embedder
from assomem.question import Question, understand
from assomem.settings import Settings
from assomem.signals import importance, relevance, temporal
from assomem.store import Store, load
from assomem.times import end_of_day

LATE_CANDIDATES = 100
"""Late interaction re-ranks so many."""

WALK_DAMPING = 0.5
WALK_ITERATIONS = 20
"""Damping and iterations of the default walk: 0.5^20 is below 1e-6."""

PAPER_DAMPING = 0.85
PAPER_ITERATIONS = 50
"""d of the paper, and iterations after which its ranks move by less than 3e-4."""


Readings = dict[str, NDArray[np.float64]]


@dataclass
class Clock:
    """Milliseconds spent, by part."""

    started: float = field(default_factory=time.perf_counter)
    spent: dict[str, float] = field(default_factory=dict[str, float])

    @contextmanager
    def __call__(self, part: str) -> Generator[None]:
        """Count the time spent inside the block to one part."""
        begun = time.perf_counter()
        yield
        self.spent[part] = self.spent.get(part, 0.0) + (time.perf_counter() - begun) * 1000

    def seconds(self) -> float:
        """Time since it was made."""
        return time.perf_counter() - self.started

    def parts(self) -> dict[str, float]:
        """The parts and their total, rounded to a tenth."""
        total = self.seconds() * 1000
        return {part: round(spent, 1) for part, spent in (*self.spent.items(), ("total", total))}


@dataclass(frozen=True)
class Ranker:
    """What ranking needs besides the question: where to read, and how."""

    store: Store
    embedder: Embedder
    layouts: Layouts
    settings: Settings

    def rank(
        self,
        state: MemoryState,
        text: str,
        filters: Filters,
        preset: Preset | None,
        clock: Clock,
        also: str | None = None,
    ) -> "Ranked":
        """All candidates of a question with their scores.

        Args:
            state: the memory asked.
            text: the question.
            filters: when it is asked, and which utterances may be found.
            preset: None: the setting's.
            clock: takes the time of each part.
            also: id of an utterance to score whether or not it is a candidate.

        Raises:
            InputError: the question cannot be used.
            SettingsError: the weights cannot be used.
            ModelError: the embedder failed.
        """
        name = preset or self.settings.preset
        weights = mixed(state.kinds, lambda kind: weights_for(name, kind, self.settings.weights))
        with clock("question"):
            most = self.settings.max_question_characters
            question = understand(text, filters.asked_at, self.embedder, max_characters=most)
        with clock("candidates"):
            found = find(self.store, state, question, filters, self.layouts, clues_only=name == "paper", also=also)
        degraded = [] if question.embedding is not None else [_NO_VECTOR]
        if not found.total and state.utterances:
            degraded.append(_ALL_FILTERED)
        ranked = Ranked(state, question, found, filters, weights, degraded)
        if name == "paper":
            self._read_paper_signals(ranked, clock)
        else:
            self._read_default_signals(ranked, clock)
        return ranked

    def evidence(self, ranked: "Ranked", k: int, clock: Clock) -> SearchResult:
        """The first k candidates as the result of a search."""
        chosen = ranked.order[:k]
        with clock("evidence"):
            ordinals = ranked.found.ordinals[chosen].tolist()
            rows = self.store.read(load("evidence/chosen"), memory=ranked.state.name, ordinals=ordinals)
        shown = {row["ordinal"]: row for row in rows}
        # One that was forgotten a moment ago has no row any more, and is no evidence.
        there = [index for index, ordinal in zip(chosen, ordinals, strict=True) if ordinal in shown]
        evidence = tuple(
            ranked.piece(index, rank, shown[int(ranked.found.ordinals[index])])
            for rank, index in enumerate(there, start=1)
        )
        words = ranked.found.words
        best = {
            term
            for term, counts in words.counts.items()
            for ordinal in ordinals[:3]
            if ordinal < len(counts) and counts[ordinal] > 0
        }
        return SearchResult(
            memory=ranked.state.name,
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

    def _read_default_signals(self, ranked: "Ranked", clock: Clock) -> None:
        state, question, found, readings = ranked.state, ranked.question, ranked.found, ranked.readings
        with clock("temporal"):
            readings["said"] = temporal.said_alignment(question.intervals, found.instants)
            readings["meant"] = temporal.meant_alignment(question.intervals, found.means)
        with clock("relevance"):
            readings |= relevance.readings(question, found, assistant=state.assistant > 0)
            if self._has_time(ranked, clock, "late interaction"):
                self._read_late_interaction(ranked)
        if not self._has_time(ranked, clock, "importance"):
            return
        with clock("importance"):
            shares = importance.seed_shares(ranked.so_far())
            pairs = walk.shared_clues(self.store, state, question, found)
            way = importance.symmetric_walk(pairs, shares)
            ranks, says = walk.pagerank(
                self.store, state, way.sources, way.targets, way.weights, dict(way.seeds),
                nodes=way.nodes, damping=WALK_DAMPING, iterations=WALK_ITERATIONS,
            )  # fmt: skip
            ranked.degraded.extend([] if says is None else [says])
            readings["clue walk"] = relevance.scaled(importance.carried(way, shares, ranks, WALK_DAMPING))

    def _has_time(self, ranked: "Ranked", clock: Clock, part: str) -> bool:
        """Whether a part that ranking can do without may begin; if not, that is said in `degraded`."""
        limit = self.settings.search_seconds
        # Starting or reaching the server, which comes first, is no reason to know less.
        if clock.seconds() - clock.spent.get("memory", 0.0) / 1000 < limit:
            return True
        ranked.degraded.append(
            f"{part} was left out: the search had taken more than {limit:g} seconds; ASSOMEM_SEARCH_SECONDS allows more"
        )
        return False

    def _read_late_interaction(self, ranked: "Ranked") -> None:
        question, found = ranked.question, ranked.found
        if question.embedding is None:
            return
        if question.embedding.token_vectors is None:
            ranked.degraded.append(_NO_TOKENS)
            return
        best = np.argsort(-ranked.so_far(), kind="stable")[:LATE_CANDIDATES]
        before = dict(zip(found.ordinals[best].tolist(), found.before[best].tolist(), strict=True))
        wanted = sorted({*before, *(one for earlier in before.values() for one in earlier if one >= 0)})
        vectors, statements = token_vectors(self.store, ranked.state, wanted, list(before))
        met = relevance.met_tokens(question.embedding, vectors)
        weights = relevance.token_weights(question.embedding, found.words.document_frequency, ranked.state.utterances)
        ranked.closeness.update(relevance.late_interaction(met, weights))
        for name, late in (
            ("late interaction", ranked.closeness),
            ("late context", relevance.late_context(met, before, weights)),
        ):
            values = np.full(len(found), np.nan)
            values[best] = [late.get(ordinal, np.nan) for ordinal in found.ordinals[best].tolist()]
            ranked.readings[name] = relevance.below_best(values, relevance.LATE_LEAST_RANGE)
        if statements:
            late = relevance.late_interaction(
                relevance.met_tokens(question.embedding, {at: [one.tokens] for at, one in enumerate(statements)}),
                weights,
            )
            said = dict.fromkeys(before, np.nan)
            for at, closeness in late.items():
                said |= {ordinal: np.fmax(said[ordinal], closeness) for ordinal in statements[at].ordinals}
            values = np.array([said.get(ordinal, np.nan) for ordinal in found.ordinals.tolist()])
            ranked.readings["late clue"] = relevance.near_best(values, relevance.CLUE_REACH)

    def _read_paper_signals(self, ranked: "Ranked", clock: Clock) -> None:
        question, found, readings = ranked.question, ranked.found, ranked.readings
        with clock("relevance"):
            readings["cosine"] = relevance.scaled(found.cosine)
        with clock("importance"):
            ranks, says = walk.paper_importance(
                self.store, ranked.state, question, found, ranked.filters.until,
                damping=PAPER_DAMPING, iterations=PAPER_ITERATIONS,
            )  # fmt: skip
            ranked.degraded.extend([] if says is None else [says])
            readings["pagerank"] = relevance.scaled(ranks)
        with clock("temporal"):
            said = [() if np.isnan(at) else ((float(at), float(at)),) for at in found.instants]
            times = [(*means, *point) for means, point in zip(found.means, said, strict=True)]
            readings["interval"] = relevance.scaled(temporal.paper_alignment(question.intervals, times))


@dataclass(frozen=True)
class Ranked:
    """All candidates of a question with their readings so far."""

    state: MemoryState
    question: Question
    found: Candidates
    filters: Filters
    weights: ReadingWeights
    degraded: list[str]
    readings: Readings = field(default_factory=Readings)
    closeness: dict[int, float] = field(default_factory=dict[int, float])
    """Late interaction of the best candidates and those before them as measured, -1..1, by ordinal; or empty."""

    def so_far(self) -> NDArray[np.float64]:
        """The scores by the readings there are by now."""
        return fuse(self.readings, self.weights).scores

    @cached_property
    def fused(self) -> Fused:
        """The scores by all readings; ask for it only when all are there."""
        return fuse(self.readings, self.weights)

    @cached_property
    def order(self) -> list[int]:
        """Indices of the candidates, best first; ties by the time they were stored. Those on no list are left out."""
        order = np.argsort(-self.fused.scores, kind="stable").tolist()
        return [index for index in order if self.found.found_by[index]]

    def piece(self, index: int, rank: int, shown: Record) -> Evidence:
        """One candidate as evidence, with its row of `evidence/chosen`."""
        found = self.found
        return Evidence(
            rank=rank,
            uid=shown["uid"],
            utterance_id=found.utterance_ids[index],
            session_id=found.session_ids[index],
            speaker=found.speakers[index],
            said_at=None if shown["said_at"] is None else shown["said_at"].to_native(),
            text=found.texts[index],
            score=float(self.fused.scores[index]),
            signals=self.fused.signals(index),
            clues=tuple(dict.fromkeys(shown["clues"])),  # a topic and a phrase may have the same text
            contributions=self.fused.contributions(index),
        )

    def _filtered(self, index: int) -> str | None:
        """Which filter kept a candidate out, in words; None when none did."""
        filters, at = self.filters, self.found.instants[index]
        # Undated is nan, and nan compares with nothing.
        if at >= end_of_day(self.question.asked_at).timestamp():
            return "filtered by time: said after the day of the question"
        if filters.after is not None and not at >= filters.after.timestamp():
            return "filtered by time: not known to be said after the limit"
        if filters.before is not None and not at < filters.before.timestamp():
            return "filtered by time: not known to be said before the limit"
        if filters.speaker is not None and speaker_key(self.found.speakers[index]) != speaker_key(filters.speaker):
            return "filtered by speaker"
        if filters.session_id is not None and self.found.session_ids[index] != filters.session_id:
            return "filtered by session"
        return None

    def explanation(self, index: int, k: int) -> Explanation:
        """Why one candidate stands where it does."""
        rank = self.order.index(index) + 1 if self.found.found_by[index] else None
        lost_at = None
        if rank is None:
            lost_at = self._filtered(index) or "not in any list"
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


_NO_VECTOR = "the embedder gave no usable vector for the question: it was answered by words, time and speaker alone"
_ALL_FILTERED = (
    "nothing in this memory passes the filters: speaker, session, after, before, and the day of asked_at; "
    "assomem sessions lists what is there"
)
_NO_TOKENS = (
    "late interaction is off: the embedder gives no token vectors. ASSOMEM_EMBEDDER=e5-small-v2 does; its weight was "
    "shared out among the other readings"
)
