"""How much hangs on δ (from where on two clues are one) and γ (from where on two nodes are SIMILAR).

Each δ is tried with the embedder's own γ, and each γ with its own δ: the same questions, in memories built anew.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from assomem.errors import InputError
from assomem.evaluation.datasets import LabelledSet
from assomem.evaluation.methods import PRESETS
from assomem.evaluation.run import Evaluation, Plan, Progress, evaluate
from assomem.models.embedder import open_embedder
from assomem.settings import Settings


@dataclass(frozen=True)
class Point:
    """The results with one δ and one γ."""

    delta: float
    gamma: float
    evaluation: Evaluation


def checked_cosines(name: str, values: Sequence[float]) -> tuple[float, ...]:
    """The values in ascending order, each once.

    Raises:
        InputError: one is not above 0 and at most 1.
    """
    if any(not 0 < value <= 1 for value in values):
        raise InputError(f"{name}: give cosines above 0 and at most 1, such as 0.90,0.95")
    return tuple(sorted(set(values)))


def study(
    sets: Sequence[LabelledSet],
    plan: Plan,
    settings: Settings,
    *,
    deltas: Sequence[float],
    gammas: Sequence[float],
    progress: Progress = lambda _: None,
    note: Callable[[str], None] = lambda _: None,
) -> list[Point]:
    """Measure with each δ, then with each γ, in the order given.

    Args:
        sets: the questions.
        plan: what to measure; of its methods only the presets know δ and γ.
        settings: as for `run.evaluate`.
        deltas: from `checked_cosines`.
        gammas: likewise.
        progress: told of steps done; each point takes `run.planned_steps`.
        note: told what a reader should know.

    Raises:
        InputError: no method of the plan is a preset.
    """
    if not any(method in PRESETS for method in plan.methods):
        raise InputError(f"delta and gamma matter to the methods {' and '.join(PRESETS)} alone; name one of them")
    own = open_embedder(settings)
    pairs = [*((delta, own.gamma) for delta in deltas), *((own.delta, gamma) for gamma in gammas)]
    points: list[Point] = []
    for delta, gamma in pairs:
        changed = settings.model_copy(update={"delta": delta, "gamma": gamma})
        points.append(Point(delta, gamma, evaluate(sets, plan, changed, progress=progress, note=note)))
    return points


def as_json(points: Sequence[Point]) -> list[dict[str, Any]]:
    """The points as plain values: `delta`, `gamma`, and `data` as `assomem evaluate` gives it."""
    return [
        {"delta": point.delta, "gamma": point.gamma, "data": point.evaluation.as_json()["data"]} for point in points
    ]
