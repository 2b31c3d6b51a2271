"""Answers measured from end to end on the test server: the sample memory, with models that answer from a table."""

import json
import re
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import pytest

from assomem import AssoMem, Settings, read_settings
from assomem.errors import InputError, ModelError
from assomem.evaluation import generation
from assomem.evaluation.answer_metrics import contains, token_f1
from assomem.evaluation.answers import answerable_questions, unanswerable_questions
from assomem.evaluation.datasets import LabelledQuestion, LabelledSet, read_sets
from assomem.evaluation.generation import AnswerPlan, measure_answers, planned_answer_steps
from assomem.evaluation.judge import judge_items
from assomem.evaluation.report import html, markdown, write_report
from assomem.evaluation.run import Plan
from assomem.models.chat import Completion, open_chat_model
from assomem.models.doubles import HashingEmbedder
from assomem.models.metered import Budget

Run = Callable[..., subprocess.CompletedProcess[str]]
SAMPLE = Path(generation.__file__).parents[1] / "sample"
ONCE = Plan(methods=("default",))


class SmallModel(Protocol):
    base_url: str
    name: str


class Table:
    """A `ChatModel` that answers each question from a table, judges by the words, and can be asked by threads."""

    def __init__(self, replies: Mapping[str, str | Exception], *, name: str = "table") -> None:
        self.name = name
        self.replies = replies
        self.asked: list[str] = []
        self.verdicts: dict[str, str] = {}
        self._counting = threading.Lock()

    def complete(
        self, system: str, user: str, *, max_tokens: int, schema: Mapping[str, Any] | None = None
    ) -> Completion:
        del max_tokens, schema
        if system.startswith("You mark answers"):
            return self._said(user, self._verdict(user))
        if system.startswith("You check whether"):
            statement, *evidence = re.search(r"Statement: (.*)\n((?:.|\n)*)\n</material>", user).groups()  # pyright: ignore[reportOptionalMemberAccess]
            return self._said(user, "supported" if "made up" not in statement and any(evidence) else "unsupported")
        question = " ".join(re.search(r"asked on (\S+) .*\n(.*)\Z", user).groups())  # pyright: ignore[reportOptionalMemberAccess]
        reply = self.replies.get(question, "NOT_IN_MEMORY")
        return self._said(question, reply)

    def stream(self, system: str, user: str, *, max_tokens: int) -> Iterator[str | Completion]:
        raise NotImplementedError

    def _verdict(self, user: str) -> str:
        reference, answer = re.search(r"Reference answer: (.*)\nAnswer to be marked: (.*)\n", user).groups()  # pyright: ignore[reportOptionalMemberAccess]
        return self.verdicts.get(
            f"{reference} | {answer}", "Correct." if contains(answer, reference) else "The answer is incorrect."
        )

    def _said(self, asked: str, reply: str | Exception) -> Completion:
        with self._counting:
            self.asked.append(asked)
        if isinstance(reply, Exception):
            raise reply
        return Completion(reply, "stop", 90, 10)


@pytest.fixture
def sample() -> list[LabelledSet]:
    return read_sets([SAMPLE])


@pytest.fixture
def nothing_left(memory: AssoMem) -> Iterator[None]:
    """No temporary memory is there afterwards."""
    yield
    assert not [row["memory"] for row in memory.memories() if re.match(r"evaluation \w+ (sample|band)", row["memory"])]


def key(question: LabelledQuestion) -> str:
    """Two questions of the sample have the same words and are asked on different days."""
    return f"{question.asked_at.date()} {question.text}"


def references(sets: list[LabelledSet]) -> dict[str, str]:
    """Question → an answer that is its reference, citing the best piece of evidence."""
    return {key(one): f"{one.answer} [1]." for one in sets[0].memories[0].asked}


