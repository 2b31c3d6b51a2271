"""The result of reading a time expression."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Granularity = Literal[
    "minute",
    "hour",
    "part_of_day",
    "day",
    "weekend",
    "week",
    "month",
    "season",
    "quarter",
    "year",
    "decade",
    "range",
    "open",
]


@dataclass(frozen=True, slots=True)
class Interval:
    """One reading of one time expression: the half-open interval [start, end)."""

    start: datetime | None
    """First moment, in the zone of the reference; None: no beginning ("before 2023")."""

    end: datetime | None
    """First moment after it, in the zone of the reference; None: no end ("since 2020")."""

    text: str
    """The expression as it stands in the text."""

    granularity: Granularity
    """The calendar unit it names; `range` for stretches that are no unit, `open` when one end is None."""

    weight: float
    """In 0..1: how likely this reading is; the readings of one expression sum to 1."""

    span: tuple[int, int]
    """Where the expression stands: `text[span[0]:span[1]]`."""
