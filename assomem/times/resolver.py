"""From a text to its intervals: which rule wins, ranges, open ends, and the zone of the result."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, tzinfo
from functools import cache

from assomem.errors import InputError
from assomem.times import holidays, named, phrases
from assomem.times.interval import Interval
from assomem.times.quantities import read_ordinal
from assomem.times.reading import Match, Reader
from assomem.times.rulebook import rules_at
from assomem.times.spans import Closed, Span, day_of, move
from assomem.times.tokens import Tokens, words

_HABITS = frozenset({"every", "each", "per", "any", "most", "alternate", "usual"})
"""After these a period is a habit, not a time."""

_TITLE_WORDS = words(
    "the day night week weekend month year before after last next this of morning afternoon evening "
    "tomorrow yesterday today tonight ago first second third end early late in and to from"
)
"""Words that have a capital letter in the middle of a sentence only in a title."""

_QUOTES = frozenset("\"'“”«»*_")

_EARLIEST_YEAR, _LATEST_YEAR = 2, 9990
"""Years in which every zone can be converted to every other."""


def resolve(text: str, now: datetime) -> list[Interval]:
    """The times an English text means, seen from `now`: in the order of the text, likelier readings first.

    "Yesterday" and "at 3pm" are read on the calendar and the clock of `now`'s zone, and the intervals are
    in that zone. Where a text leaves the year or week open, the past is preferred unless the sentence
    speaks of the future. Empty when no time is meant: names and ordinary words ("May I", "sat next to"),
    habits ("every Friday"), lengths ("for two weeks") and times counted from an event ("two days before my
    trip") are none. The time taken grows linearly with the text; no text raises.

    Raises:
        InputError: `now` has no time zone.
    """
    if now.tzinfo is None or now.utcoffset() is None:
        raise InputError("now has no time zone, so 'yesterday' has no day. Give a datetime with tzinfo.")
    tokens = Tokens(text)
    reader = Reader(tokens, now, rules_at, phrases.FOLLOWERS)
    found: list[Interval] = []
    for start, match in _expressions(reader):
        span = (tokens.all[start].start, tokens.all[match.place - 1].core_end)
        for reading in match.readings:
            begin, finish = _in_zone(reading.span, now.tzinfo)
            found.append(Interval(begin, finish, text[slice(*span)], reading.span.granularity, reading.weight, span))
    return found


def _in_zone(span: Span, zone: tzinfo) -> tuple[datetime | None, datetime | None]:
    """Both ends in the zone. An hour that a clock change skips moves forward, so that it keeps its length."""
    start = None if span.start is None else span.start.replace(tzinfo=zone)
    end = None if span.end is None else span.end.replace(tzinfo=zone)
    if start is None or end is None or start.timestamp() < end.timestamp():
        return start, end
    length = end - start
    start = start.astimezone(UTC).astimezone(zone)
    return start, (start + length).replace(fold=start.fold)


# -- which expressions count


def _expressions(reader: Reader) -> Iterator[tuple[int, Match]]:
    """Each expression of the text with the place of its first token, from left to right, without overlap."""
    place = 0
    while place < len(reader.tokens):
        match = _expression(reader, place)
        if match is None:
            place += 1
            continue
        if not _is_habit(reader.tokens, place) and not _is_title(reader.tokens, place, match.place):
            in_order = _with_order(match)
            if in_order is not None:
                yield place, in_order
        place = match.place


def _expression(reader: Reader, place: int) -> Match | None:
    """The longest of the expressions that begin here."""
    key = reader.tokens.key(place)
    if "0" <= key[:1] <= "9" and not reader.tokens.free_before(place):
        return None  # inside a telephone number, a path, a version
    has_rules, is_opening = bool(rules_at(reader.tokens, place)), key in _openings()
    if not has_rules and not is_opening and key not in {"between", "from"}:
        return None  # as at most places: everything below costs time
    found = [
        _in_calendar(_open_end, reader, place) if is_opening else None,
        reader.period(place) if has_rules else None,
        None if is_opening else _in_calendar(_range, reader, place),
    ]
    return max((match for match in found if match is not None), key=lambda match: match.place, default=None)


def _in_calendar(read: Callable[[Reader, int], Match | None], reader: Reader, place: int) -> Match | None:
    try:
        return read(reader, place)
    except (ValueError, OverflowError):
        return None  # datetime's word for a date no calendar has, such as "June 3 to 31": none is meant


def _is_habit(tokens: Tokens, place: int) -> bool:
    before = place - 1 if tokens.key(place - 1) not in {"last", "first", "other", "second"} else place - 2
    return tokens.key(before) in _HABITS


def _is_title(tokens: Tokens, start: int, end: int) -> bool:
    """Whether the expression is the name of a film or a song: The Day After Tomorrow, "Tomorrow"."""
    named_days = holidays.places_of_names([tokens.key(place) for place in range(start, end)])
    capitals = [
        place
        for place in range(start, end)
        if place - start not in named_days
        and tokens.is_title_case(place)
        and tokens.key(place) in _TITLE_WORDS
        and not (place == start and tokens.starts_sentence(place))
    ]
    if end - start == 1 and capitals:
        return tokens.is_title_case(end) and tokens.key(end) != "i"
    quoted = tokens.key(start - 1) in _QUOTES and tokens.key(end) in _QUOTES and tokens.is_capitalised(start)
    return bool(capitals) or quoted


def _with_order(match: Match) -> Match | None:
    """The match without readings that leave the calendar or have no length; None when nothing is left."""
    kept = [(reading.span, reading.weight) for reading in match.readings if _is_in_order(reading.span)]
    return Match.weighted(match.place, kept, match.repeats) if kept else None


def _is_in_order(span: Span) -> bool:
    ends = [moment for moment in (span.start, span.end) if moment is not None]
    in_calendar = all(_EARLIEST_YEAR <= moment.year <= _LATEST_YEAR for moment in ends)
    return bool(ends) and in_calendar and ends[0] <= ends[-1] and (len(ends) == 1 or ends[0] < ends[1])


# -- ranges


_TO = frozenset({"to", "until", "till", "through", "thru", "-"})


def _range(reader: Reader, place: int) -> Match | None:
    """Between May and July, from 3 to 7 June, Monday to Wednesday, 2019-2021; from March onwards."""
    tokens = reader.tokens
    opener = tokens.key(place)
    start = place + 1 if opener in {"between", "from"} else place
    joiners = frozenset({"and", "-"}) if opener == "between" else _TO
    found = _days_of_one_month(reader, start, joiners) or _hours_of_one_day(reader, start, joiners)
    if found is not None:
        return found
    first = reader.period(start, trusted=start > place) or _doubtful_start(reader, start, joiners)
    if first is not None and tokens.key(first.place) in joiners:
        found = _range_to(reader, first, first.place + 1)
        if found is not None:
            return found
    if opener == "from" and first is not None and tokens.key(first.place) in {"on", "onward", "onwards", "forward"}:
        begins = first.best.start
        if begins is not None and not (
            tokens.key(first.place) == "on" and reader.period(first.place + 1, trusted=True)
        ):
            return Match.of(first.place + 1, Span(begins, None, "open"))
    return None


def _doubtful_start(reader: Reader, place: int, joiners: frozenset[str]) -> Match | None:
    """May to July: "May" alone may be a person, a month to a month is not."""
    first = reader.period(place, trusted=True)
    if first is None or first.repeats is None or reader.tokens.key(first.place) not in joiners:
        return None
    second = reader.period(first.place + 1, trusted=True)
    return first if second is not None and second.best.granularity == first.best.granularity else None


def _range_to(reader: Reader, first: Match, place: int) -> Match | None:
    tokens = reader.tokens
    if tokens.key(place) in {"now", "today", "date", "present"} or tokens.matches(place, "the", "present"):
        last = place + 1 + (tokens.key(place) == "the")
        begins = first.best.start
        return None if begins is None else Match.of(last, Span(begins, day_of(reader.now).end, "range"))
    second = reader.period(place, trusted=True)
    if second is not None:
        aligned = _aligned(reader, first, second)
        return None if aligned is None else Match.of(second.place, aligned)
    # "June 3 to 7": the second day has no month of its own.
    day = read_ordinal(tokens, place) or _day_number(tokens, place)
    inside = first.closed()
    if day is None or inside is None or inside.granularity != "day" or tokens.key(place - 1) == "until":
        return None
    end = day_of(inside.start.replace(day=day[1])).end
    explicit = named.read_year(reader, day[0])
    years = 0 if explicit is None else explicit[1] - inside.start.year
    found = move(Span(inside.start, end, "range"), years, "year")
    return Match.of(day[0] if explicit is None else explicit[0], found) if inside.start < end else None


def _day_number(tokens: Tokens, place: int) -> tuple[int, int] | None:
    value = tokens.integer(place, digits=2)
    free = value is not None and 1 <= value <= 31 and tokens.free_after(place + 1) and tokens.key(place + 1) != ":"
    if value is None or not free or tokens.key(place + 1) in {"am", "pm", "a", "p"}:
        return None
    return place + 1, value


def _days_of_one_month(reader: Reader, start: int, joiners: frozenset[str]) -> Match | None:
    """3 to 7 June, the 3rd to the 7th of June: the first day has no month of its own."""
    tokens = reader.tokens
    first_at = tokens.skip(start, "the")
    number = read_ordinal(tokens, first_at)
    if number is None:
        value = tokens.integer(first_at, digits=2)
        number = (first_at + 1, value) if value is not None else None
    if number is None or tokens.key(number[0]) not in joiners or not tokens.free_before(first_at):
        return None
    second = reader.period(number[0] + 1, trusted=True)
    inside = None if second is None else second.closed()
    if second is None or inside is None or inside.granularity != "day" or not 1 <= number[1] < inside.start.day:
        return None
    return Match.of(second.place, Closed(inside.start.replace(day=number[1]), inside.end, "range"))


def _hours_of_one_day(reader: Reader, start: int, joiners: frozenset[str]) -> Match | None:
    """9am to 11am yesterday: the first hour has no day of its own."""
    clock = phrases.read_clock(reader.tokens, start, vouched=True)
    if clock is None or reader.tokens.key(clock[0]) not in joiners:
        return None
    second = reader.period(clock[0] + 1, trusted=True)
    inside = None if second is None else second.closed()
    if second is None or inside is None or inside.granularity != "hour":
        return None
    begins = inside.start.replace(hour=clock[1], minute=clock[2])
    return Match.of(second.place, Closed(begins, inside.start, "range")) if begins < inside.start else None


def _aligned(reader: Reader, first: Match, second: Match) -> Closed | None:
    """From the start of the first to the end of the second, moved where the text leaves week or year open.

    "November to February": the November before that February. "March to May 2022": the March of that year.
    """
    begin, finish = first.closed(), second.closed()
    if begin is None or finish is None:
        return None
    start, end = begin.start, finish.end
    if first.repeats is not None:
        step = (1, "week") if first.repeats == "week" else (1, "year")
        if second.repeats is not None and start >= end and reader.tokens.is_future(first.place):
            end = _moved(end, *step)
        for _ in range(200):
            if start >= end:
                start = _moved(start, -step[0], step[1])
            elif _moved(start, *step) < end and second.repeats is None:
                start = _moved(start, *step)
            else:
                break
    elif second.repeats is not None:
        for _ in range(200):
            if end > start:
                break
            end = _moved(end, 1, second.repeats)
    return Closed(start, end, "range") if start < end else None


def _moved(moment: datetime, count: int, unit: str) -> datetime:
    moved = move(Span(moment, None, "open"), count, unit).start
    return moment if moved is None else moved


# -- open ends


_OPEN_ENDS: dict[Callable[[Closed], Span], tuple[str, ...]] = {
    lambda span: Span(span.start, None, "open"): (
        *("since", "ever since", "as of", "starting", "starting in", "starting from", "starting on"),
        "beginning in",
    ),
    lambda span: Span(span.end, None, "open"): ("after", "later than", "not before"),
    lambda span: Span(None, span.start, "open"): ("before", "prior to", "earlier than"),
    lambda span: Span(None, span.end, "open"): ("until", "till", "up until", "up to", "by", "no later than"),
}
"""What each opening word makes of the period behind it."""


@cache
def _openings() -> dict[str, list[tuple[list[str], Callable[[Closed], Span]]]]:
    """The openings by their first word, longer ones first."""
    found: dict[str, list[tuple[list[str], Callable[[Closed], Span]]]] = {}
    for end_of, openings in _OPEN_ENDS.items():
        for opening in openings:
            found.setdefault(opening.split()[0], []).append((opening.split(), end_of))
    return {first: sorted(longer, key=lambda pair: -len(pair[0])) for first, longer in found.items()}


def _open_end(reader: Reader, place: int) -> Match | None:
    """Since 2020, before June, until last week; after May and before July has both ends."""
    one = _one_open_end(reader, place)
    if one is None:
        return None
    after = reader.tokens.skip(reader.tokens.skip(one.place, ","), "but", "and")
    other = _one_open_end(reader, after)
    if other is None:
        return one
    ends = (one.best, other.best)
    start = next((span.start for span in ends if span.start is not None), None)
    end = next((span.end for span in ends if span.end is not None), None)
    if start is None or end is None:
        return one
    unit = one.repeats or other.repeats
    if unit is not None and one.repeats == other.repeats:
        while end <= start:
            end = _moved(end, 1, unit)
        if start > reader.now and not reader.tokens.is_future(place):
            start, end = _moved(start, -1, unit), _moved(end, -1, unit)
    return Match.of(other.place, Closed(start, end, "range")) if start < end else one


def _one_open_end(reader: Reader, place: int) -> Match | None:
    for opening, end_of in _openings().get(reader.tokens.key(place), ()):
        if not reader.tokens.matches(place, *opening):
            continue
        inner = reader.tokens.skip(place + len(opening), "about", "around")
        whole = reader.period(inner, trusted=len(opening) > 1 and opening[0] != "up")
        found = None if whole is None else whole.mapped(whole.place, end_of)
        if whole is not None and found is not None:
            return Match(found.place, found.readings, whole.repeats)
    return None