@pytest.mark.usefixtures("nothing_left")
def test_answers_without_a_model_are_measured_by_their_words(sample: list[LabelledSet], apart: Settings) -> None:
    done: list[int] = []
    notes: list[str] = []
    found = measure_answers(
        sample, ONCE, AnswerPlan(), apart, embedder=HashingEmbedder(), progress=done.append, note=notes.append
    )
    assert sum(done) == planned_answer_steps(sample, ONCE, AnswerPlan())
    one = found.as_json()["data"]["sample"]["default"]
    assert one["questions"] == 31
    assert one["acc@10"] is None
    assert one["faithfulness"] is None
    assert one["bert_score"] is None
    assert 0 < one["token_f1"] < 1
    assert one["exact_match"] <= one["contains"]
    # Quotes are evidence word for word, and cite it.
    assert (one["faithfulness_words"], one["statements_cited"], one["citations_valid"]) == (1, 1, 1)
    assert one["tokens"] == {"input": 0, "output": 0, "a_question": 0, "judge": 0}
    assert one["seconds_p50"] > 0
    assert one["failed"] == one["unjudged"] == {}
    assert one["abstention"]["questions"] == 2
    assert sum(kind["questions"] for kind in one["by_type"].values()) == 31
    for low, high in one["ci95"].values():
        assert 0 <= low <= high <= 1
    (memory,) = sample[0].memories
    values = [
        token_f1(marked.given.text, question.answer or "") if not marked.given.abstained else 0
        for question in answerable_questions(memory)
        for marked in [found.marked["default"][memory.digest][question.query_id]]
    ]
    assert one["token_f1"] == pytest.approx(sum(values) / 31, abs=1e-6)
    assert "quotes" in notes[0]
    json.dumps(found.as_json(), allow_nan=False)


@pytest.mark.usefixtures("nothing_left")
def test_a_model_and_a_judge_are_measured_and_what_fails_counts_as_wrong_and_is_listed(
    sample: list[LabelledSet], apart: Settings
) -> None:
    asked = sample[0].memories[0].asked
    replies: dict[str, str | Exception] = dict(references(sample))
    replies[key(asked[0])] = ModelError("the endpoint gave up")
    replies[key(asked[1])] = "NOT_IN_MEMORY"
    replies[key(asked[2])] = "Something else, made up [1]. And more of it [99]."
    replies[key(asked[3])] = f"{asked[3].answer} [1][2]. This is made up [1]."
    replies[key(asked[4])] = f"{asked[4].answer}, it says."
    replies[key(unanswerable_questions(sample[0].memories[0])[0])] = "Ansgar [1]."
    chat = Table(replies)
    judge = Table({}, name="judging")
    judge.verdicts = {f"{item.reference} | {item.answer}": item.label for item in judge_items()} | {
        f"{asked[5].answer} | {asked[5].answer}.": "Hard to say."
    }
    answers = AnswerPlan(chat, judge)
    done: list[int] = []
    found = measure_answers(sample, ONCE, answers, apart, embedder=HashingEmbedder(), progress=done.append)
    assert sum(done) == planned_answer_steps(sample, ONCE, answers)
    result = found.as_json()
    one = result["data"]["sample"]["default"]
    # Of 31: one failed, one abstained, one is wrong, one has no verdict.
    assert one["acc@10"] == pytest.approx(27 / 31, abs=1e-6)
    assert (one["questions"], one["answered"]) == (31, 29)
    assert one["failed"] == {asked[0].query_id: "ModelError: the endpoint gave up"}
    assert one["unjudged"] == {asked[5].query_id: "no clear verdict, asked twice"}
    # Of 29 answers: 26 wholly supported, two by half or not at all, one without any citation.
    shares = [1.0] * 26 + [0.0, 0.5, 0.0]
    assert one["faithfulness"] == pytest.approx(sum(shares) / 29, abs=1e-6)
    assert one["statements_cited"] == pytest.approx((27 + 0.5) / 29, abs=1e-6)
    assert one["citations_valid"] == pytest.approx((27 + 0.5) / 28, abs=1e-6)
    assert one["statements"] == 31
    assert 0 < one["faithfulness_words"] < 1
    # Two abstentions: one where the memory holds nothing, one where it does. The other unanswerable one was answered.
    assert one["abstention"]["abstained"] == 2
    assert (one["abstention"]["precision"], one["abstention"]["recall"]) == (0.5, 0.5)
    assert one["abstention"]["by_reason"]["abstention"]["questions"] == 2
    assert one["abstention"]["by_reason"]["adversarial"] == {"questions": 0, "recall": None, "ci95": {}}
    assert one["tokens"]["input"] == 90 * 32
    assert one["tokens"]["a_question"] == pytest.approx(100 * 32 / 33, abs=0.05)
    assert one["tokens"]["judge"] > 0
    assert result["judge"]["model"] == "judging"
    assert (result["judge"]["items"], result["judge"]["accuracy"], result["judge"]["kappa"]) == (60, 1, 1)
    assert (result["settings"]["chat_model"], result["settings"]["judge"]) == ("table", "judging")


