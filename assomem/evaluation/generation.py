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
from dataclasses import dataclass
from typing import Any, TypeVar

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
from assomem.evaluation.answer_metrics import without_markers, word_support
from assomem.evaluation.answers import (
    AnswerEvaluation,
    Given,
    Marked,
    Said,
    answerable_questions,
    unanswerable_questions,
)
from assomem.evaluation.bert_score import Scorer, open_bert_score
from assomem.evaluation.datasets import LabelledMemory, LabelledQuestion, LabelledSet
from assomem.evaluation.embeddings import KeptEmbedder
from assomem.evaluation.files import code_digest, key_of
from assomem.evaluation.judge import Agreement, Judge, agreement, judge_items
from assomem.evaluation.methods import PRESETS
from assomem.evaluation.own import TemporaryMemory, temporary_memory
from assomem.evaluation.results import Lines
from assomem.evaluation.run import Plan, Progress, limited
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
_OF_ONE_CALL: frozenset[ModelFailure] = frozenset({"too_long", "empty", "cut_off", "filtered"})
"""How a call fails when the endpoint is well."""


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
                # Quotes one after the other: their seconds are those of a search.
                workers = 1 if self._chat is None else self._settings.model_concurrency
                _each(left, lambda one: self._ask(opened, *one), keep, workers, self.asking)
        else:
            self._progress(memory.utterances)
        for preset, question in left:
            if question.query_id not in found[preset]:
                keep((preset, question), Given(failed=f"not asked: {self.asking.stopped}"))
        marked: dict[Preset, dict[str, Marked]] = {
            preset: {question.query_id: Marked(found[preset][question.query_id]) for question in questions}
            for preset in presets
        }
        spoken = {
            one.utterance_id or f"{session.session_id}:{position}": one
            for session in memory.sessions
            for position, one in enumerate(session.utterances, start=1)
        }
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

        _each(left, work, lambda _one, _none: self._progress(1), self._settings.model_concurrency, self.judging)
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
            kind = error.kind if isinstance(error, ModelError) else None
            self._in_a_row = 0 if error is None or kind in _OF_ONE_CALL else self._in_a_row + 1
            hopeless = isinstance(error, BudgetSpent) or kind in OF_EVERY_CALL
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
