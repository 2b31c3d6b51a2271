"""Rules built on another period: "early March", "the first week of June", "two days before Christmas"."""

from datetime import datetime, timedelta

from assomem.times.named import WEEKDAYS, yearly_period
from assomem.times.quantities import UNITS, read_number, read_ordinal, read_quantity
from assomem.times.reading import Match, Reader
from assomem.times.relative import counted_from
from assomem.times.spans import (
    DAY,
    DAY_PARTS,
    WEEK,
    Closed,
    add_months,
    day_of,
    day_part,
    half_year,
    midnight,
    share,
    unit_of,
    week_of,
    weekday_in_week,
    weekend_of,
)
from assomem.times.tokens import Tokens

_PARTS = {
    "early": (0.0, 1 / 3),
    "beginning": (0.0, 1 / 3),
    "start": (0.0, 1 / 3),
    "mid": (1 / 3, 2 / 3),
    "middle": (1 / 3, 2 / 3),
    "late": (2 / 3, 1.0),
    "end": (2 / 3, 1.0),
}
"""Shares of a period, as people use these words."""

_UNIT_DAYS = {
    "day": 1,
    "weekend": 2,
    "week": 7,
    "fortnight": 14,
    "month": 28,
    "quarter": 90,
    "year": 365,
    "decade": 3650,
}

_BEFORE = frozenset({"before", "preceding"})
_AFTER = frozenset({"after", "following"})


# -- parts of a period


def part_of(reader: Reader, place: int, trusted: bool) -> Match | None:
    """Early March, mid-2022, late last year, the beginning of June, the end of the week."""
    del trusted
    tokens = reader.tokens
    start = tokens.skip(tokens.skip(place, "the"), "very")
    word = tokens.key(start)
    if word not in _PARTS:
        return None
    inner = tokens.skip(start + 1, "-")
    if word in {"beginning", "start", "middle", "end"}:
        if tokens.key(inner) != "of":
            return None
        inner += 1
    else:
        inner = tokens.skip(inner, "in", "on")
    whole = reader.period(inner, trusted=True)
    if whole is None:
        return None
    if whole.best.granularity in {"day", "part_of_day"}:
        # "Late on Friday", "early this morning": the day is what matters.
        return whole if word in {"early", "late"} else None
    part = whole.mapped(whole.place, lambda span: _part(span, word))
    return None if part is None else Match(part.place, part.readings, whole.repeats)


def _part(span: Closed, word: str) -> Closed | None:
    """The third of a span that "early", "mid" or "late" means, in the units people count it by."""
    first, last = _PARTS[word]
    match span.granularity:
        case "month":  # to the tenth, to the twentieth, the rest
            start = span.start + round(first * 30) * DAY
            return Closed(start, span.end if last == 1.0 else span.start + round(last * 30) * DAY, "range")
        case "year" if word in {"beginning", "start"}:
            return Closed(span.start, add_months(span.start, 2), "range")
        case "year" if word == "end":
            return Closed(add_months(span.end, -2), span.end, "range")
        case "year" | "decade":
            months = 12 if span.granularity == "year" else 120
            whole_units = 1 if months == 12 else 12
            begin, finish = (round(months * part / whole_units) * whole_units for part in (first, last))
            return Closed(add_months(span.start, begin), add_months(span.start, finish), "range")
        case "season" | "quarter" | "week":
            return share(span, first, last)
        case _:
            return None


def counted_part(reader: Reader, place: int, trusted: bool) -> Match | None:
    """The first week of July, the last three days of May, the second half of 2022."""
    del trusted
    tokens = reader.tokens
    start = tokens.skip(place, "the")
    ordinal = (start + 1, -1) if tokens.key(start) in {"last", "final"} else read_ordinal(tokens, start)
    if ordinal is None:
        return None
    after, number = ordinal
    quantity = read_quantity(tokens, after)
    if quantity is not None:
        count, unit, after = round(quantity.most), quantity.unit, quantity.place
    else:
        key = tokens.key(after)
        unit = key if key == "half" else UNITS.get(key, "")
        count = 3 if unit and key == f"{unit}s" else 1  # "the first days": some of them
        after += 1
    if not unit or tokens.key(after) not in {"of", "in"} or (count > 1 and number not in {1, -1}):
        return None
    whole = reader.period(after + 1, trusted=True)
    inside = None if whole is None else whole.closed()
    if whole is None or inside is None or inside.end - inside.start <= _UNIT_DAYS.get(unit, 1) * count * DAY:
        return None
    parts = [part for part in _counted(inside, unit, number, count) if part.start < inside.end]
    return Match.weighted(whole.place, zip(parts, (0.6, 0.4), strict=False), whole.repeats) if parts else None


