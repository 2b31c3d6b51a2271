"""Rules for periods counted from now: "yesterday", "last Tuesday", "three days ago", "the past month"."""

from datetime import datetime, timedelta

from assomem.times import holidays
from assomem.times.named import WEEKDAYS, weekday_of, yearly_period
from assomem.times.quantities import UNITS, Quantity, read_quantity
from assomem.times.reading import Match, Reader
from assomem.times.spans import (
    DAY,
    DAY_PARTS,
    SEASONS,
    WEEK,
    Closed,
    day_of,
    day_part,
    move,
    shift,
    unit_of,
    weekday_in_week,
    weekend_of,
)

_STEPS = {
    "last": -1,
    "previous": -1,
    "past": -1,
    "this": 0,
    "current": 0,
    "next": 1,
    "coming": 1,
    "upcoming": 1,
}
_UNSTEPPED = frozenset({"minute", "day", "night", "hour"})
"""Units without a "last" and "this" of the calendar: "the last day", "this minute" are other things."""

_FORWARD = frozenset({"next", "coming", "following"})


# -- days


def named_day(reader: Reader, place: int, trusted: bool) -> Match | None:
    """Today, yesterday, tomorrow, tonight, last night; "earlier today" is today too."""
    del trusted
    tokens = reader.tokens
    key = tokens.key(place)
    if key in {"earlier", "later"} and tokens.key(place + 1) == "today":
        return Match.of(place + 2, day_of(reader.today))
    if key in {"today", "yesterday", "tomorrow"}:
        steps = {"yesterday": -1, "today": 0, "tomorrow": 1}[key]
        return Match.of(place + 1, day_of(reader.today + steps * DAY))
    if key == "tonight":
        return Match.of(place + 1, day_part(reader.today, "night"))
    if tokens.matches(place, "last", "night"):
        return Match.of(place + 2, day_part(reader.today - DAY, "night"))
    if key in {"last", "yesterday"} and tokens.key(place + 1) in {"evening", "afternoon"}:
        return Match.of(place + 2, day_part(reader.today - DAY, tokens.key(place + 1)))
    if key == "this" and tokens.key(place + 1) in DAY_PARTS:
        return Match.of(place + 2, day_part(reader.today, tokens.key(place + 1)))
    return None


def the_other_day(reader: Reader, place: int, trusted: bool) -> Match | None:
    """The other day, the other night: some day of the last week."""
    del trusted
    tokens = reader.tokens
    if tokens.matches(place, "the", "other") and tokens.key(place + 2) in {
        "day",
        "night",
        "evening",
        "morning",
    }:
        return Match.of(place + 3, Closed(reader.today - WEEK, reader.today, "range"))
    return None


def before_now(reader: Reader, place: int, trusted: bool) -> Match | None:
    """The night before, the day before, the week before, where nothing follows that it could be before."""
    del trusted
    tokens = reader.tokens
    start = tokens.skip(place, "the")
    if start == place or tokens.key(start + 1) != "before" or not tokens.ends_clause(start + 2):
        return None
    name = tokens.key(start)
    if name in DAY_PARTS:
        return Match.of(start + 2, day_part(reader.today - DAY, name))
    if name in {"day", "week", "weekend", "month", "year"}:
        return Match.of(start + 2, unit_of(reader.now, name, -1))
    return None


# -- last, this, next


def stepped(reader: Reader, place: int, trusted: bool) -> Match | None:
    """Last, this or next week, month, season, weekday, March, Christmas, and so on."""
    del trusted
    tokens = reader.tokens
    start = tokens.skip(place, "the")
    word = tokens.key(start)
    target = start + 1
    if word == "this" and tokens.key(target) in {"past", "last", "coming", "current"}:
        word, target = tokens.key(target), target + 1
    steps = _STEPS.get(word)
    if steps is None or (start > place and word in {"this", "next"}):
        return None
    name = tokens.key(target)
    unit = UNITS.get(name)
    if unit is not None:
        if name != unit or unit in _UNSTEPPED or tokens.key(target + 1) == "of":
            return None
        return _stepped_unit(reader, target, unit, steps, word)
    weekday = weekday_of(tokens, target)
    if weekday is not None:
        return Match.weighted(target + 1, _stepped_weekday(reader, weekday, word, target))
    return _stepped_name(reader, target, word)