def test_a_second_run_asks_only_what_failed(sample: list[LabelledSet], apart: Settings) -> None:
    first = sample[0].memories[0].asked[0]
    replies: dict[str, str | Exception] = dict(references(sample))
    chat, judge = Table(replies | {key(first): ModelError("the endpoint gave up")}), Table({}, name="judging")
    measure_answers(sample, ONCE, AnswerPlan(chat, judge), apart, embedder=HashingEmbedder())
    again, idle = Table(replies), Table({}, name="judging")
    found = measure_answers(sample, ONCE, AnswerPlan(again, idle), apart, embedder=HashingEmbedder())
    assert again.asked == [key(first)]
    # Its verdict and that on its statement; every other is kept, the sixty of the agreement as well.
    assert len(idle.asked) == 2
    one = found.as_json()["data"]["sample"]["default"]
    assert (one["acc@10"], one["failed"], one["unjudged"]) == (1, {}, {})
    other = Table(replies, name="another model")
    measure_answers(sample, ONCE, AnswerPlan(other), apart, embedder=HashingEmbedder())
    assert len(other.asked) == 33


@pytest.mark.usefixtures("nothing_left")
def test_a_spent_budget_ends_the_run_what_was_not_asked_counts_as_wrong_and_the_next_run_goes_on(
    sample: list[LabelledSet], apart: Settings
) -> None:
    alone = apart.model_copy(update={"model_concurrency": 1})
    chat = Table(references(sample))
    notes: list[str] = []
    done: list[int] = []
    answers = AnswerPlan(chat, Table({}, name="judging"), budget=Budget(1000))
    found = measure_answers(
        sample, ONCE, answers, alone, embedder=HashingEmbedder(), note=notes.append, progress=done.append
    )
    assert len(chat.asked) == 10
    assert sum(done) == planned_answer_steps(sample, ONCE, answers) - len(judge_items())
    result = found.as_json()
    one = result["data"]["sample"]["default"]
    assert one["acc@10"] == 0
    assert len(one["failed"]) == 33 - 10
    assert all("budget of 1,000 tokens" in reason for reason in one["failed"].values())
    assert len(one["unjudged"]) == one["answered"] == 10
    assert result["settings"]["spent_tokens"] == 1000
    assert "budget" in result["skipped"]["judge"]
    assert [note for note in notes if "count as wrong" in note]
    more = Table(references(sample))
    whole = measure_answers(sample, ONCE, AnswerPlan(more), alone, embedder=HashingEmbedder()).as_json()
    assert len(more.asked) == 33 - 10
    assert whole["data"]["sample"]["default"]["failed"] == {}


def test_a_run_that_was_cut_short_goes_on(sample: list[LabelledSet], apart: Settings) -> None:
    alone = apart.model_copy(update={"model_concurrency": 1})
    left = 7

    def cut(steps: int) -> None:
        nonlocal left
        left -= steps == 1
        if left < 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure_answers(
            sample, ONCE, AnswerPlan(Table(references(sample))), alone, embedder=HashingEmbedder(), progress=cut
        )
    again = Table(references(sample))
    measure_answers(sample, ONCE, AnswerPlan(again), alone, embedder=HashingEmbedder())
    # One step beyond the seven was answered and kept when its progress was told.
    assert len(again.asked) == 33 - 8


