"""Sets × methods → what each method found, and how good that is.

Every question's outcome is kept in the cache under a key of the data, the method, the settings and the version of the
program: a second run reads it, a run that was cut short goes on.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assomem.errors import AssoMemError, InputError, LoginRefused, ModelError, StoreUnavailable
from assomem.evaluation import metrics, weights
from assomem.evaluation.ablations import ABLATIONS, ablated
from assomem.evaluation.baselines import Baseline
from assomem.evaluation.datasets import LabelledMemory, LabelledQuestion, LabelledSet
from assomem.evaluation.embeddings import KeptEmbedder
from assomem.evaluation.features import QuestionFeatures, load_all, save
from assomem.evaluation.files import code_digest, key_of
from assomem.evaluation.indexed import IndexedMemory
from assomem.evaluation.methods import PRESETS, baseline, check_methods
from assomem.evaluation.own import temporary_memory
from assomem.evaluation.results import Outcome, Outcomes
from assomem.evaluation.statistics import RESAMPLES, bootstrap_intervals, paired_difference
from assomem.fusion import ReadingWeights
from assomem.models.embedder import Embedder, open_embedder
from assomem.settings import Settings

CLUE_MODES = ("none", "built-in", "ready")

Progress = Callable[[int], None]

Clues = Literal["none", "built-in", "ready"]

DEEPEST = 600
"""The most that a search gives, so the most that can be measured."""

_CONFIDENCE = 0.95
_STOPS = (StoreUnavailable, LoginRefused)
"""Without a database no further question can be answered: the run ends and can be taken up again."""


@dataclass(frozen=True)
class Plan:
    """What to measure, and how."""

    methods: tuple[str, ...] = ("default", "flat")
    """The first is what the others are compared with."""
    ablations: tuple[str, ...] = ()
    """Parts that AssoMem is measured without, of `ABLATIONS`."""
    clues: Clues = "built-in"
    """none; built-in: extracted by this package; ready: from `clues.jsonl`, extracted where there are none."""
    weights: str = "shipped"
    """shipped, cross-validated, others, or the name of a weights file; for the method `default`."""
    ks: tuple[int, ...] = (6, 10)
    limit: int | None = None
    """At most so many questions of each memory, to try something out."""

    def checked(self) -> "Plan":
        """The plan, if it can be carried out.

        Raises:
            InputError: something in it does not exist or is out of range; says what is allowed.
        """
        check_methods(self.methods)
        if not self.methods:
            raise InputError("methods: name at least one")
        for part in self.ablations:
            if part not in ABLATIONS:
                raise InputError(f"ablate: there is no part called {part!r}; there are {', '.join(ABLATIONS)}")
        if self.clues not in CLUE_MODES:
            raise InputError(f"clues: {self.clues!r} is none of {', '.join(CLUE_MODES)}")
        if not self.ks or not all(1 <= k <= DEEPEST for k in self.ks):
            raise InputError(f"k: must be 1 to {DEEPEST}")
        if self.limit is not None and self.limit < 1:
            raise InputError(f"limit: must be 1 or more, not {self.limit}")
        if (self.ablations or self.weights != "shipped") and "default" not in self.methods:
            raise InputError("ablate and weights are about the method default: name it among the methods")
        known = {"shipped", "cross-validated", "others"}
        if self.weights not in known and not Path(self.weights).is_file():
            raise InputError(
                f"weights: {self.weights!r} is no file; allowed are shipped, cross-validated, others and the name of a "
                "weights file"
            )
        return self

    @property
    def depth(self) -> int:
        """So much of each ranking is kept."""
        return max(10, *self.ks)

    @property
    def weights_file(self) -> Path | None:
        """The file that the searches use, None: the shipped one."""
        return None if self.weights in {"shipped", "cross-validated", "others"} else Path(self.weights)


@dataclass
class Evaluation:
    """What was measured."""

    sets: Sequence[LabelledSet]
    """As they were measured: with fewer questions under a limit."""
    plan: Plan
    embedder: str
    fingerprint: str
    outcomes: dict[str, dict[str, dict[str, Outcome]]] = field(default_factory=dict[str, dict[str, dict[str, Outcome]]])
    """method → digest of the memory → query_id → outcome. Methods in the order of the plan, then ablations."""
    features: dict[str, list[QuestionFeatures]] = field(default_factory=dict[str, list[QuestionFeatures]])
    """Name of the set → features of its questions; empty lists without the method `default`."""
    skipped: dict[str, str] = field(default_factory=dict[str, str])
    """Methods that could not be measured, and why."""

    def as_json(self) -> dict[str, Any]:
        """The results as plain values: data, comparisons, skipped, degraded, settings."""
        named = named_memories(self.sets)
        return {
            "data": {
                name: {method: self.summary(memories, method) for method in self.outcomes}
                for name, memories in named.items()
            },
            "comparisons": {name: found for name, memories in named.items() if (found := self._comparisons(memories))},
            "skipped": dict(self.skipped),
            "degraded": sorted(
                {
                    says
                    for by_memory in self.outcomes.values()
                    for by_question in by_memory.values()
                    for outcome in by_question.values()
                    for says in outcome.degraded
                }
            ),
            "settings": self.settings(),
        }

    def settings(self) -> dict[str, Any]:
        """What the numbers depend on."""
        from assomem import __version__

        return {
            "methods": list(self.plan.methods),
            "ablate": list(self.plan.ablations),
            "clues": self.plan.clues,
            "weights": self.plan.weights,
            "k": list(self.plan.ks),
            "limit": self.plan.limit,
            "embedder": self.embedder,
            "embedder_fingerprint": self.fingerprint,
            "version": __version__,
            "code": code_digest(),
            "confidence": _CONFIDENCE,
            "resamples": RESAMPLES,
            "data": {
                one.name: {
                    "memories": len(one.memories),
                    "utterances": sum(memory.utterances for memory in one.memories),
                    "corrected_questions": sum(memory.corrected for memory in one.memories),
                }
                for one in self.sets
            },
        }

    def summary(self, memories: Sequence[LabelledMemory], method: str) -> dict[str, Any]:
        """One method on some memories: means over their questions, as in the contract of `evaluate`."""
        names, values, asked = self._scores(memories, method)
        outcomes = [self.outcomes[method][memory.digest][one.query_id] for memory, one in asked]
        types = sorted({one.query_type for _, one in asked})
        by_type: dict[str, Any] = {}
        for kind in types:
            rows = [place for place, (_, one) in enumerate(asked) if one.query_type == kind]
            by_type[kind] = self._means(names, values[rows], [outcomes[row] for row in rows])
        aside: dict[str, int] = {}
        for memory in memories:
            for reason, count in memory.counts_aside().items():
                aside[reason] = aside.get(reason, 0) + count
        return self._means(names, values, outcomes) | {
            "by_type": by_type,
            "set_aside": aside,
            "failed": {one.query_id: one.failed for one in outcomes if one.failed is not None},
        }

    def _scores(
        self, memories: Sequence[LabelledMemory], method: str
    ) -> tuple[list[str], NDArray[np.float64], list[tuple[LabelledMemory, LabelledQuestion]]]:
        """Names of the measures, (questions, measures), and the questions."""
        names = _measures(self.plan.ks)
        asked = [(memory, one) for memory in memories for one in memory.asked]
        rows: list[list[float]] = []
        for memory, one in asked:
            ranking = self.outcomes[method][memory.digest][one.query_id].ranking
            rows.append(_measured(ranking, one.evidence, self.plan.ks))
        return names, np.array(rows, np.float64).reshape(len(rows), len(names)), asked

    def _means(self, names: Sequence[str], values: NDArray[np.float64], outcomes: Sequence[Outcome]) -> dict[str, Any]:
        if not len(values):
            return {"questions": 0, **dict.fromkeys(names), "ci95": {}, "milliseconds_p50": None}
        intervals = bootstrap_intervals(values, confidence=_CONFIDENCE)
        taken = [one.milliseconds for one in outcomes if one.failed is None]
        return {
            "questions": len(values),
            **{name: _rounded(value) for name, value in zip(names, values.mean(axis=0), strict=True)},
            "ci95": {name: [_rounded(low), _rounded(high)] for name, (low, high) in zip(names, intervals, strict=True)},
            "milliseconds_p50": round(float(np.median(taken)), 1) if taken else None,
        }

    def _comparisons(self, memories: Sequence[LabelledMemory]) -> dict[str, Any]:
        """Every other method against the first one, on the same questions; by type for recall at the largest k."""
        first, *others = self.outcomes
        found: dict[str, Any] = {}
        names, base, asked = self._scores(memories, first)
        types = sorted({one.query_type for _, one in asked})
        recall = f"recall@{max(self.plan.ks)}"
        for method in others if asked else ():
            _, values, _ = self._scores(memories, method)
            found[method] = {"against": first} | {
                name: _compared(values[:, place], base[:, place]) for place, name in enumerate(names)
            }
            place = names.index(recall)
            rows = {kind: [row for row, (_, one) in enumerate(asked) if one.query_type == kind] for kind in types}
            found[method]["by_type"] = {
                kind: {"questions": len(at), recall: _compared(values[at, place], base[at, place])}
                for kind, at in rows.items()
            }
        return found


def named_memories(sets: Sequence[LabelledSet]) -> dict[str, Sequence[LabelledMemory]]:
    """What has a result of its own: every set, and the memories of sets that consist of several."""
    named: dict[str, Sequence[LabelledMemory]] = {one.name: one.memories for one in sets}
    for one in sets:
        for memory in one.memories if one.named_members else ():
            named[memory.name if memory.name not in named else f"{one.name}/{memory.name}"] = [memory]
    return named


def planned_steps(sets: Sequence[LabelledSet], plan: Plan) -> int:
    """How much a run tells `progress` in all."""
    own = any(method in PRESETS for method in plan.methods)
    return sum(
        memory.utterances * (1 + own) + len(memory.asked) * len(plan.methods)
        for one in limited(sets, plan)
        for memory in one.memories
    )


def limited(sets: Sequence[LabelledSet], plan: Plan) -> list[LabelledSet]:
    """The sets with as many questions as the plan allows."""
    if plan.limit is None:
        return list(sets)
    return [
        LabelledSet(one.name, tuple(memory.limited(plan.limit) for memory in one.memories), one.named_members)
        for one in sets
    ]


def evaluate(
    sets: Sequence[LabelledSet],
    plan: Plan,
    settings: Settings,
    *,
    embedder: Embedder | None = None,
    progress: Progress = lambda _: None,
    note: Callable[[str], None] = lambda _: None,
) -> Evaluation:
    """Measure methods on sets.

    Args:
        sets: labelled questions with their memories.
        plan: what to measure.
        settings: the database, the cache, the embedder.
        embedder: in place of the one that the settings name.
        progress: told of steps done; there are `planned_steps` of them.
        note: told what a reader should know.

    Raises:
        InputError: the plan cannot be carried out.
        StoreUnavailable: Neo4j could not be reached; what was found before is kept, and the next run goes on there.
    """
    plan.checked()
    chosen = limited(sets, plan)
    kept = KeptEmbedder(
        embedder or open_embedder(settings, progress=True), settings.cache / "evaluation" / "embeddings"
    )
    result = Evaluation(chosen, plan, kept.name, kept.fingerprint)
    in_process: dict[str, Baseline] = {}
    for method in plan.methods:
        if method not in PRESETS:
            try:
                in_process[method] = baseline(method)
            except ModelError as error:
                result.skipped[method] = str(error)
                progress(sum(len(memory.asked) for one in chosen for memory in one.memories))
                note(f"{method} is left out: {error}")
    methods = [method for method in plan.methods if method not in result.skipped]
    if not methods:
        raise InputError("methods: none of them can be measured; " + "; ".join(result.skipped.values()))
    result.outcomes = {method: {} for method in methods}
    for one in chosen:
        if plan.clues == "ready" and not any(memory.clues for memory in one.memories):
            note(f"{one.name}: has no clues.jsonl; its clues are extracted")
        result.features[one.name] = []
        for memory in one.memories:
            work = _Work(memory, plan, settings, kept, progress)
            found, features = work.done(methods, in_process)
            for method, outcomes in found.items():
                result.outcomes[method][memory.digest] = outcomes
            result.features[one.name] += features
    _rank_again(result)
    return result


class _Work:
    """One memory: what is found in the cache and what is still to do."""

    def __init__(
        self, memory: LabelledMemory, plan: Plan, settings: Settings, embedder: KeptEmbedder, progress: Progress
    ) -> None:
        self._memory = memory
        self._plan = plan
        self._settings = settings.model_copy(update={"weights": plan.weights_file})
        self._embedder = embedder
        self._progress = progress
        self._folder = settings.cache / "evaluation"

    def done(
        self, methods: Sequence[str], in_process: Mapping[str, Baseline]
    ) -> tuple[dict[str, dict[str, Outcome]], list[QuestionFeatures]]:
        """The outcomes of every method for every question of the headline, and the features of `default`."""
        memory = self._memory
        asked = memory.asked
        kept = {method: Outcomes(self._folder / "results" / f"{self._key(method)}.jsonl") for method in methods}
        features = self._features() if "default" in methods else {}
        if "default" in methods:
            kept["default"].drop(one.query_id for one in asked if one.query_id not in features)
        left = {method: [one for one in asked if one.query_id not in kept[method].found] for method in methods}
        self._progress(sum(len(asked) - len(left[method]) for method in methods))
        if any(left.values()):
            self._embedder.prepare(memory.sessions, self._progress)
        else:
            self._progress(memory.utterances)
        own = [method for method in methods if method in PRESETS]
        if any(left[method] for method in own):
            self._ask_own({method: left[method] for method in own}, kept, features)
        elif own:
            self._progress(memory.utterances)
        if any(left[method] for method in in_process):
            index = IndexedMemory(memory, self._embedder, self._plan.clues)
            for method, rank in in_process.items():
                for question in left[method]:
                    kept[method].add(self._ask(question, lambda: (self._ids(index, rank, question), ())))  # noqa: B023
        found = {method: {one.query_id: kept[method].found[one.query_id] for one in asked} for method in methods}
        return found, [features[one.query_id] for one in asked if one.query_id in features]

    def _ask_own(
        self,
        left: Mapping[str, Sequence[LabelledQuestion]],
        kept: Mapping[str, Outcomes],
        features: dict[str, QuestionFeatures],
    ) -> None:
        fresh: list[QuestionFeatures] = []
        with temporary_memory(self._memory, self._settings, self._embedder, self._plan.clues, self._progress) as opened:
            try:
                for method, questions in left.items():
                    for question in questions:

                        def search(
                            method: str = method, question: LabelledQuestion = question
                        ) -> tuple[tuple[str, ...], tuple[str, ...]]:
                            ids, degraded, readings = opened.ranked(
                                question, self._plan.depth, PRESETS[method], self._memory.digest
                            )
                            if method == "default":
                                fresh.append(readings)
                            return ids, degraded

                        kept[method].add(self._ask(question, search))
            finally:
                # Also when the run is cut short: a question counts as asked only with its readings.
                save(self._folder / "features" / self._key("default"), fresh)
        features |= {one.query_id: one for one in fresh}

    def _ask(self, question: LabelledQuestion, rank: Callable[[], tuple[tuple[str, ...], tuple[str, ...]]]) -> Outcome:
        """One question, timed. The embedding of the question counts, whoever asked for it first."""
        saved = self._embedder.saved_milliseconds
        begun = time.perf_counter()
        try:
            ranking, degraded = rank()
            outcome = Outcome(question.query_id, ranking, 0.0, degraded)
        except _STOPS:
            raise
        except AssoMemError as error:
            outcome = Outcome(question.query_id, (), 0.0, failed=f"{type(error).__name__}: {error}")
        taken = (time.perf_counter() - begun) * 1000 + self._embedder.saved_milliseconds - saved
        self._progress(1)
        return Outcome(outcome.query_id, outcome.ranking, round(taken, 2), outcome.degraded, outcome.failed)

    def _ids(self, index: IndexedMemory, rank: Baseline, question: LabelledQuestion) -> tuple[str, ...]:
        return tuple(index.ids[number] for number in rank(index, index.ask(question))[: self._plan.depth])

    def _features(self) -> dict[str, QuestionFeatures]:
        return {one.query_id: one for one in load_all(self._folder / "features" / self._key("default"))}

    def _key(self, method: str) -> str:
        file = self._plan.weights_file if method in PRESETS else None
        return key_of(
            self._memory.digest,
            method,
            self._plan.clues,
            self._embedder.fingerprint,
            self._plan.depth,
            (self._settings.delta, self._settings.gamma),
            None if file is None else file.read_bytes(),
            code_digest(),
        )


def _rank_again(result: Evaluation) -> None:
    """Replace what `default` found where its weights are learnt, and add the ablations."""
    plan = result.plan
    if "default" not in result.outcomes:
        return
    searched = result.outcomes["default"]
    parts = {f"default-{part}": part for part in plan.ablations}
    result.outcomes |= {name: {} for name in parts}
    for one in result.sets:
        features = {(feature.group, feature.query_id): feature for feature in result.features[one.name]}
        weights_of = _weights_of(result, one)
        for memory in one.memories:
            asked = memory.asked
            if plan.weights in {"cross-validated", "others"}:
                searched[memory.digest] = {
                    question.query_id: _again(
                        searched[memory.digest][question.query_id],
                        features.get((memory.digest, question.query_id)),
                        lambda feature, k: feature.ranked(weights_of(feature), k),  # noqa: B023
                        plan.depth,
                    )
                    for question in asked
                }
            for name, part in parts.items():
                result.outcomes[name][memory.digest] = {
                    question.query_id: _again(
                        searched[memory.digest][question.query_id],
                        features.get((memory.digest, question.query_id)),
                        ablated(part, weights_of),
                        plan.depth,
                    )
                    for question in asked
                }


def _weights_of(result: Evaluation, one: LabelledSet) -> Callable[[QuestionFeatures], ReadingWeights]:
    mine = result.features[one.name]
    if result.plan.weights == "cross-validated":
        return weights.cross_validated(mine)
    if result.plan.weights == "others":
        return weights.of_others(weights.outside({memory.digest for memory in one.memories}, result.features))
    return weights.known_weights(result.plan.weights_file)


def _again(
    outcome: Outcome,
    feature: QuestionFeatures | None,
    rank: Callable[[QuestionFeatures, int], tuple[str, ...]],
    depth: int,
) -> Outcome:
    """The outcome of a search with another ranking; a failed one stays as it is."""
    if feature is None:
        return outcome
    return Outcome(outcome.query_id, rank(feature, depth), outcome.milliseconds, outcome.degraded, outcome.failed)


def _measures(ks: Sequence[int]) -> list[str]:
    return [
        *(f"recall@{k}" for k in ks),
        *(f"recall_all@{k}" for k in ks),
        *(f"hit@{k}" for k in ks),
        *(f"ndcg@{k}" for k in ks),
        "mrr",
    ]


def _measured(ranking: Sequence[str], evidence: Sequence[str], ks: Sequence[int]) -> list[float]:
    """The measures of `_measures`, in their order; the MRR over the first max(ks)."""
    return [
        *(metrics.recall_at_k(ranking, evidence, k) for k in ks),
        *(metrics.recall_all_at_k(ranking, evidence, k) for k in ks),
        *(metrics.hit_at_k(ranking, evidence, k) for k in ks),
        *(metrics.ndcg_at_k(ranking, evidence, k) for k in ks),
        metrics.mrr(ranking[: max(ks)], evidence),
    ]


def _compared(values: NDArray[np.float64], base: NDArray[np.float64]) -> dict[str, float]:
    one = paired_difference(values, base, confidence=_CONFIDENCE)
    return {"difference": _rounded(one.mean), "low": _rounded(one.low), "high": _rounded(one.high), "p": one.p}


def _rounded(value: float) -> float:
    return round(float(value), 6)