def _stepped_unit(reader: Reader, target: int, unit: str, steps: int, word: str) -> Match:
    if unit == "weekend" and steps == 0:
        return _this_weekend(reader, target)
    if unit == "weekend" and steps == 1:
        coming = weekend_of(reader.now)
        if reader.now.weekday() < 5 and word == "next":
            return Match.of(target + 1, weekend_of(reader.now, 1), coming)
        return Match.of(target + 1, coming if reader.now.weekday() < 5 else weekend_of(reader.now, 1))
    return Match.of(target + 1, unit_of(reader.now, unit, steps))


def _this_weekend(reader: Reader, target: int) -> Match:
    """The weekend of this week; until Wednesday, if the sentence is about the past, the one just gone."""
    coming, gone = weekend_of(reader.now), weekend_of(reader.now, -1)
    if reader.now.weekday() > 2:
        return Match.of(target + 1, coming)
    past = reader.tokens.is_past(target) and not reader.tokens.is_future(target)
    return Match.weighted(target + 1, [(coming, 0.4 if past else 0.6), (gone, 0.6 if past else 0.4)])


def _stepped_weekday(reader: Reader, weekday: int, word: str, target: int) -> list[tuple[Closed, float]]:
    """The readings of "last Tuesday" and its like.

    "Last" is the one just gone, for some that of the week before; "next" the one to come or that of next
    week.
    """
    days_back = (reader.today.weekday() - weekday) % 7
    gone = day_of(reader.today - (days_back or 7) * DAY)
    to_come = day_of(reader.today + (7 - days_back) * DAY)
    this = weekday_in_week(reader.now, weekday)
    match word:
        case "past" | "previous":
            return [(gone, 1.0)]
        case "coming" | "upcoming":
            return [(to_come, 1.0)]
        case "last":
            return [(gone, 0.6), (weekday_in_week(reader.now, weekday, -1), 0.4)]
        case "next":
            return [(to_come, 0.5), (weekday_in_week(reader.now, weekday, 1), 0.5)]
        case _ if this.start < reader.today and not reader.tokens.is_past(target):
            return [(this, 0.6), (to_come, 0.4)]
        case _:
            return [(this, 1.0)]


def _distinct(*spans: Closed) -> list[Closed]:
    return list(dict.fromkeys(spans))


def _stepped_name(reader: Reader, target: int, word: str) -> Match | None:
    """Last March, this summer, next Christmas."""
    tokens = reader.tokens
    keys = [tokens.key(target + offset) for offset in range(5)]
    named = holidays.longest_name(keys)
    name, count = named if named is not None else (keys[0], 1)
    in_year = holidays.rules()[name] if named is not None else yearly_period(name)
    if in_year is None or not tokens.stands_alone(target, target + count):
        return None
    if not _is_no_verb(reader, target, name, word):
        return None
    year_number = reader.now.year
    spans = [in_year(year_number + offset) for offset in (-2, -1, 0, 1, 2)]
    if word in {"last", "past", "previous"}:
        gone = [span for span in spans if span.end <= reader.today][-1]
        # In November "last summer" is this year's for most, last year's for some.
        other = [gone] if named is not None or name in SEASONS else [in_year(year_number - 1)]
        readings = _distinct(gone, *other)
    elif word in {"next", "coming", "upcoming"}:
        to_come = next(span for span in spans if span.start > reader.now)
        readings = _distinct(to_come, in_year(year_number + 1)) if word == "next" and named is None else [to_come]
    else:
        running = [span for span in spans if span.start <= reader.now < span.end]
        readings = running or [in_year(year_number)]
    weights = [1.0, 0.8][: len(readings)]
    return Match.weighted(target + count, zip(readings, weights, strict=True))


def _is_no_verb(reader: Reader, target: int, name: str, word: str) -> bool:
    """Whether "this may", "this fall" is no sentence like "this may help", "did this fall down"."""
    tokens = reader.tokens
    if name in {"may", "march", "mar", "jan"} and not tokens.is_capitalised(target):
        return word == "last" or tokens.ends_clause(target + 1)
    if name in {"fall", "spring"}:
        stays = {
            "down",
            "off",
            "apart",
            "over",
            "asleep",
            "water",
            "roll",
            "rolls",
            "onion",
            "onions",
            "under",
            "into",
        }
        return tokens.key(target + 1) not in stays
    return True


