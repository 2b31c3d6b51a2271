"""Measuring how well evidence is found: evaluate."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assomem.cli.options import (
    announce_start,
    given_settings,
    json_option,
    labelled_argument,
    labelled_clues_option,
)
from assomem.cli.output import bar, note, print_json, say, shown, table

if TYPE_CHECKING:
    from assomem.evaluation.generation import AnswerPlan
    from assomem.evaluation.run import Plan
    from assomem.settings import Settings

REPORT_FOLDER = Path("build/evaluation")


def _names(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...]:
    """`a,b` as a tuple; empty when nothing is given."""
    return tuple(name.strip() for name in (value or "").split(",") if name.strip())


def _numbers(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[int, ...]:
    """`6,10` as numbers.

    Raises:
        click.BadParameter: one of them is none.
    """
    try:
        return tuple(int(part) for part in (value or "").split(",") if part.strip())
    except ValueError:
        raise click.BadParameter("must be whole numbers with commas between them", context, parameter) from None


def _cosines(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[float, ...]:
    """`0.90,0.95` as numbers.

    Raises:
        click.BadParameter: one of them is none.
    """
    if value is None:
        return ()
    try:
        cosines = tuple(float(part) for part in value.split(","))
    except ValueError:
        cosines = ()
    if not cosines or not all(0 < cosine <= 1 for cosine in cosines):
        raise click.BadParameter("must be cosines above 0 and at most 1, such as 0.90,0.95", context, parameter)
    return cosines


@click.command()
@labelled_argument
@click.option(
    "--methods",
    callback=_names,
    default="default,flat",
    show_default=True,
    metavar="A,B",
    help="default, paper, flat, bm25, hybrid, session-utterance, topic-grouping, lst, knowledge-graph, "
    "rerank:MODEL. The others are compared with the first.",
)
@click.option("--ablate", callback=_names, metavar="X,Y", help="Also without: temporal, importance, weights, clues.")
@labelled_clues_option
@click.option(
    "--weights",
    default="shipped",
    show_default=True,
    metavar="shipped|cross-validated|others|FILE",
    help="Weights of the method default.",
)
@click.option(
    "--k", "ks", callback=_numbers, default="6,10", show_default=True, metavar="K,K", help="Where rankings are cut."
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most N questions of each memory, to try it out.")
@click.option(
    "--density",
    "sizes",
    callback=_numbers,
    metavar="N,N",
    help="Also with every memory grown to so many utterances, such as 1000,3000,9000.",
)
@click.option(
    "--distractors",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    metavar="PATH",
    help="Grow with sessions of these sets, besides near-duplicates; the sets measured serve each other.",
)
@click.option(
    "--delta",
    "deltas",
    callback=_cosines,
    metavar="D,D",
    help="Also with clues merged from these cosines on, such as 0.90,0.95.",
)
@click.option(
    "--gamma",
    "gammas",
    callback=_cosines,
    metavar="G,G",
    help="Also with SIMILAR links from these cosines on.",
)
@click.option("--answers", is_flag=True, help="Also ask the questions, and measure the answers.")
@click.option(
    "--judge",
    metavar="MODEL",
    help="With --answers: a language model that marks them, named as in ASSOMEM_CHAT_MODEL.",
)
@click.option(
    "--bert-score",
    metavar="MODEL",
    help="With --answers: BERTScore with this model, a folder or a name at hand; MODEL@5: its fifth layer.",
)
@click.option(
    "--budget-tokens",
    type=click.IntRange(1),
    metavar="N",
    help="With --answers: stop once the language models have taken and given so many tokens.",
)
@click.option(
    "--report",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=REPORT_FOLDER,
    show_default=True,
    metavar="FOLDER",
    help="Where report.md, report.html and results.json go.",
)
@json_option
def evaluate(
    paths: tuple[Path, ...],
    methods: tuple[str, ...],
    ablate: tuple[str, ...],
    clues: str,
    weights: str,
    ks: tuple[int, ...],
    limit: int | None,
    sizes: tuple[int, ...],
    distractors: tuple[Path, ...],
    deltas: tuple[float, ...],
    gammas: tuple[float, ...],
    answers: bool,
    judge: str | None,
    bert_score: str | None,
    budget_tokens: int | None,
    folder: Path,
    as_json: bool,
) -> None:
    """Measure how well evidence is found, on labelled questions; with --answers also how good the answers are.

    PATH is a folder with memory.jsonl and queries.jsonl, a folder of such folders, or the JSON file of LongMemEval or
    LoCoMo. Memories are made for the purpose and deleted at the end; no other memory is touched. What was found is
    kept in the cache, so a run that was cut short goes on.
    """
    from assomem.evaluation.datasets import read_sets
    from assomem.evaluation.methods import PRESETS
    from assomem.evaluation.report import write_report
    from assomem.evaluation.run import Plan, planned_steps
    from assomem.evaluation.run import evaluate as run

    if judge is not None and not judge.strip():
        raise click.UsageError("--judge is empty; name a language model as in ASSOMEM_CHAT_MODEL, or leave it out")
    if distractors and not sizes:
        raise click.UsageError("--distractors grows memories for --density; say to which sizes")
    for option, given in (("--judge", judge), ("--bert-score", bert_score), ("--budget-tokens", budget_tokens)):
        if given is not None and not answers:
            raise click.UsageError(f"{option} is about answers: give --answers too")
    settings = given_settings()
    plan = Plan(
        methods=methods, ablations=tuple(dict.fromkeys(ablate)),
        clues=clues,  # pyright: ignore[reportArgumentType]
        weights=weights, ks=tuple(sorted(set(ks))), limit=limit,
    ).checked()  # fmt: skip
    if answers and not any(method in PRESETS for method in methods):
        raise click.UsageError(f"--answers are written with the methods {' and '.join(PRESETS)}; name one of them")
    asked = _answer_plan(settings, judge, bert_score, budget_tokens) if answers else None
    sets = read_sets(paths)
    if any(method in PRESETS for method in methods):
        announce_start(settings)
    with bar("evaluating", planned_steps(sets, plan)) as progress:
        results = run(sets, plan, settings, progress=progress, note=note).as_json()
    if sizes:
        from assomem.evaluation.density import as_json as density_json
        from assomem.evaluation.density import checked_sizes, planned_study_steps, study

        here = {one.name for one in sets}
        others = [*sets, *(one for one in read_sets(distractors) if one.name not in here)]
        wanted = checked_sizes(sizes)
        with bar("growing", planned_study_steps(sets, others, wanted, plan)) as progress:
            steps = study(sets, others, wanted, plan, settings, progress=progress, note=note)
        results["density"] = density_json(steps)
        results["settings"]["density"] = list(wanted)
    if deltas or gammas:
        from assomem.evaluation.sensitivity import as_json as sensitivity_json
        from assomem.evaluation.sensitivity import checked_cosines
        from assomem.evaluation.sensitivity import study as try_cosines

        tried = {"deltas": checked_cosines("delta", deltas), "gammas": checked_cosines("gamma", gammas)}
        with bar("trying", planned_steps(sets, plan) * sum(map(len, tried.values()))) as progress:
            points = try_cosines(sets, plan, settings, **tried, progress=progress, note=note)
        results["sensitivity"] = sensitivity_json(points)
    if asked is not None:
        from assomem.evaluation.generation import measure_answers, planned_answer_steps

        with bar("answering", planned_answer_steps(sets, plan, asked)) as progress:
            results["answers"] = measure_answers(sets, plan, asked, settings, progress=progress, note=note).as_json()
    written = write_report(results, folder)
    if as_json:
        print_json(results)
    else:
        _show(results, plan)
    for name, found in results["data"].items():
        for method, one in found.items():
            for query_id, reason in one["failed"].items():
                note(f"{name}, {method}: question {shown(query_id)} failed and counts 0: {shown(reason)}")
    for name, found in results.get("answers", {"data": {}})["data"].items():
        for method, one in found.items():
            for what in ("failed", "unjudged"):
                for query_id, reason in one[what].items():
                    note(f"{name}, answers of {method}: question {shown(query_id)} counts as wrong: {shown(reason)}")
    note(f"written: {', '.join(str(file) for file in written)}")


def _answer_plan(
    settings: "Settings", judge: str | None, bert_score: str | None, budget_tokens: int | None
) -> "AnswerPlan":
    from assomem.evaluation.generation import AnswerPlan
    from assomem.models.chat import open_chat_model
    from assomem.models.metered import Budget

    return AnswerPlan(
        chat=open_chat_model(settings),
        judge=None if judge is None else open_chat_model(settings.model_copy(update={"chat_model": judge})),
        bert_score=bert_score,
        budget=None if budget_tokens is None else Budget(budget_tokens),
    )


def _show(results: dict[str, Any], plan: "Plan") -> None:
    names = [*(f"recall@{k}" for k in plan.ks), f"recall_all@{max(plan.ks)}", f"ndcg@{max(plan.ks)}", "mrr"]
    for name, found in results["data"].items():
        say(name)
        table(
            ["method", ("questions", "right"), *((one, "right") for one in names), ("ms", "right")],
            [
                (method, one["questions"], *(one[measure] for measure in names), one["milliseconds_p50"])
                for method, one in found.items()
            ],
        )
        aside = next(iter(found.values()))["set_aside"]
        counted = [f"{count} {reason.replace('_', ' ')}" for reason, count in aside.items() if count]
        if counted:
            say(f"set aside: {', '.join(counted)}\n")
    for name, ways in results.get("density", {}).items():
        for way, by_size in ways.items():
            say(f"{name}, {way}: recall@{max(plan.ks)} by utterances")
            methods = list(next(iter(by_size.values())))
            table(
                ["utterances", *((method, "right") for method in methods)],
                [
                    (size, *(found[method][f"recall@{max(plan.ks)}"] for method in methods))
                    for size, found in by_size.items()
                ],
            )
    from assomem.evaluation.report import sensitivity_tables

    for title, columns, rows in sensitivity_tables(results):
        say(title)
        table([(one, "right") for one in columns], rows)
    if "answers" in results:
        from assomem.evaluation.report import answer_tables, answers_about

        for title, columns, rows in answer_tables(results["answers"], by_type=False):
            say(title)
            table([columns[0], *((one, "right") for one in columns[1:])], rows)
        for line in answers_about(results["answers"]):
            say(line)
