"""What labelled questions were answered with, and how good that is: means over questions with their intervals."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from assomem.evaluation.answer_metrics import contains, exact_match, token_f1
from assomem.evaluation.datasets import LabelledMemory, LabelledQuestion, LabelledSet, hash_of
from assomem.evaluation.judge import Agreement, Verdict
from assomem.evaluation.run import Plan, named_memories
from assomem.evaluation.statistics import bootstrap_interval
from assomem.models.metered import Budget

UNANSWERABLE = ("abstention", "adversarial")
"""Questions that should be answered with "not in memory"; of the adversarial ones, those without a reference."""


@dataclass(frozen=True)
class Said:
    """One statement of an answer."""

    text: str
    markers: tuple[int, ...]
    """The numbers it cites."""
    cited: bool
    """It cites something, and all that it cites was shown to who wrote it."""


@dataclass(frozen=True)
class Given:
    """What a question was answered with."""

    text: str = ""
    abstained: bool = False
    quoted: bool = False
    """Nobody wrote it: it is evidence, word for word."""
    statements: tuple[Said, ...] = ()
    sources: Mapping[int, str] = field(default_factory=dict[int, str])
    """What its numbers stand for: utterance ids, by the number. One that is missing was invented."""
    seconds: float = 0.0
    """From the question to the answer, what was waited for at the endpoint included."""
    input_tokens: int = 0
    output_tokens: int = 0
    degraded: tuple[str, ...] = ()
    failed: str | None = None
    """Why there is no answer; such a question is asked again next time."""

    def as_record(self) -> dict[str, Any]:
        """Plain values for a line of JSON."""
        return asdict(self) | {"sources": [[number, one] for number, one in self.sources.items()]}

    @staticmethod
    def of(record: Mapping[str, Any]) -> "Given":
        """The same from a line of JSON."""
        return Given(
            text=record["text"],
            abstained=record["abstained"],
            quoted=record["quoted"],
            statements=tuple(Said(one["text"], tuple(one["markers"]), one["cited"]) for one in record["statements"]),
            sources=dict(record["sources"]),
            seconds=record["seconds"],
            input_tokens=record["input_tokens"],
            output_tokens=record["output_tokens"],
            degraded=tuple(record["degraded"]),
            failed=record["failed"],
        )


@dataclass
class Marked:
    """What is known of one answer."""

    given: Given
    verdict: Verdict = None
    unjudged: str | None = None
    """Why there is no verdict although there is a judge and an answer to mark."""
    supported: list[bool] = field(default_factory=list[bool])
    """By statement: whether the judge finds it in what it cites; empty without a judge."""
    words: list[float] = field(default_factory=list[float])
    """By statement: the share of its content words that what it cites holds."""
    bert_score: float | None = None
    judge_tokens: int = 0

    @property
    def answers(self) -> bool:
        """Whether there is an answer that may be right."""
        return self.given.failed is None and not self.given.abstained

    @property
    def abstains(self) -> bool:
        """Whether it says "not in memory", and not because the model that was to write it failed."""
        return self.given.failed is None and self.given.abstained


@dataclass
class AnswerEvaluation:
    """How good the answers are."""

    sets: Sequence[LabelledSet]
    """As they were measured."""
    plan: Plan
    chat: str | None
    judge: str | None
    bert_score: str | None
    """Names of the models; None where there is none."""
    budget: Budget | None
    marked: dict[str, dict[str, dict[str, Marked]]] = field(default_factory=dict[str, dict[str, dict[str, Marked]]])
    """preset → digest of the memory → query_id → what is known of the answer."""
    agreement: Agreement | None = None
    skipped: dict[str, str] = field(default_factory=dict[str, str])
    """Measures that were asked for and could not be taken, and why."""

    def as_json(self) -> dict[str, Any]:
        """Plain values: data, judge, skipped, degraded, settings."""
        return {
            "data": {
                name: {preset: self.summary(memories, preset) for preset in self.marked}
                for name, memories in named_memories(self.sets).items()
            },
            "judge": None if self.agreement is None else self.agreement.as_json(),
            "skipped": dict(self.skipped),
            "degraded": sorted(
                {
                    says
                    for by_memory in self.marked.values()
                    for by_question in by_memory.values()
                    for one in by_question.values()
                    for says in one.given.degraded
                    if one.given.quoted or one.given.abstained
                }
            ),
            "settings": {
                "chat_model": self.chat,
                "judge": self.judge,
                "bert_score": self.bert_score,
                "budget_tokens": None if self.budget is None else self.budget.tokens,
                "spent_tokens": None if self.budget is None else self.budget.spent,
                "k": max(self.plan.ks),
                # Weights that are learnt from the questions would have to be learnt before the first search.
                "weights": self.plan.weights if self.plan.weights_file is not None else "shipped",
            },
        }

    def summary(self, memories: Sequence[LabelledMemory], preset: str) -> dict[str, Any]:
        """The answers of one method on some memories."""
        answerable = list(self._pairs(memories, preset, answerable_questions))
        unanswerable = list(self._pairs(memories, preset, lambda one: unanswerable_questions(one, self.plan.limit)))
        every = [one for _, one in answerable + unanswerable]
        types = sorted({question.query_type for question, _ in answerable})
        found: dict[str, Any] = self._means(answerable)
        found["by_type"] = {
            kind: self._means([pair for pair in answerable if pair[0].query_type == kind]) for kind in types
        }
        found["abstention"] = self._abstention(answerable, unanswerable)
        found["tokens"] = {
            "input": sum(one.given.input_tokens for one in every),
            "output": sum(one.given.output_tokens for one in every),
            "a_question": round(
                sum(one.given.input_tokens + one.given.output_tokens for one in every) / max(1, len(every)), 1
            ),
            "judge": sum(one.judge_tokens for one in every),
        }
        seconds = [one.given.seconds for one in every if one.given.failed is None]
        found["seconds_p50"] = round(float(np.median(seconds)), 3) if seconds else None
        found["seconds_mean"] = round(float(np.mean(seconds)), 3) if seconds else None
        found["without_reference"] = sum(len(memory.asked) - len(answerable_questions(memory)) for memory in memories)
        pairs = answerable + unanswerable
        found["failed"] = {ask.query_id: one.given.failed for ask, one in pairs if one.given.failed is not None}
        found["unjudged"] = {ask.query_id: one.unjudged for ask, one in pairs if one.unjudged is not None}
        return found

    def _pairs(
        self,
        memories: Sequence[LabelledMemory],
        preset: str,
        questions: Callable[[LabelledMemory], Sequence[LabelledQuestion]],
    ) -> Iterator[tuple[LabelledQuestion, Marked]]:
        for memory in memories:
            for question in questions(memory):
                yield question, self.marked[preset][memory.digest][question.query_id]

    def _means(self, pairs: Sequence[tuple[LabelledQuestion, Marked]]) -> dict[str, Any]:
        """Measures against the reference over all questions, those of statements over the answers that have some."""
        answers = [one for _, one in pairs if one.answers]
        stated = [one for one in answers if one.given.statements]
        cites = [one for one in answers if _markers(one)]
        judged, scored = self.judge is not None, self.bert_score is not None and "bert_score" not in self.skipped

        def compared(measure: Callable[[str, str], float]) -> list[float]:
            return [
                measure(one.given.text, question.answer or "") if one.answers else 0.0 for question, one in pairs
            ]  # fmt: skip

        return {
            "questions": len(pairs),
            "answered": len(answers),
            "statements": sum(len(one.given.statements) for one in answers),
        } | _averaged(
            {
                f"acc@{max(self.plan.ks)}": [float(one.verdict == "correct") for _, one in pairs] if judged else None,
                "token_f1": compared(token_f1),
                "exact_match": compared(exact_match),
                "contains": compared(contains),
                "bert_score": [one.bert_score or 0.0 for _, one in pairs] if scored else None,
                "faithfulness": [sum(one.supported) / len(one.given.statements) for one in stated] if judged else None,
                "faithfulness_words": [_share(one.words) for one in stated],
                "statements_cited": [_share([said.cited for said in one.given.statements]) for one in stated],
                "citations_valid": [_share([mark in one.given.sources for mark in _markers(one)]) for one in cites],
            }
        )

    def _abstention(
        self,
        answerable: Sequence[tuple[LabelledQuestion, Marked]],
        unanswerable: Sequence[tuple[LabelledQuestion, Marked]],
    ) -> dict[str, Any]:
        """How often it abstained rightly: precision over the abstentions, recall over the unanswerable questions."""
        right = [float(one.abstains) for _, one in unanswerable]
        abstained = [1.0] * int(sum(right)) + [0.0] * sum(one.abstains for _, one in answerable)
        by_reason: dict[str, Any] = {}
        for reason in UNANSWERABLE:
            values = [float(one.abstains) for question, one in unanswerable if question.set_aside == reason]
            by_reason[reason] = {"questions": len(values)} | _averaged({"recall": values})
        return {
            "questions": len(unanswerable),
            "abstained": len(abstained),
            **_averaged({"precision": abstained if unanswerable else None, "recall": right}),
            "by_reason": by_reason,
        }


def answerable_questions(memory: LabelledMemory) -> tuple[LabelledQuestion, ...]:
    """The questions of the headline that have a reference."""
    return tuple(one for one in memory.asked if one.answer is not None)


def unanswerable_questions(memory: LabelledMemory, limit: int | None = None) -> tuple[LabelledQuestion, ...]:
    """The questions whose answer the memory does not hold; at most so many, spread by a hash of their ids."""
    found = [
        one
        for one in memory.questions
        if one.set_aside == "abstention" or (one.set_aside == "adversarial" and one.answer is None)
    ]
    kept = {one.query_id for one in sorted(found, key=lambda one: hash_of(one.query_id))[:limit]}
    return tuple(one for one in found if one.query_id in kept)


def _markers(one: Marked) -> list[int]:
    return [mark for said in one.given.statements for mark in said.markers]


def _share(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _averaged(columns: Mapping[str, Sequence[float] | None]) -> dict[str, Any]:
    """The mean of each column with its interval; None for a column that was not measured or is empty."""
    means: dict[str, Any] = {}
    intervals: dict[str, list[float]] = {}
    for name, values in columns.items():
        if not values:
            means[name] = None
            continue
        column = np.array(values, np.float64)
        means[name] = round(float(column.mean()), 6)
        intervals[name] = [round(end, 6) for end in bootstrap_interval(column)]
    return means | {"ci95": intervals}