def part_of_running(reader: Reader, place: int, trusted: bool) -> Match | None:
    """Earlier this month, later this week, so far this year, earlier in the year."""
    del trusted
    tokens = reader.tokens
    start = place + 2 if tokens.matches(place, "so", "far") else place + 1
    if start == place + 1 and tokens.key(place) not in {"earlier", "later"}:
        return None
    if not (tokens.key(start) == "this" or tokens.matches(start, "in", "the")):
        return None
    target = start + 1 + (tokens.key(start) == "in")
    name = tokens.key(target)
    if name in {"week", "month", "quarter", "year", "decade"}:
        whole = unit_of(reader.now, name)
    elif name in SEASONS and tokens.key(start) == "this":
        found = _stepped_name(reader, target, "this")
        inside = None if found is None else found.closed()
        if inside is None or not inside.start <= reader.now < inside.end:
            return found
        whole = inside
    elif name in {"day", "morning", "evening", "afternoon"} and tokens.key(start) == "this":
        return named_day(reader, start, False)
    else:
        return None
    if tokens.key(place) == "later":
        part = Closed(reader.today, whole.end, "range")
    else:
        part = Closed(whole.start, reader.today + DAY, "range")
    return Match.weighted(target + 1, [(part, 0.6), (whole, 0.4)])


def before_last(reader: Reader, place: int, trusted: bool) -> Match | None:
    """The week before last, the Friday before last, the summer before last; the week after next."""
    del trusted
    tokens = reader.tokens
    start = tokens.skip(place, "the")
    backward = tokens.matches(start + 1, "before", "last")
    if not backward and not tokens.matches(start + 1, "after", "next"):
        return None
    name, end = tokens.key(start), start + 3
    if name == "night" and backward:
        return Match.of(end, day_part(reader.today - 2 * DAY, "night"))
    if name in UNITS and name not in _UNSTEPPED:
        return Match.of(end, unit_of(reader.now, UNITS[name], -2 if backward else 2))
    if name in WEEKDAYS:
        weeks = -1 if backward else 1
        days = _stepped_weekday(reader, WEEKDAYS[name], "last" if backward else "next", start)
        return Match.weighted(end, [(day_of(day.start + weeks * WEEK), weight) for day, weight in days])
    found = _stepped_name(reader, start, "last" if backward else "coming")
    if found is None:
        return None
    return Match.of(end, move(found.best, -1 if backward else 1, "year"))


# -- counted units


def ago(reader: Reader, place: int, trusted: bool) -> Match | None:
    """Three days ago, a couple of weeks ago, half a year ago; two weeks back; a year ago today.

    Counted weeks, months and years give that calendar unit and, less likely, the exact day (of a year: the
    month).
    """
    del trusted
    tokens = reader.tokens
    quantity = read_quantity(tokens, place)
    if quantity is None:
        return None
    end = quantity.place
    if tokens.key(end) == "back":
        if not tokens.ends_clause(end + 1) and tokens.key(end + 1) not in {"when", "and", "but", "i", "we"}:
            return None
    elif tokens.key(end) != "ago":
        return None
    end += 1
    base = reader.today
    if quantity.unit in {"minute", "hour"}:
        return Match.of(end, _clock_counted(reader, quantity, -1))
    if tokens.key(end) in {"today", "yesterday", "tomorrow"}:
        base += {"yesterday": -1, "today": 0, "tomorrow": 1}[tokens.key(end)] * DAY
        return Match.of(end + 1, day_of(shift(base, -quantity.least, quantity.unit)))
    if tokens.matches(end, "this") and tokens.key(end + 1) in {"week", "month", "weekend", "year"}:
        running = unit_of(reader.now, tokens.key(end + 1)).start
        return Match.of(end + 2, unit_of(shift(running, -quantity.least, quantity.unit), tokens.key(end + 1)))
    named = _weekday_after_ago(reader, end, quantity)
    return named if named is not None else Match.weighted(end, counted_from(quantity, base, -1))


def _weekday_after_ago(reader: Reader, place: int, quantity: Quantity) -> Match | None:
    """Two weeks ago on Monday."""
    target = reader.tokens.skip(place, "on")
    weekday = weekday_of(reader.tokens, target)
    if weekday is None or quantity.unit not in {"week", "fortnight", "month", "year"}:
        return None
    return Match.of(target + 1, weekday_in_week(shift(reader.today, -quantity.least, quantity.unit), weekday))


