"""Learning weights: fit."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assomem.cli.options import (
    announce_start,
    given_settings,
    json_option,
    labelled_argument,
)
from assomem.cli.output import bar, note, print_json, say, table

if TYPE_CHECKING:
    from assomem.evaluation.features import QuestionFeatures
    from assomem.evaluation.fit import Fit

_CLUES = ("none", "built-in", "ready")


def _checked_clues(_context: click.Context, _parameter: click.Parameter, text: str) -> tuple[str, ...]:
    clues = tuple(dict.fromkeys(part.strip() for part in text.split(",")))
    if not set(clues) <= set(_CLUES):
        raise click.BadParameter(f"give one or several of {', '.join(_CLUES)}, such as built-in,ready")
    return clues


@click.command()
@labelled_argument
@click.option(
    "--out",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="The weights file to write, for --weights and ASSOMEM_WEIGHTS.",
)
@click.option(
    "--rule",
    type=click.Choice(["listwise", "information"]),
    default="listwise",
    show_default=True,
    help="A listwise model, or conditional mutual information.",
)
@click.option(
    "--clues",
    default="built-in",
    show_default=True,
    metavar="A,B",
    callback=_checked_clues,
    help="Clues of the memories: none, built-in, ready; several to learn from all of them.",
)
@json_option
def fit(paths: tuple[Path, ...], out: Path, rule: str, clues: tuple[str, ...], as_json: bool) -> None:
    """Learn weights from labelled questions.

    PATH is as for `assomem evaluate`. Shown is recall@10 on questions that the weights were not learnt from: equal and
    shipped weights, and either rule learnt from the other memories (cross-validated) and from the other sets.
    """
    from assomem.evaluation.datasets import read_sets
    from assomem.evaluation.fit import fit as learn
    from assomem.evaluation.run import Plan, evaluate, planned_steps

    settings = given_settings()
    sets = read_sets(paths)
    announce_start(settings)
    plans = [Plan(methods=("default",), clues=one) for one in clues]  # pyright: ignore[reportArgumentType]
    features: dict[str, Sequence[QuestionFeatures]] = {}
    with bar("reading", sum(planned_steps(sets, plan) for plan in plans)) as progress:
        for plan in plans:
            for name, questions in evaluate(sets, plan, settings, progress=progress, note=note).features.items():
                features[name if plan is plans[0] else f"{name}, clues {plan.clues}"] = questions
    found = learn(features, rule)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(found.weights, indent=2) + "\n", encoding="utf-8")
    if as_json:
        print_json({"file": str(out), "rule": rule, "recall@10": found.worth, "candidates": found.candidates})
    else:
        _show(found)
    note(f"written: {out}; use it with --weights {out}, or set ASSOMEM_WEIGHTS")


def _show(found: "Fit") -> None:
    say("recall@10 on questions that were left out")
    ways = list(next(iter(found.worth.values())))
    table(
        ["weights", *((name, "right") for name in found.worth)],
        [(way, *(one[way] for one in found.worth.values())) for way in ways],
    )
    for name, one in found.candidates.items():
        say(
            f"{name}: {100 * one['recall']:.1f} % of the evidence among the candidates, "
            f"{one['mean']:.0f} of them on average, {one['most']:.0f} at most"
        )
