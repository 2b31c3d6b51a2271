"""How good the answers are: labelled questions are asked with `AssoMem.ask`, and what is answered is measured.

    ask       every question of the headline that has a reference, and every one whose answer the memory does not hold
    judge     a language model marks each answer against its reference, and each statement against what it cites
    measure   means over questions: an answer that abstains, fails or is not given counts as wrong, and is listed

Answers and verdicts are kept in the cache as they come: a run that was cut short, or whose budget was spent, goes on.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

import numpy as np

from assomem.dialogue import Utterance
from assomem.errors import (
    AssoMemError,
    BudgetSpent,
    InputError,
    LoginRefused,
    ModelError,
    ModelFailure,
    StoreUnavailable,
)
from assomem.evaluation.answer_metrics import contains, exact_match, token_f1, without_markers, word_support
from assomem.evaluation.bert_score import Scorer, open_bert_score
from assomem.evaluation.datasets import LabelledMemory, LabelledQuestion, LabelledSet, hash_of
from assomem.evaluation.embeddings import KeptEmbedder
from assomem.evaluation.files import code_digest, key_of
from assomem.evaluation.judge import Agreement, Judge, Verdict, agreement, judge_items
from assomem.evaluation.methods import PRESETS
from assomem.evaluation.own import TemporaryMemory, temporary_memory
from assomem.evaluation.results import Lines
from assomem.evaluation.run import Plan, Progress, limited, named_memories
from assomem.evaluation.statistics import bootstrap_interval
from assomem.fusion import Preset
from assomem.graph.extract import MOST_FAILURES_IN_A_ROW, OF_EVERY_CALL
from assomem.memory import Answer
from assomem.models.chat import ChatModel, Completion
from assomem.models.embedder import Embedder, open_embedder
from assomem.models.metered import Budget, MeteredChatModel
from assomem.models.usage import Ledger, usage_file
from assomem.prompts import load_prompt, quoted_line
from assomem.settings import Settings

T = TypeVar("T")
U = TypeVar("U")

_STOPS = (StoreUnavailable, LoginRefused)
_PROMPTS = ("answer", "follow_up")

UNANSWERABLE = ("abstention", "adversarial")
"""Questions that should be answered with "not in memory"; of the adversarial ones, those without a reference."""


@dataclass(frozen=True)
class AnswerPlan:
    """Who answers and who judges."""

    chat: ChatModel | None = None
    """Writes the answers; None: the best evidence is quoted."""
    judge: ChatModel | None = None
    """Marks them; None: they are compared with the references by their words alone."""
    bert_score: str | None = None
    """Model of BERTScore, a folder or a name; None: it is not computed."""
    budget: Budget | None = None
    """Tokens for both together."""


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
        right = [float(one.given.abstained) for _, one in unanswerable]
        abstained = [1.0] * int(sum(right)) + [0.0] * sum(one.given.abstained for _, one in answerable)
        by_reason: dict[str, Any] = {}
        for reason in UNANSWERABLE:
            values = [float(one.given.abstained) for question, one in unanswerable if question.set_aside == reason]
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


def planned_answer_steps(sets: Sequence[LabelledSet], plan: Plan, answers: AnswerPlan) -> int:
    """How much a run tells `progress` in all."""
    presets = len(_presets(plan))
    steps = len(judge_items()) if answers.judge is not None else 0
    for one in limited(sets, plan):
        for memory in one.memories:
            answerable = len(answerable_questions(memory))
            asked = answerable + len(unanswerable_questions(memory, plan.limit))
            steps += memory.utterances + presets * (asked + answerable * (answers.judge is not None))
    return steps


def measure_answers(
    sets: Sequence[LabelledSet],
    plan: Plan,
    answers: AnswerPlan,
    settings: Settings,
    *,
    embedder: Embedder | None = None,
    progress: Progress = lambda _: None,
    note: Callable[[str], None] = lambda _: None,
) -> AnswerEvaluation:
    """Ask labelled questions and measure the answers, for each of the methods `default` and `paper` in the plan.

    Args:
        sets: labelled questions with their memories.
        plan: as for `evaluate`; the answers rest on the first max k utterances.
        answers: who answers and who judges.
        settings: the database, the cache, the embedder, the budget of evidence.
        embedder: in place of the one that the settings name.
        progress: told of steps done; there are `planned_answer_steps` of them.
        note: told what a reader should know.

    Raises:
        InputError: the plan cannot be carried out.
        StoreUnavailable: Neo4j could not be reached; what was answered before is kept.
    """
    plan.checked()
    presets = _presets(plan)
    if not presets:
        raise InputError(f"answers: are written with the methods {' and '.join(PRESETS)}; name one of them")
    chosen = limited(sets, plan)
    result = AnswerEvaluation(
        chosen,
        plan,
        None if answers.chat is None else answers.chat.name,
        None if answers.judge is None else answers.judge.name,
        answers.bert_score,
        answers.budget,
        {preset: {} for preset in presets},
    )
    scorer = _scorer(result, note)
    if answers.chat is None:
        note("no language model is configured: the answers measured are quotes of the best evidence")
    run = _Run(plan, answers, settings, embedder or open_embedder(settings, progress=True), progress)
    for one in chosen:
        for memory in one.memories:
            for preset, marked in run.marked(memory, presets).items():
                result.marked[preset][memory.digest] = marked
    if run.judge is not None:
        result.agreement = _agreement(run, run.judge, result, progress, note)
    if scorer is not None:
        _score(result, scorer, note)
    for reason in run.reasons:
        note(f"not all questions were answered and judged, and those that were not count as wrong: {reason}")
    return result


class _Run:
    """What all memories share: the models, the budget, and why nothing more can be asked of them."""

    def __init__(
        self, plan: Plan, answers: AnswerPlan, settings: Settings, embedder: Embedder, progress: Progress
    ) -> None:
        self._plan = plan
        self._settings = settings.model_copy(update={"weights": plan.weights_file})
        self._folder = settings.cache / "evaluation"
        self._embedder = KeptEmbedder(embedder, self._folder / "embeddings")
        self._progress = progress
        self._chat: _Watched | None = None
        self._fingerprint = "nobody"
        self.judge: Judge | None = None
        if answers.chat is not None:
            self._fingerprint = _fingerprint(answers.chat)
            # The memory notes the calls; here they only count against the budget.
            counted = MeteredChatModel(
                answers.chat, ledger=None, cache=None, memory="evaluation", purpose="answer", budget=answers.budget
            )
            self._chat = _Watched(counted)
        if answers.judge is not None:
            counted = MeteredChatModel(
                answers.judge, ledger=Ledger(usage_file(settings)), cache=None, memory="evaluation", purpose="judge",
                budget=answers.budget,
            )  # fmt: skip
            self.judge = Judge(counted, self._folder / "judge", fingerprint=_fingerprint(answers.judge))
        self.asking, self.judging = _Health(), _Health()

    @property
    def reasons(self) -> list[str]:
        """Why answers or verdicts are missing at the end of a run; empty when all was asked."""
        return list(dict.fromkeys(one.stopped for one in (self.asking, self.judging) if one.stopped is not None))

    def marked(self, memory: LabelledMemory, presets: Sequence[Preset]) -> dict[Preset, dict[str, Marked]]:
        """What is known of each answer, by preset and query_id, for every question that is to be answered."""
        questions = [*answerable_questions(memory), *unanswerable_questions(memory, self._plan.limit)]
        kept = {preset: Lines(self._folder / "answers" / f"{self._key(memory, preset)}.jsonl") for preset in presets}
        found: dict[Preset, dict[str, Given]] = {preset: {} for preset in presets}
        left: list[tuple[Preset, LabelledQuestion]] = []
        for preset in presets:
            for question in questions:
                record = kept[preset].get(question.query_id)
                if record is None:
                    left.append((preset, question))
                else:
                    found[preset][question.query_id] = Given.of(record)
        self._progress(len(presets) * len(questions) - len(left))

        def keep(one: tuple[Preset, LabelledQuestion], given: Given) -> None:
            preset, question = one
            found[preset][question.query_id] = given
            if given.failed is None:
                kept[preset].add(question.query_id, given.as_record())
            self._progress(1)

        if left and self.asking.stopped is None:
            self._embedder.prepare(memory.sessions, lambda _: None)
            with temporary_memory(
                memory, self._settings, self._embedder, self._plan.clues, self._progress, self._chat
            ) as opened:
                _each(left, lambda one: self._ask(opened, *one), keep, self._workers, self.asking)
        else:
            self._progress(memory.utterances)
        for preset, question in left:
            if question.query_id not in found[preset]:
                keep((preset, question), Given(failed=f"not asked: {self.asking.stopped}"))
        marked: dict[Preset, dict[str, Marked]] = {
            preset: {question.query_id: Marked(found[preset][question.query_id]) for question in questions}
            for preset in presets
        }
        spoken = {f"{one.utterance_id}": one for session in memory.sessions for one in session.utterances}
        for by_question in marked.values():
            for one in by_question.values():
                one.words = _word_supports(one.given, spoken)
            if self.judge is not None:
                self._judge(self.judge, memory, by_question, spoken)
        return marked

    def _ask(self, memory: TemporaryMemory, preset: Preset, question: LabelledQuestion) -> Given:
        saved = self._embedder.saved_milliseconds
        begun = time.perf_counter()
        if self._chat is not None:
            self._chat.begin()
        try:
            answer = memory.ask(question.text, asked_at=question.asked_at, k=max(self._plan.ks), preset=preset)
        except _STOPS:
            raise
        except AssoMemError as error:
            if isinstance(error, ModelError | BudgetSpent):
                self.asking.note(error)
            return Given(failed=f"{type(error).__name__}: {error}")
        seconds = time.perf_counter() - begun
        if self._chat is None:
            seconds += (self._embedder.saved_milliseconds - saved) / 1000
        error = None if self._chat is None else self._chat.error
        self.asking.note(error)
        return _given(answer, seconds, error, quoted=self._chat is None)

    def _judge(
        self,
        judge: Judge,
        memory: LabelledMemory,
        marked: Mapping[str, Marked],
        spoken: Mapping[str, Utterance],
    ) -> None:
        """Have every answer to an answerable question marked, and its statements compared with what they cite."""
        questions = answerable_questions(memory)
        left = [one for one in questions if marked[one.query_id].answers]
        self._progress(len(questions) - len(left))

        def work(question: LabelledQuestion) -> None:
            self._mark(judge, question, marked[question.query_id], spoken)

        _each(left, work, lambda _one, _none: self._progress(1), self._workers, self.judging)
        for question in left:
            one = marked[question.query_id]
            if one.verdict is None and one.unjudged is None:
                one.unjudged = f"not judged: {self.judging.stopped}"
                self._progress(1)

    def _mark(self, judge: Judge, question: LabelledQuestion, one: Marked, spoken: Mapping[str, Utterance]) -> None:
        try:
            found = judge.judge(question.text, question.answer or "", without_markers(one.given.text))
            one.verdict, one.judge_tokens = found.verdict, found.input_tokens + found.output_tokens
            if found.verdict is None:
                one.unjudged = found.failed or "no clear verdict, asked twice"
            self.judging.note(found.error)
            for said in one.given.statements:
                if one.given.quoted or not said.cited:
                    one.supported.append(one.given.quoted)
                    continue
                support = judge.supports(without_markers(said.text), "\n".join(_cited(said, one.given, spoken)))
                one.judge_tokens += support.input_tokens + support.output_tokens
                one.supported.append(support.verdict == "supported")
                self.judging.note(support.error)
        except BudgetSpent as error:
            self.judging.note(error)
            if one.verdict is None:
                one.unjudged = f"BudgetSpent: {error}"
            one.supported += [False] * (len(one.given.statements) - len(one.supported))

    @property
    def _workers(self) -> int:
        # Quotes are measured one after the other: their seconds are those of a search.
        return 1 if self._chat is None and self.judge is None else self._settings.model_concurrency

    def _key(self, memory: LabelledMemory, preset: Preset) -> str:
        prompts = [(one.system, one.user) for one in map(load_prompt, _PROMPTS)]
        chosen = self._settings.model_dump(include={"evidence_tokens", "answer_tokens", "hops"})
        file = self._plan.weights_file
        return key_of(
            memory.digest,
            preset,
            self._plan.clues,
            max(self._plan.ks),
            self._embedder.fingerprint,
            self._fingerprint,
            sorted(chosen.items()),
            prompts,
            None if file is None else file.read_bytes(),
            code_digest(),
        )


class _Health:
    """Whether it is worth asking a model again."""

    def __init__(self) -> None:
        self.stopped: str | None = None
        self._in_a_row = 0
        self._counting = threading.Lock()

    def note(self, error: AssoMemError | None) -> None:
        """Note how a call ended."""
        with self._counting:
            self._in_a_row = 0 if error is None else self._in_a_row + 1
            hopeless = isinstance(error, BudgetSpent) or (isinstance(error, ModelError) and error.kind in OF_EVERY_CALL)
            if error is not None and (hopeless or self._in_a_row >= MOST_FAILURES_IN_A_ROW):
                self.stopped = self.stopped or str(error)


class _Watched:
    """A `ChatModel` that remembers, for each thread, how its last call ended."""

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat
        self._here = threading.local()

    @property
    def name(self) -> str:
        return self._chat.name

    @property
    def error(self) -> ModelError | BudgetSpent | None:
        """Why the last call of this thread brought no whole answer."""
        return self._here.error

    def begin(self) -> None:
        """Forget earlier calls."""
        self._here.error = None

    def complete(
        self, system: str, user: str, *, max_tokens: int, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        self.begin()
        try:
            found = self._chat.complete(system, user, max_tokens=max_tokens, schema=schema)
        except (ModelError, BudgetSpent) as error:
            self._here.error = error
            raise
        if found.half or not found.text.strip():
            kind: ModelFailure = "cut_off" if found.text.strip() else "empty"
            self._here.error = ModelError(f"chat model {self.name}: the answer was {kind.replace('_', ' ')}", kind=kind)
        return found

    def stream(self, system: str, user: str, *, max_tokens: int) -> Iterator[str | Completion]:
        return self._chat.stream(system, user, max_tokens=max_tokens)


def _each(
    items: Sequence[T], work: Callable[[T], U], done: Callable[[T, U], None], workers: int, health: _Health
) -> None:
    """Do some work for every item, `workers` at once, until all are done or the health is at its end.

    `done` is called in the calling thread. What is being worked on when it ends is done to its end.
    """
    waiting = iter(items)
    running: dict[Future[U], T] = {}
    with ThreadPoolExecutor(workers) as pool:
        while True:
            while len(running) < workers and health.stopped is None:
                item = next(waiting, None)
                if item is None:
                    break
                running[pool.submit(work, item)] = item
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                done(running.pop(future), future.result())


def _presets(plan: Plan) -> list[Preset]:
    return [PRESETS[method] for method in plan.methods if method in PRESETS]


def _fingerprint(chat: ChatModel) -> str:
    return getattr(chat, "fingerprint", chat.name)


def _given(answer: Answer, seconds: float, error: AssoMemError | None, *, quoted: bool) -> Given:
    texts = {one.utterance_id: one.text for one in answer.evidence}
    if quoted:
        said = tuple(Said(texts[one.utterance_id], (one.marker,), True) for one in answer.citations)
    else:
        said = tuple(Said(one.text, one.markers, one.supported) for one in answer.claims)
    return Given(
        text=answer.text,
        abstained=answer.abstained,
        quoted=quoted,
        statements=said,
        sources={one.marker: one.utterance_id for one in answer.citations},
        seconds=round(seconds, 4),
        input_tokens=answer.usage["input_tokens"],
        output_tokens=answer.usage["output_tokens"],
        degraded=answer.degraded,
        failed=None if error is None else f"{type(error).__name__}: {error}",
    )


def _cited(said: Said, given: Given, spoken: Mapping[str, Utterance]) -> list[str]:
    """What a statement cites, as a prompt shows it."""
    pieces = [(mark, spoken[given.sources[mark]]) for mark in said.markers if mark in given.sources]
    return [quoted_line(mark, one.said_at, one.speaker, one.text) for mark, one in pieces]


def _word_supports(given: Given, spoken: Mapping[str, Utterance]) -> list[float]:
    return [word_support(one.text, _cited(one, given, spoken)) for one in given.statements]


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


def _scorer(result: AnswerEvaluation, note: Callable[[str], None]) -> Scorer | None:
    if result.bert_score is None:
        return None
    try:
        return open_bert_score(result.bert_score)
    except ModelError as error:
        result.skipped["bert_score"] = str(error)
        note(f"BERTScore is left out: {error}")
        return None


def _score(result: AnswerEvaluation, scorer: Scorer, note: Callable[[str], None]) -> None:
    """BERTScore of every answer to an answerable question."""
    found: list[tuple[Marked, str]] = []
    for by_memory in result.marked.values():
        for one in result.sets:
            for memory in one.memories:
                for question in answerable_questions(memory):
                    marked = by_memory[memory.digest][question.query_id]
                    if marked.answers:
                        found.append((marked, question.answer or ""))
    try:
        scores = scorer([without_markers(one.given.text) for one, _ in found], [answer for _, answer in found])
    except ModelError as error:
        result.skipped["bert_score"] = str(error)
        note(f"BERTScore is left out: {error}")
        return
    for (one, _), score in zip(found, scores, strict=True):
        one.bert_score = score


def _agreement(
    run: _Run, judge: Judge, result: AnswerEvaluation, progress: Progress, note: Callable[[str], None]
) -> Agreement | None:
    reason = run.judging.stopped
    if reason is None:
        try:
            return agreement(judge, progress=progress)
        except BudgetSpent as error:
            reason = str(error)
    result.skipped["judge"] = f"its agreement with people was not measured: {reason}"
    note(f"judge {judge.name}: {result.skipped['judge']}")
    return None