def _clock_counted(reader: Reader, quantity: Quantity, sign: int) -> Closed:
    moment = reader.clock_later(sign * quantity.least, quantity.unit)
    if quantity.unit == "hour":
        return Closed(moment, moment + timedelta(hours=1), "hour")
    return Closed(moment, moment + timedelta(minutes=1), "minute")


def counted_from(quantity: Quantity, base: datetime, sign: int) -> list[tuple[Closed, float]]:
    """What lies that many units before (sign -1) or after (1) a moment, likeliest first.

    People who count in weeks, months or years rarely mean a day: the unit of the calendar comes first. A
    vague count ("a few days") also gives the stretch that it may mean.
    """
    exact = shift(base, sign * quantity.least, quantity.unit)
    spans: list[tuple[Closed, float]]
    match quantity.unit:
        case "minute" | "hour":
            length = timedelta(hours=1) if quantity.unit == "hour" else timedelta(minutes=1)
            spans = [(Closed(exact, exact + length, "hour" if quantity.unit == "hour" else "minute"), 1.0)]
        case "day" | "night":
            spans = [(day_of(exact), 1.0)]
        case "week" | "fortnight":
            spans = [(unit_of(exact, "week"), 0.6), (day_of(exact), 0.4)]
        case "weekend":
            spans = [(weekend_of(base, round(sign * quantity.least)), 1.0)]
        case "month" | "quarter":
            spans = [(unit_of(exact, "month"), 0.6), (day_of(exact), 0.4)]
        case _:
            whole = quantity.least >= 1 and quantity.least == int(quantity.least)
            spans = [(unit_of(exact, "year"), 0.6 if whole else 0.2), (unit_of(exact, "month"), 0.4)]
            if quantity.unit == "decade":
                spans.append((unit_of(exact, "decade"), 0.3))
    if quantity.is_vague and quantity.unit not in {"minute", "hour"}:
        spans.append((_vague_stretch(quantity, base, sign), 0.4))
    return spans


def _vague_stretch(quantity: Quantity, base: datetime, sign: int) -> Closed:
    """From one unit less than said to two more; between both numbers of "two or three weeks"."""
    least, most = quantity.least, quantity.most
    if least == most:
        least, most = max(1.0, least - 1), most + 2
    near, far = shift(base, sign * least, quantity.unit), shift(base, sign * most, quantity.unit)
    return Closed(min(near, far), max(near, far) + DAY, "range")


def from_now(reader: Reader, place: int, trusted: bool) -> Match | None:
    """Two weeks from now, a week from Friday, in three days, in two weeks' time.

    "In two weeks" is a length too ("I read it in two weeks"): it counts in a sentence about the future, "
    "or with "time"."
    """
    del trusted
    tokens = reader.tokens
    has_in = tokens.key(place) == "in"
    quantity = read_quantity(tokens, place + has_in)
    if quantity is None:
        return None
    end = quantity.place
    if tokens.key(end) == "from" and not has_in:
        if tokens.key(end + 1) in {"now", "today"}:
            return Match.weighted(end + 2, _counted_ahead(reader, quantity))
        base = reader.period(end + 1, trusted=True)
        if base is None or base.best.granularity != "day":
            return None
        # "A week from Friday" is said of the Friday to come.
        weeks = 1 if base.repeats == "week" and not tokens.is_future(place) else 0
        return base.mapped(
            base.place, lambda span: day_of(shift(span.start + weeks * WEEK, quantity.least, quantity.unit))
        )
    if not has_in:
        return None
    end = tokens.skip(end, "'")
    if tokens.key(end) == "time":
        return Match.weighted(end + 1, _counted_ahead(reader, quantity))
    if not tokens.is_future(place) or tokens.key(end) in {"of", "from"}:
        return None
    return Match.weighted(quantity.place, _counted_ahead(reader, quantity))


def _counted_ahead(reader: Reader, quantity: Quantity) -> list[tuple[Closed, float]]:
    if quantity.unit in {"minute", "hour"}:
        return [(_clock_counted(reader, quantity, 1), 1.0)]
    return counted_from(quantity, reader.today, 1)