def _counted(whole: Closed, unit: str, number: int, count: int) -> list[Closed]:
    """The `number`-th unit of a span, or its first or last `count` units."""
    match unit:
        case "half":
            return [_half(whole, number)] if number in {1, 2, -1} else []
        case "day" | "week" | "fortnight":
            days = {"day": 1, "week": 7, "fortnight": 14}[unit] * count
            start = whole.start + (number - 1) * days * DAY if number > 0 else whole.end - days * DAY
            counted = Closed(start, start + days * DAY, unit if count == 1 and unit != "fortnight" else "range")
            if unit != "week" or count > 1:
                return [counted]
            # Others count weeks of the calendar, those that lie mostly inside.
            middle = whole.start + 3 * DAY if number > 0 else whole.end - 4 * DAY
            return [counted, week_of(middle, number - 1 if number > 0 else 0)]
        case "weekend":
            saturday = whole.start + (5 - whole.start.weekday()) % 7 * DAY
            saturdays = [saturday + step * WEEK for step in range((whole.end - saturday - DAY) // WEEK + 1)]
            return (
                [weekend_of(saturdays[number - 1 if number > 0 else number])] if abs(number) <= len(saturdays) else []
            )
        case "month" | "quarter" | "year":
            months = {"month": 1, "quarter": 3, "year": 12}[unit]
            first = (
                add_months(whole.start, months * (number - 1)) if number > 0 else add_months(whole.end, -months * count)
            )
            return [Closed(first, add_months(first, months * count), unit if count == 1 else "range")]
        case _:
            return []


def _half(whole: Closed, number: int) -> Closed:
    if whole.granularity == "year":
        return half_year(whole.start.year, 1 if number == 1 else 2)
    return share(whole, 0.0, 0.5) if number == 1 else share(whole, 0.5, 1.0)


# -- days and their hours


def part_of_day(reader: Reader, place: int, trusted: bool) -> Match | None:
    """The night of 14 July, the morning of the 3rd, the night before Christmas."""
    del trusted
    tokens = reader.tokens
    start = tokens.skip(place, "the")
    name, link = tokens.key(start), tokens.key(start + 1)
    if name not in DAY_PARTS or link not in {"of", "before", "after"}:
        return None
    day = reader.period(start + 2, trusted=True)
    if day is None or day.best.granularity != "day":
        return None
    days_later = {"of": 0, "before": -1, "after": 1}[link]
    return day.mapped(day.place, lambda span: day_part(span.start + days_later * DAY, name))


def hours_of(reader: Reader, match: Match) -> Match | None:
    """What may follow a day: its morning, "at 3pm", "around noon"."""
    tokens = reader.tokens
    if match.best.granularity != "day":
        return None
    name_at = tokens.skip(tokens.skip(match.place, "in"), "the") if tokens.key(match.place) == "in" else match.place
    name = tokens.key(name_at)
    if name in DAY_PARTS:
        found = match.mapped(
            name_at + 1, lambda span: day_part(span.start, name) if span.granularity == "day" else None
        )
        return None if found is None else Match(found.place, found.readings, match.repeats)
    after = tokens.skip(tokens.skip(match.place, ","), "at", "around", "about")
    clock = read_clock(tokens, after, vouched=after > match.place and tokens.key(after - 1) != ",")
    if clock is None:
        return None
    return match.mapped(clock[0], lambda span: _at(span.start, clock) if span.granularity == "day" else None)


def clock_then_day(reader: Reader, place: int, trusted: bool) -> Match | None:
    """At 3pm yesterday, 15:30 on Monday, noon on 3 June. A clock time without a day is no date."""
    del trusted
    tokens = reader.tokens
    start = tokens.skip(place, "at")
    clock = read_clock(tokens, start, vouched=start > place)
    if clock is None:
        return None
    day = reader.period(tokens.skip(tokens.skip(clock[0], ","), "on"), trusted=True)
    if day is None:
        return None
    if day.best.granularity == "part_of_day":  # "at 9 this morning"
        return day.mapped(day.place, lambda span: _at(midnight(span.start), clock))
    return day.mapped(day.place, lambda span: _at(span.start, clock) if span.granularity == "day" else None)


def read_clock(tokens: Tokens, place: int, *, vouched: bool) -> tuple[int, int, int] | None:
    """A clock time: the place after it, hour, minute. `vouched`: after "at", a bare 3 or 15.30 counts too."""
    key = tokens.key(place)
    if key in {"noon", "midday", "midnight"}:
        return place + 1, 0 if key == "midnight" else 12, 0
    hour, end, minute = tokens.integer(place, digits=2), place + 1, 0
    if hour is None:
        number = read_number(tokens, place) if vouched else None
        if number is None or number.is_vague or number.value != int(number.value):
            return None
        hour, end = int(number.value), number.place
    has_minutes = tokens.key(end) in {":", "."} and tokens.glued(end) and tokens.glued(end + 1)
    if has_minutes and len(tokens.key(end + 1)) == 2 and tokens.integer(end + 1) is not None:
        minute, end = tokens.integer(end + 1) or 0, end + 2
    else:
        has_minutes = False
    half = _half_of_day(tokens, end)
    if half is not None:
        end, hour = half[0], hour % 12 + half[1] if hour <= 12 else hour
    elif tokens.key(end) == "o'clock":
        end += 1
    elif not (vouched or (has_minutes and tokens.key(end - 2) == ":")):
        return None
    return (end, hour, minute) if 0 <= hour < 24 and 0 <= minute < 60 else None


def _half_of_day(tokens: Tokens, place: int) -> tuple[int, int] | None:
    key = tokens.key(place)
    if key in {"am", "pm"}:
        return place + 1, 12 * (key == "pm")
    if key in {"a", "p"} and tokens.matches(place + 1, ".", "m"):
        return tokens.skip(place + 3, "."), 12 * (key == "p")
    return None


def _at(day: datetime, clock: tuple[int, int, int]) -> Closed:
    start = midnight(day) + timedelta(hours=clock[1], minutes=clock[2])
    return Closed(start, start + timedelta(hours=1), "hour")


# -- around another period


def counted_before_or_after(reader: Reader, place: int, trusted: bool) -> Match | None:
    """Two days before 5 July, a week after Christmas, three months prior to May 2022."""
    del trusted
    tokens = reader.tokens
    quantity = read_quantity(tokens, tokens.skip(place, "the") if read_number(tokens, place) is None else place)
    if quantity is None:
        return None
    after = quantity.place
    if tokens.matches(after, "prior", "to"):
        sign, after = -1, after + 2
    elif tokens.key(after) in {"before", "after"}:
        sign, after = (-1 if tokens.key(after) == "before" else 1), after + 1
    else:
        return None
    base = reader.period(after, trusted=True)
    inside = None if base is None else base.closed()
    if base is None or inside is None:
        return None
    anchor = inside.start if sign < 0 or inside.granularity == "day" else inside.end
    return Match.weighted(base.place, counted_from(quantity, anchor, sign))


def beside(reader: Reader, place: int, trusted: bool) -> Match | None:
    """The weekend before 17 July, the day after Christmas, the week of 3 May, the Friday following Easter."""
    del trusted
    tokens = reader.tokens
    start = tokens.skip(tokens.skip(place, "the"), "last", "first", "very", "next")
    name, link = tokens.key(start), tokens.key(start + 1)
    after = start + 2
    if link == "prior" and tokens.key(after) == "to":
        link, after = "before", after + 1
    if link in {"commencing", "beginning", "starting"} and name == "week":
        link = "of"
    if name not in UNITS and name not in WEEKDAYS and yearly_period(name) is None:
        return None
    if link not in _BEFORE | _AFTER | {"of", "leading"}:
        return None
    after = after + 2 if link == "leading" and tokens.matches(after, "up", "to") else after
    base = reader.period(tokens.skip(after, "on") if link == "of" else after, trusted=True)
    if base is None or (name in {"day", "days"} and base.best.granularity not in {"day", "weekend", "range"}):
        return None
    if link == "of":
        return base.mapped(base.place, lambda span: _unit_around(span, name))
    forward = link in _AFTER
    return base.mapped(base.place, lambda span: _next_to(span, name, forward=forward))


def _unit_around(span: Closed, name: str) -> Closed | None:
    """The week of 3 May, the weekend of the 4th, the Monday of that week."""
    if name in {"week", "weekend", "month"} and span.granularity in {"day", "weekend"}:
        return unit_of(span.start, name)
    if name in WEEKDAYS and span.granularity in {"week", "weekend", "day"}:
        return weekday_in_week(span.start, WEEKDAYS[name])
    return day_of(span.start) if name == "day" and span.granularity == "day" else None


def _next_to(span: Closed, name: str, *, forward: bool) -> Closed | None:
    """The unit, weekday, month or season just before or after a span."""
    if name in WEEKDAYS:
        weekday = WEEKDAYS[name]
        if forward:
            last = span.end - DAY
            return day_of(last + ((weekday - last.weekday()) % 7 or 7) * DAY)
        return day_of(span.start - ((span.start.weekday() - weekday) % 7 or 7) * DAY)
    in_year = yearly_period(name)
    if in_year is not None:
        return _year_next_to(span, [in_year(span.start.year + step) for step in (-2, -1, 0, 1, 2)], forward=forward)
    unit = UNITS[name]
    if name != unit:  # "the days before Christmas"
        days = {"day": 7, "week": 28, "month": 90}.get(unit)
        if days is None:
            return None
        return (
            Closed(span.end, span.end + days * DAY, "range")
            if forward
            else Closed(span.start - days * DAY, span.start, "range")
        )
    if unit == "night":
        return day_part(span.start + (DAY if forward else -DAY), "night")
    if unit == "day":
        return day_of(span.end if forward else span.start - DAY)
    if unit == "week" and span.granularity != "week":
        return Closed(span.end, span.end + WEEK, "week") if forward else Closed(span.start - WEEK, span.start, "week")
    if unit == "weekend":
        return _weekend_next_to(span, forward=forward)
    if unit in {"week", "month", "quarter", "year", "decade"}:
        return unit_of(span.end - DAY if forward else span.start, unit, 1 if forward else -1)
    return None


def _year_next_to(span: Closed, years: list[Closed], *, forward: bool) -> Closed:
    if forward:
        return next(period for period in years if period.start >= span.end)
    return [period for period in years if period.end <= span.start][-1]


def _weekend_next_to(span: Closed, *, forward: bool) -> Closed:
    if forward:
        return next(found for weeks in (0, 1) if (found := weekend_of(span.end - DAY, weeks)).start >= span.end)
    return next(found for weeks in (0, -1) if (found := weekend_of(span.start, weeks)).end <= span.start)


def holiday_stretch(reader: Reader, match: Match) -> Match | None:
    """What may follow a day: "Christmas week", "Easter weekend", "July 4th weekend"."""
    name = reader.tokens.key(match.place)
    if name not in {"week", "weekend"} or match.best.granularity not in {"day", "range"} or match.repeats == "week":
        return None

    def around(span: Closed) -> Closed:
        if name == "week":
            return unit_of(span.start, "week")
        # The days off that touch a weekend: from Friday or to Monday, Thursday where the holiday is one.
        days = weekend_of(span.start, -1 if span.start.weekday() == 0 else 0)
        return Closed(min(days.start, span.start), max(days.end, span.end), "weekend")

    return match.mapped(match.place + 1, around)


def narrowed(reader: Reader, match: Match) -> Match | None:
    """What may follow a longer period: "last year in May", "last week on Monday", "last summer, in July"."""
    tokens = reader.tokens
    after = tokens.skip(match.place, ",")
    if match.best.granularity not in {"year", "season", "week", "month"} or tokens.key(after) not in {
        "in",
        "at",
        "on",
        "during",
        "over",
        "around",
    }:
        return None
    inner = reader.period(after + 1, trusted=tokens.key(after) != "around")
    whole = match.closed()
    if inner is None or inner.repeats is None or whole is None:
        return None
    unit = inner.repeats
    if (unit == "week") != (match.best.granularity == "week"):
        return None

    def inside(span: Closed) -> Closed | None:
        name = {"week": 7 * DAY}.get(unit)
        for steps in range(-60, 60):
            if name is not None:
                moved = Closed(span.start + steps * name, span.end + steps * name, span.granularity)
            else:
                moved = Closed(add_months(span.start, 12 * steps), add_months(span.end, 12 * steps), span.granularity)
            if whole.start <= moved.start < whole.end:
                return moved
        return None

    return inner.mapped(inner.place, inside)


def roughly(reader: Reader, place: int, trusted: bool) -> Match | None:
    """Around 5 July: that day or the days about it."""
    tokens = reader.tokens
    if tokens.key(place) not in {"around", "circa"}:
        return None
    day = reader.period(place + 1, trusted=trusted)
    inside = None if day is None else day.closed()
    if day is None or inside is None:
        return None
    if inside.granularity != "day":
        return None if day.place == place + 1 else Match(day.place, day.readings, day.repeats)
    wide = Closed(inside.start - 3 * DAY, inside.end + 3 * DAY, "range")
    return Match.weighted(day.place, [(wide, 0.5), (inside, 0.5)], day.repeats)


FOLLOWERS = (hours_of, holiday_stretch, narrowed)
"""What may follow a period and change it."""
