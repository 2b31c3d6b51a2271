"""Calendar arithmetic on wall-clock time: spans of the calendar and how to move between them.

Every datetime here is naive: the wall clock of the person who speaks. `resolver` attaches the zone at the
end.
"""

from datetime import datetime, timedelta
from typing import NamedTuple

from assomem.times.interval import Granularity

DAY = timedelta(days=1)
WEEK = timedelta(days=7)

SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""First month of each season: whole months of the northern hemisphere, as weather services count them."""

DAY_PARTS = {
    "morning": (6, 12),
    "lunchtime": (12, 14),
    "afternoon": (12, 18),
    "evening": (18, 24),
    "night": (18, 30),
}
"""Hours from the midnight that begins the day; a night ends at six of the next day."""


class Span(NamedTuple):
    """[start, end) of the wall clock; None: no such end."""

    start: datetime | None
    end: datetime | None
    granularity: Granularity


class Closed(NamedTuple):
    """A span with both ends."""

    start: datetime
    end: datetime
    granularity: Granularity


def midnight(moment: datetime) -> datetime:
    """The beginning of the day."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)


def day_of(moment: datetime) -> Closed:
    """The day of a moment."""
    return Closed(midnight(moment), midnight(moment) + DAY, "day")


def week_of(moment: datetime, weeks: int = 0) -> Closed:
    """The week of a moment, Monday to Sunday, or one that many weeks later."""
    monday = midnight(moment) - moment.weekday() * DAY + weeks * WEEK
    return Closed(monday, monday + WEEK, "week")


def weekend_of(moment: datetime, weeks: int = 0) -> Closed:
    """Saturday and Sunday of the week of a moment, or of one that many weeks later."""
    saturday = week_of(moment, weeks).start + 5 * DAY
    return Closed(saturday, saturday + 2 * DAY, "weekend")


def weekday_in_week(moment: datetime, weekday: int, weeks: int = 0) -> Closed:
    """The given weekday (0 Monday) in the week of a moment, or in one that many weeks later."""
    return day_of(week_of(moment, weeks).start + weekday * DAY)


def month(year: int, number: int) -> Closed:
    """A month; the number may lie outside 1..12 and then runs into other years."""
    return Closed(_first_of(year, number), _first_of(year, number + 1), "month")


def quarter(year: int, number: int) -> Closed:
    """A quarter of a year; the number may lie outside 1..4."""
    return Closed(_first_of(year, 3 * number - 2), _first_of(year, 3 * number + 1), "quarter")


def half_year(year: int, number: int) -> Closed:
    """A half of a year, 1 or 2."""
    return Closed(_first_of(year, 6 * number - 5), _first_of(year, 6 * number + 1), "range")


def season(year: int, name: str) -> Closed:
    """A season that begins in the year."""
    return Closed(_first_of(year, SEASONS[name]), _first_of(year, SEASONS[name] + 3), "season")


def year(number: int) -> Closed:
    """A calendar year."""
    return Closed(datetime(number, 1, 1), datetime(number + 1, 1, 1), "year")


def decade(first_year: int) -> Closed:
    """Ten calendar years."""
    return Closed(datetime(first_year, 1, 1), datetime(first_year + 10, 1, 1), "decade")


def unit_of(moment: datetime, unit: str, steps: int = 0) -> Closed:
    """The calendar unit that contains the moment, or the one `steps` units later."""
    match unit:
        case "hour":
            start = moment.replace(minute=0, second=0, microsecond=0) + timedelta(hours=steps)
            return Closed(start, start + timedelta(hours=1), "hour")
        case "day":
            return day_of(moment + steps * DAY)
        case "week":
            return week_of(moment, steps)
        case "fortnight":
            start = week_of(moment, 2 * steps).start
            return Closed(start, start + 2 * WEEK, "range")
        case "weekend":
            return weekend_of(moment, steps)
        case "month":
            return month(moment.year, moment.month + steps)
        case "quarter":
            return quarter(moment.year, (moment.month + 2) // 3 + steps)
        case "year":
            return year(moment.year + steps)
        case "decade":
            return decade(moment.year // 10 * 10 + 10 * steps)
        case _:
            raise ValueError(f"{unit} is no calendar unit")


def add_months(moment: datetime, months: int) -> datetime:
    """The same day of another month, or that month's last day where it is shorter."""
    first = _first_of(moment.year, moment.month + months)
    last_day = (_first_of(first.year, first.month + 1) - DAY).day
    return moment.replace(year=first.year, month=first.month, day=min(moment.day, last_day))


def shift(moment: datetime, count: float, unit: str) -> datetime:
    """A moment `count` units later (earlier if negative). Half a month is 15 days, half a year six months."""
    match unit:
        case "minute" | "hour":
            return moment + timedelta(**{f"{unit}s": count})
        case "day" | "night":
            return moment + timedelta(days=round(count))
        case "week" | "weekend":
            return moment + timedelta(days=round(7 * count))
        case "fortnight":
            return moment + timedelta(days=round(14 * count))
        case "month":
            whole = int(count)
            return add_months(moment, whole) + timedelta(days=round(30 * (count - whole)))
        case _:
            months = {"quarter": 3, "year": 12, "decade": 120}[unit]
            return add_months(moment, round(months * count))


def move(span: Span, count: int, unit: str) -> Span:
    """The span that many units later."""
    return Span(
        None if span.start is None else shift(span.start, count, unit),
        None if span.end is None else shift(span.end, count, unit),
        span.granularity,
    )


def day_part(day: datetime, name: str) -> Closed:
    """The morning, lunchtime, afternoon, evening or night of a day."""
    first, last = DAY_PARTS[name]
    start = midnight(day)
    return Closed(start + timedelta(hours=first), start + timedelta(hours=last), "part_of_day")


def nth_weekday(year_number: int, month_number: int, weekday: int, count: int) -> datetime:
    """The `count`-th weekday (0 Monday) of a month; -1: the last one."""
    inside = month(year_number, month_number)
    return weekdays_within(inside, weekday)[count - 1 if count > 0 else count]


def weekdays_within(span: Closed, weekday: int) -> list[datetime]:
    """Every such weekday that begins in the span; at most those of ten years."""
    first = midnight(span.start) + (weekday - span.start.weekday()) % 7 * DAY
    weeks = min((span.end - first) // WEEK + 1, 522)
    return [day for number in range(weeks) if span.start <= (day := first + number * WEEK) < span.end]


def share(span: Closed, first: float, last: float) -> Closed:
    """The part of a span between two shares of its length, in whole days."""
    length = span.end - span.start

    def at(part: float) -> datetime:
        return midnight(span.start + length * part + DAY / 2)

    return Closed(at(first), max(at(last), at(first) + DAY), "range")


def _first_of(year_number: int, month_number: int) -> datetime:
    years, month_index = divmod(month_number - 1, 12)
    return datetime(year_number + years, month_index + 1, 1)