def rolling(reader: Reader, place: int, trusted: bool) -> Match | None:
    """The last two weeks, the past few days, past 24 hours, the next three months; the past month.

    Counted back from now to the end of today. "The past month" is for some the calendar month before this.
    """
    del trusted
    tokens = reader.tokens
    start = tokens.skip(place, "the", "these", "this", "my", "our", "those")
    word = tokens.key(start)
    if word not in {"last", "past", "previous", "next", "coming"}:
        return None
    forward = word in _FORWARD
    unit = UNITS.get(tokens.key(start + 1))
    if unit is not None and tokens.key(start + 1) == unit:
        has_article = start > place and tokens.key(place) == "the"
        if not (has_article or (word == "past" and start == place)) or unit in {
            "minute",
            "day",
            "night",
            "weekend",
        }:
            return None
        if tokens.key(start + 2) in {"of", "before"} or tokens.is_possessive(start + 1):
            return None
        stretch = _stretch(reader, Quantity(start + 2, 1, 1, unit, is_vague=False), forward=forward)
        calendar = unit_of(reader.now, unit, 1 if forward else -1)
        return Match.weighted(start + 2, [(stretch, 0.6), (calendar, 0.4)])
    quantity = read_quantity(tokens, start + 1)
    if quantity is None or tokens.key(quantity.place) in {"of", "before", "ago"} or quantity.unit == "night":
        return None
    return Match.of(quantity.place, _stretch(reader, quantity, forward=forward))


def _stretch(reader: Reader, quantity: Quantity, *, forward: bool) -> Closed:
    if quantity.unit in {"minute", "hour"}:
        other = reader.clock_later(quantity.most if forward else -quantity.most, quantity.unit)
        return Closed(min(other, reader.now), max(other, reader.now), "range")
    if forward:
        return Closed(reader.today, shift(reader.today, quantity.most, quantity.unit) + DAY, "range")
    return Closed(shift(reader.today, -quantity.most, quantity.unit), reader.today + DAY, "range")


def the_weekend(reader: Reader, place: int, trusted: bool) -> Match | None:
    """Over the weekend: the one running or just gone, in a sentence about the future the next."""
    tokens = reader.tokens
    if not tokens.matches(place, "the", "weekend") or tokens.key(place + 2) in {"of", "before", "after"}:
        return None
    if not trusted and tokens.key(place - 1) not in {
        "over",
        "at",
        "on",
        "during",
        "for",
        "since",
        "before",
        "after",
        "all",
    }:
        return None
    steps = 0 if reader.now.weekday() >= 5 or tokens.is_future(place) else -1
    return Match.of(place + 2, weekend_of(reader.now, steps))


def whole_running(reader: Reader, place: int, trusted: bool) -> Match | None:
    """All week, all summer: the running one, or the season just gone."""
    del trusted
    tokens = reader.tokens
    name = tokens.key(place + 1)
    if tokens.key(place) not in {"all", "throughout"} or tokens.key(place + 2) in {"round", "long", "around"}:
        return None
    if name in SEASONS:
        found = yearly_period(name)
        spans = [] if found is None else [found(reader.now.year - 1), found(reader.now.year)]
        return Match.of(place + 2, max(span for span in spans if span.start <= reader.now))
    if name in {"week", "month", "year", "weekend"}:
        steps = -1 if name == "weekend" and reader.now.weekday() < 5 else 0
        return Match.of(place + 2, unit_of(reader.now, name, steps))
    return None


def this_time(reader: Reader, place: int, trusted: bool) -> Match | None:
    """This time last year, this day last month: around that day."""
    del trusted
    tokens = reader.tokens
    start = tokens.skip(place, "the", "around", "about")
    if tokens.key(start) not in {"this", "same"} or tokens.key(start + 1) not in {"time", "day"}:
        return None
    unit = UNITS.get(tokens.key(start + 3))
    if tokens.key(start + 2) != "last" or unit not in {"week", "month", "year"}:
        return None
    day = day_of(shift(reader.today, -1, unit))
    if tokens.key(start + 1) == "day" or unit == "week":
        return Match.of(start + 4, day)
    around = Closed(day.start - WEEK, day.end + WEEK, "range")
    return Match.weighted(start + 4, [(around, 0.6), (day, 0.4)])


def part_of_current(reader: Reader, place: int, trusted: bool) -> Match | None:
    """The week, the month, the year, where another rule asks for one: "the end of the month"."""
    tokens = reader.tokens
    if not trusted or tokens.key(place) != "the" or tokens.key(place - 1) not in {"of", "in"}:
        return None
    name = tokens.key(place + 1)
    if name not in {"week", "month", "quarter", "year", "decade"} or tokens.key(place + 2) in {
        "of",
        "before",
        "after",
    }:
        return None
    return Match.of(place + 2, unit_of(reader.now, name))