@pytest.mark.parametrize(
    ("error", "calls"),
    [
        (ModelError("the key was refused", kind="key_refused"), 1),
        (ModelError("out of reach", kind="unreachable"), 5),
        (ModelError("cut off", kind="cut_off"), 33),
    ],
)
def test_a_model_that_cannot_answer_is_asked_as_long_as_another_question_may_fare_better(
    sample: list[LabelledSet], apart: Settings, error: ModelError, calls: int
) -> None:
    alone = apart.model_copy(update={"model_concurrency": 1})
    questions = [*sample[0].memories[0].asked, *unanswerable_questions(sample[0].memories[0])]
    chat = Table({key(one): error for one in questions})
    found = measure_answers(sample, ONCE, AnswerPlan(chat), alone, embedder=HashingEmbedder()).as_json()
    assert len(chat.asked) == calls
    one = found["data"]["sample"]["default"]
    assert len(one["failed"]) == 33
    assert (one["answered"], one["token_f1"], one["abstention"]["recall"]) == (0, 0, 0)


def test_an_adversarial_question_without_a_reference_is_one_to_abstain_from(talks: Path) -> None:
    garden = read_sets([talks])[0].memories[1]
    assert [one.query_id for one in unanswerable_questions(garden)] == ["q5", "q7_abs"]
    assert answerable_questions(garden) == ()  # its references are blank
    known = replace(garden, questions=tuple(replace(one, answer="sage") for one in garden.questions))
    assert [one.query_id for one in unanswerable_questions(known)] == ["q7_abs"]
    assert [one.query_id for one in answerable_questions(known)] == ["q1", "q2", "q3", "q4"]
    assert len(unanswerable_questions(garden, 1)) == 1


def test_a_reference_does_not_change_what_was_found_without_it(write: Callable[..., Path]) -> None:
    bare = read_sets([write("one")])[0].memories[0]
    told = read_sets([write("two", q1={"answer": "Anjali"}, q2={"answer": 7}, q3={"answer": ["a", "b"]})])[0].memories[
        0
    ]
    assert [one.answer for one in told.questions] == ["Anjali", "7", "a; b"]
    assert [one.answer for one in bare.questions] == [None, None, None]
    assert told.digest == bare.digest


def test_answers_need_a_method_that_gives_some(sample: list[LabelledSet], apart: Settings) -> None:
    with pytest.raises(InputError, match="methods default and paper"):
        measure_answers(sample, Plan(methods=("flat",)), AnswerPlan(), apart, embedder=HashingEmbedder())


def test_bert_score_without_its_package_or_model_is_left_out_with_a_reason(
    sample: list[LabelledSet], apart: Settings
) -> None:
    notes: list[str] = []
    found = measure_answers(
        sample, replace(ONCE, limit=1), AnswerPlan(bert_score="no/such-model"), apart, embedder=HashingEmbedder(),
        note=notes.append,
    ).as_json()  # fmt: skip
    assert found["data"]["sample"]["default"]["bert_score"] is None
    assert "bert-score" in found["skipped"]["bert_score"] or "not at hand" in found["skipped"]["bert_score"]
    assert notes[0] == f"BERTScore is left out: {found['skipped']['bert_score']}"


def test_bert_score_is_averaged_over_all_questions_and_0_for_those_without_an_answer(
    sample: list[LabelledSet], apart: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def scorer(answers: list[str], references: list[str]) -> list[float]:
        assert not [one for one in answers if re.search(r"\[\d+\]", one)]
        return [0.5] * len(references)

    monkeypatch.setattr(generation, "open_bert_score", lambda _model: scorer)  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    replies: dict[str, str] = references(sample)
    replies[key(sample[0].memories[0].asked[0])] = "NOT_IN_MEMORY"
    plan = AnswerPlan(Table(replies), bert_score="some model")
    found = measure_answers(sample, ONCE, plan, apart, embedder=HashingEmbedder()).as_json()
    assert found["data"]["sample"]["default"]["bert_score"] == pytest.approx(0.5 * 30 / 31, abs=1e-6)


def test_the_report_shows_the_answers_and_what_they_rest_on(
    sample: list[LabelledSet], apart: Settings, tmp_path: Path
) -> None:
    judge = Table({}, name="judging")
    found = measure_answers(
        sample, ONCE, AnswerPlan(Table(references(sample)), judge), apart, embedder=HashingEmbedder()
    ).as_json()
    settings = {"version": "1", "embedder": "e", "clues": "built-in", "weights": "shipped", "limit": None, "k": [10]}
    results: Any = {"data": {}, "comparisons": {}, "skipped": {}, "degraded": [], "settings": settings}
    assert "Answers" not in markdown(results)
    results["answers"] = found
    text, page = markdown(results), html(results)
    assert "| default | 31 | 31 | 100.0 [100.0, 100.0] |" in text
    assert "Cohen's kappa" in text
    assert "<h2>Answers</h2>" in page
    assert "the judge judging agrees with people on" in page
    for file in write_report(results, tmp_path / "out"):
        assert file.stat().st_size


# -- from the command line, and with a real model


def test_the_command_measures_answers_beside_the_data(run: Run, write: Callable[..., Path], tmp_path: Path) -> None:
    folder = write("band", q1={"answer": "Anjali"}, q2={"answer": "Koblenz"}, q3={"answer": "two hundred"})
    asked = ("evaluate", str(folder), "--methods", "default", "--answers", "--report", str(tmp_path / "out"))
    done = run(*asked, "--bert-score", "no/such-model", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {"data", "comparisons", "skipped", "degraded", "settings", "answers"} == set(found)
    assert found["data"]["band"]["default"]["questions"] == 3
    one = found["answers"]["data"]["band"]["default"]
    assert (one["questions"], one["acc@10"]) == (3, None)
    assert found["answers"]["judge"] is None
    assert "BERTScore is left out" in done.stderr
    shown = run(*asked)
    assert shown.returncode == 0, shown.stderr
    assert "band: abstention" in shown.stdout
    assert "## Answers" in (tmp_path / "out" / "report.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--judge", "m"], "--judge is about answers"),
        (["--bert-score", "m"], "--bert-score is about answers"),
        (["--budget-tokens", "5"], "--budget-tokens is about answers"),
        (["--answers", "--methods", "flat"], "methods default and paper"),
        (["--answers", "--budget-tokens", "0"], "0"),
    ],
)
def test_wrong_use_of_answers_is_named(run: Run, talks: Path, options: list[str], says: str) -> None:
    done = run("evaluate", str(talks / "band"), *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr


@pytest.mark.usefixtures("nothing_left")
def test_a_real_model_answers_and_judges_within_a_budget(
    write: Callable[..., Path], apart: Settings, small_model: SmallModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = judge_items()[:1]
    monkeypatch.setattr("assomem.evaluation.judge.judge_items", lambda: items)
    monkeypatch.setattr(generation, "judge_items", lambda: items)
    folder = write("band", q1={"answer": "Anjali"}, q2={"answer": "Koblenz"}, q3={"answer": "two hundred"})
    given = apart.model_dump(exclude_unset=True) | {
        "chat_model": small_model.name, "openai_base_url": small_model.base_url, "chat_timeout_seconds": 25,
        "model_concurrency": 1, "answer_tokens": 60,
    }  # fmt: skip
    settings = read_settings(**given)
    chat = open_chat_model(settings)
    sets, plan = read_sets([folder]), replace(ONCE, ks=(3,), limit=1)
    answers = AnswerPlan(chat, chat, budget=Budget(60_000))
    found = measure_answers(sets, plan, answers, settings, embedder=HashingEmbedder()).as_json()
    one = found["data"]["band"]["default"]
    assert one["questions"] == 1
    assert one["acc@3"] in {0, 1}
    assert one["tokens"]["input"] > 0 or one["failed"]
    assert found["judge"]["items"] == 1
    assert found["settings"]["spent_tokens"] > 0
