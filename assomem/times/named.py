"""Rules for periods that have a name: dates, months, years, decades, quarters, seasons, weekdays, holidays.

Many of these names are ordinary words or numbers too. A name counts when it cannot be anything else
("November", "17 July"), or when the words around it say that a time is meant ("in May", "since 2020", "last
fall").
"""

from collections.abc import Callable
from datetime import datetime

from assomem.times import holidays
from assomem.times.quantities import UNITS, read_number, read_ordinal, read_quantity
from assomem.times.reading import Match, Reader
from assomem.times.spans import (
    DAY,
    SEASONS,
    WEEK,
    Closed,
    add_months,
    day_of,
    decade,
    half_year,
    month,
    nth_weekday,
    quarter,
    season,
    shift,
    weekday_in_week,
    year,
)
from assomem.times.tokens import Tokens, words

MONTHS = {
    "january": 1,
    "february": 2,
    "march": 3,
    "april": 4,
    "may": 5,
    "june": 6,
    "july": 7,
    "august": 8,
    "september": 9,
    "october": 10,
    "november": 11,
    "december": 12,
}
MONTH_SHORT = {name[:3]: number for name, number in MONTHS.items() if name != "may"} | {"sept": 9}
_ALSO_PEOPLE_OR_VERBS = frozenset({"march", "april", "may", "june", "august", "jan", "mar"})
_ALSO_VERBS = frozenset({"march", "may", "mar"})

WEEKDAYS = {
    spelling: number
    for number, spellings in enumerate(
        (
            "monday mon",
            "tuesday tue tues",
            "wednesday wed weds",
            "thursday thu thur thurs",
            "friday fri",
            "saturday sat",
            "sunday sun",
        )
    )
    for spelling in spellings.split()
}
_WEEKDAYS_ALSO_WORDS = frozenset({"sat", "sun", "wed", "mon"})

STRONG = words("in during since early late mid throughout last next this past previous coming back")
"""After these a month, a season or a year is meant."""
_WEAK = words("before after by until till prior")
"""After these too, unless a name follows ("by May Sarton")."""

_GOES_ON = words("and or but until till before after in on at of what who where when how did do was were is i we")
"""Words that may follow a month, and hardly the name of a person."""

_LOOSE = words("from to through and or between around about for of on at over with")

_PLANNING = words(
    "plan plans planned planning goal goals budget schedule scheduled booked target targets due set agenda"
)
"""What is planned "for June" is planned for a month; a gift "for June" is not."""

_MEASURES = words(
    "calories kcal dollars euros pounds bucks yen rupees people persons guests steps words miles km "
    "kilometers kilometres meters metres feet ft m cm mm kg grams g mg ml l liters litres pages points "
    "percent rpm hz watts kw characters seats employees users rows lines items copies times things "
    "degrees minutes hours days weeks months years acres tons tonnes mph psi volts units votes "
    "subscribers followers students kids children men women participants attendees square sqm cubic am pm"
)
"""Nouns that make the number before them a count, not a day or a year."""

_NUMBERED = words(
    "version versions v ver release room rooms page pages slide chapter section pin code number no id "
    "extension ext flight bus train route highway platform gate model line item step level lot ticket "
    "order invoice rfc iso build python windows office channel apartment apt suite unit password passcode "
    "postcode zip year-model population"
)
"""Words whose number is a label."""

_AFTER_SEASON_WORD = words(
    "water roll rolls onion onions mattress cleaning clean chicken loaded tide coat jacket tire tires "
    "tyres squash down off apart over asleep behind short through out in from back ill flat guy risk "
    "protection hazard"
)
"""What makes "spring" or "fall" another word."""

_HOLIDAY_THINGS = words(
    "tree trees card cards cake cakes cookie cookies song songs carol carols movie movies film films "
    "present presents gift gifts decoration decorations lights market markets sweater sweaters jumper "
    "costume costumes pudding egg eggs bunny ornament ornaments bonus island stocking stockings "
    "resolution resolutions list recipe recipes album special turkey wreath lily pie"
)
"""Things that bear a holiday's name and are around at other times."""

_DETERMINERS = words("the my our your their his her its that")


# -- shared pieces


def by_tense(reader: Reader, place: int, in_year: Callable[[int], Closed]) -> Closed:
    """The latest such period that has begun; in a sentence about the future the first that has not ended.

    `in_year` may raise ValueError for a year that has no such day (29 February).
    """
    this_year = reader.now.year
    if reader.tokens.is_future(place):
        years = range(this_year - 1, this_year + 9)
        return next(span for span in _spans(years, in_year) if span.end > reader.now)
    years = range(this_year, this_year - 10, -1)
    return next(span for span in _spans(years, in_year) if span.start <= reader.now)


def _spans(years: range, in_year: Callable[[int], Closed]) -> list[Closed]:
    found: list[Closed] = []
    for number in years:
        try:
            found.append(in_year(number))
        except ValueError:
            continue  # this year has no such day
    if not found:
        raise ValueError("no year has such a day")
    return found


def plain_year(tokens: Tokens, place: int) -> int | None:
    """A year of four digits, 1800 to 2199, that is no count and no part of something longer."""
    value = tokens.integer(place)
    if value is None or len(tokens.key(place)) != 4 or not 1800 <= value < 2200:
        return None
    if not tokens.stands_alone(place, place + 1) or tokens.key(place + 1) in _MEASURES:
        return None
    if tokens.key(place - 1) in {"$", "€", "£", "#"} or tokens.matches(place + 1, "%"):
        return None
    return value


def read_year(reader: Reader, place: int) -> tuple[int, int] | None:
    """A year that belongs to the period before it: ", 2023", "of 2023", "'23", "last year"."""
    tokens = reader.tokens
    if tokens.key(place) == ",":
        value = plain_year(tokens, place + 1)
        return None if value is None else (place + 2, value)
    after = tokens.skip(place, "of", "in")
    after = after + 2 if tokens.matches(after, "the", "year") else after
    value = plain_year(tokens, after)
    if value is not None:
        return after + 1, value
    short = _short_year_name(tokens, after)
    if short is not None:
        return after + 2, short + (2000 if short <= reader.now.year % 100 + 10 else 1900)
    after = tokens.skip(after, "the", "of")
    steps = {"last": -1, "previous": -1, "past": -1, "this": 0, "current": 0, "next": 1}.get(tokens.key(after))
    if steps is not None and tokens.key(after + 1) == "year":
        return after + 2, reader.now.year + steps
    if tokens.matches(after, "year", "before", "last"):
        return after + 3, reader.now.year - 2
    quantity = read_quantity(tokens, after)
    if quantity is not None and quantity.unit == "year" and tokens.key(quantity.place) == "ago":
        return quantity.place + 1, reader.now.year - round(quantity.least)
    return None


def _short_year_name(tokens: Tokens, place: int) -> int | None:
    """The number in '69."""
    if tokens.key(place) != "'" or not tokens.glued(place + 1) or len(tokens.key(place + 1)) != 2:
        return None
    return tokens.integer(place + 1) if tokens.free_after(place + 2) else None


def yearly(reader: Reader, name_at: int, place: int, in_year: Callable[[int], Closed]) -> Match:
    """A period that comes every year, in the year written behind it or the one the tense suggests."""
    explicit = read_year(reader, place)
    if explicit is not None:
        return Match.of(explicit[0], in_year(explicit[1]))
    return Match.of(place, by_tense(reader, name_at, in_year), repeats="year")


def _means_a_period(tokens: Tokens, place: int, end: int) -> bool:
    """Whether the words around a name that is also a word say that a time is meant."""
    before = place - 1
    if tokens.key(before) == "the":
        before -= 1
    if tokens.key(before) in STRONG:
        return tokens.key(before) not in {"this", "next"} or tokens.is_capitalised(place) or tokens.ends_clause(end)
    if tokens.key(before) in _WEAK:
        return not tokens.is_word(end) or tokens.key(end) in _GOES_ON
    if tokens.key(place - 1) in _DETERMINERS and tokens.is_capitalised(place) and tokens.is_word(end):
        return not tokens.is_capitalised(end) and tokens.key(end) not in _GOES_ON | {"bug"}  # "the May invoice"
    return tokens.key(before) == "for" and tokens.key(before - 1) in _PLANNING


# -- dates


def iso_date(reader: Reader, place: int, trusted: bool) -> Match | None:
    """2023-07-04, 2023/07/04, with T15:30 behind it too; 2023-07 after a preposition."""
    tokens = reader.tokens
    year_number = tokens.integer(place)
    sign = tokens.key(place + 1)
    if year_number is None or not year_number >= 1000 or len(tokens.key(place)) != 4 or sign not in {"-", "/"}:
        return None
    if not all(tokens.glued(place + offset) for offset in (1, 2)) or len(tokens.key(place + 2)) != 2:
        return None
    month_number = tokens.integer(place + 2)
    if month_number is None or tokens.key(place - 1) in _NUMBERED:
        return None
    day_number = tokens.integer(place + 4, digits=2)
    if tokens.key(place + 3) == sign and tokens.glued(place + 3) and tokens.glued(place + 4) and day_number is not None:
        end = place + 5
        day = day_of(datetime(year_number, month_number, day_number))
        if tokens.glued(end) and tokens.key(end) == "t" and tokens.integer(end + 1, digits=2) is not None:
            return _iso_time(tokens, end + 1, day.start)
        return Match.of(end, day) if tokens.stands_alone(place, end) else None
    if (trusted or tokens.key(place - 1) in STRONG | _WEAK) and tokens.stands_alone(place, place + 3):
        return Match.of(place + 3, month(year_number, month_number)) if 1 <= month_number <= 12 else None
    return None


def _iso_time(tokens: Tokens, place: int, day: datetime) -> Match | None:
    hour, minute = tokens.integer(place, digits=2), tokens.integer(place + 2, digits=2)
    if hour is None or tokens.key(place + 1) != ":" or minute is None:
        return None
    start = day.replace(hour=hour, minute=minute)
    end = place + 3
    # Seconds, their fraction and an offset belong to the expression; wall time is all that is read of it.
    while tokens.glued(end) and (tokens.integer(end) is not None or tokens.key(end) in {":", ".", "+", "-", "z"}):
        end += 1
    return Match.of(end, Closed(start, shift(start, 1, "minute"), "minute"))


def slashed_date(reader: Reader, place: int, trusted: bool) -> Match | None:
    """5/3/2023, 5.3.2023, 5-3-2023; 5/3 after "on" and the like: month first and day first where both exist.

    A reading that has passed is likelier than one to come. Points are written day first.
    """
    tokens = reader.tokens
    first, sign, second = (
        tokens.integer(place, digits=2),
        tokens.key(place + 1),
        tokens.integer(place + 2, digits=2),
    )
    if first is None or second is None or sign not in {"/", ".", "-"} or tokens.key(place - 1) in _NUMBERED:
        return None
    if not tokens.glued(place + 1) or not tokens.glued(place + 2):
        return None
    year_number, end = None, place + 3
    if tokens.key(end) == sign and tokens.glued(end) and tokens.glued(end + 1):
        year_number, end = _short_year(tokens, end + 1, sign), end + 2
        if year_number is None:
            return None
    elif sign != "/" or not (trusted or tokens.key(place - 1) in {"on", "by", "until", "till", "since", "dated"}):
        return None
    if not tokens.stands_alone(place, end) or tokens.key(end) in {"of", "%"}:
        return None
    spans: list[tuple[Closed, float]] = []
    for month_number, day_number, weight in (
        (first, second, 1.0),
        (second, first, 9.0 if sign == "." else 0.8),
    ):
        if 1 <= month_number <= 12 and 1 <= day_number <= 31:
            day = _date(reader, place, month_number, day_number, year_number)
            spans.append((day, weight if day.start <= reader.now else weight / 4))
    return Match.weighted(end, spans) if spans else None


def _short_year(tokens: Tokens, place: int, sign: str) -> int | None:
    value = tokens.integer(place)
    if value is None:
        return None
    if len(tokens.key(place)) == 4:
        return value
    # 1.2.23 is rather a version or a section than a day.
    return (2000 if value < 70 else 1900) + value if len(tokens.key(place)) == 2 and sign != "." else None


def _date(reader: Reader, place: int, month_number: int, day_number: int, year_number: int | None) -> Closed:
    if year_number is not None:
        return day_of(datetime(year_number, month_number, day_number))
    return by_tense(reader, place, lambda number: day_of(datetime(number, month_number, day_number)))


def _skip_weekday(tokens: Tokens, place: int) -> int:
    """Past "Tuesday, " or "Tue. the ", where a date follows."""
    if tokens.key(place) not in WEEKDAYS:
        return place
    return tokens.skip(tokens.skip(place + 1, "."), ",")


def _read_month(tokens: Tokens, place: int) -> tuple[int, int] | None:
    key = tokens.key(place)
    if key in MONTHS:
        return place + 1, MONTHS[key]
    if key in MONTH_SHORT:
        after = place + 1
        # The point of an abbreviation, unless the sentence ends with it.
        return (after + 1 if tokens.glued(after) and tokens.key(after) == "." else after), MONTH_SHORT[key]
    return None


def _read_day_number(tokens: Tokens, place: int) -> tuple[int, int, bool] | None:
    """A day of the month: the place after it, its value, whether it is written as an ordinal."""
    ordinal = read_ordinal(tokens, place)
    if ordinal is not None:
        return (*ordinal, True) if 1 <= ordinal[1] <= 31 else None
    value = tokens.integer(place, digits=2)
    return (place + 1, value, False) if value is not None and 1 <= value <= 31 else None


def day_then_month(reader: Reader, place: int, trusted: bool) -> Match | None:
    """17 July, the 29th of February 2024, Tuesday the 11th of July; of "3 and 5 June" the third."""
    tokens = reader.tokens
    start = tokens.skip(_skip_weekday(tokens, place), "the")
    day = _read_day_number(tokens, start)
    if day is None or (start == place and not (trusted or tokens.free_before(start))):
        return None
    after, day_number, is_ordinal = day
    has_of = tokens.key(after) == "of"
    found = _read_month(tokens, tokens.skip(after, "of"))
    if found is None:
        # "3 and 5 June": the month stands behind the second day.
        second = _read_day_number(tokens, after + 1) if tokens.key(after) in {"and", "or", ","} else None
        found = _read_month(tokens, tokens.skip(second[0], "of")) if second is not None else None
        if found is None or tokens.key(place - 1) == "between":
            return None
        listed = yearly(reader, place, found[0], lambda number: day_of(datetime(number, found[1], day_number)))
        return Match(after, listed.readings, listed.repeats)
    month_at = after + has_of
    doubtful = tokens.key(month_at) in _ALSO_VERBS and not tokens.is_capitalised(month_at)
    match = yearly(reader, place, found[0], lambda number: day_of(datetime(number, found[1], day_number)))
    if doubtful and not (trusted or has_of or match.repeats is None or tokens.key(place - 1) == "on"):
        return None
    if is_ordinal and not has_of and not tokens.is_capitalised(month_at) and doubtful:
        return None
    return match


def month_then_day(reader: Reader, place: int, trusted: bool) -> Match | None:
    """July 11, July the 11th, Tue, Jul. 11th, 2023."""
    tokens = reader.tokens
    start = _skip_weekday(tokens, place)
    found = _read_month(tokens, start)
    if found is None or not tokens.free_before(start):
        return None
    day = _read_day_number(tokens, tokens.skip(found[0], "the"))
    if day is None:
        return None
    after, day_number, is_ordinal = day
    if not tokens.free_after(after) or tokens.key(after) == ":":
        return None
    match = yearly(reader, place, after, lambda number: day_of(datetime(number, found[1], day_number)))
    if is_ordinal or match.repeats is None:
        return match
    if tokens.key(after) in _MEASURES or tokens.key(after) == "of":
        return None
    if tokens.key(start) in _ALSO_VERBS and not trusted:
        dated = tokens.key(place - 1) in _WEAK | _LOOSE | {"since"}
        opens = tokens.starts_sentence(place) and tokens.is_word(after) and tokens.key(after).endswith("s")
        if not dated and (opens or not tokens.is_capitalised(start)):
            return None
    return match


def day_of_some_month(reader: Reader, place: int, trusted: bool) -> Match | None:
    """The 5th, Monday the 3rd, the 5th of last month, the first of the month."""
    tokens = reader.tokens
    weekday = WEEKDAYS.get(tokens.key(place))
    start = _skip_weekday(tokens, place)
    has_article = tokens.key(start) == "the"
    ordinal = read_ordinal(tokens, tokens.skip(start, "the"))
    if ordinal is None or not 1 <= ordinal[1] <= 31 or not (has_article or weekday is not None):
        return None
    after, day_number = ordinal
    if tokens.key(after) == "of":
        owner = tokens.skip(after + 1, "the")
        steps = {"last": -1, "previous": -1, "this": 0, "next": 1, "current": 0}.get(tokens.key(owner))
        owner += steps is not None
        if tokens.key(owner) != "month" or (steps is None and owner == after + 1):
            return None
        return Match.of(owner + 1, day_of(add_months(reader.today.replace(day=1), steps or 0).replace(day=day_number)))
    in_digits = tokens.integer(after - 2, digits=2) is not None
    follows = tokens.key(place - 1) in {"on", "since", "until", "till", "by", "before", "after", "from"}
    if weekday is None and not (in_digits and (trusted or follows)):
        return None
    if tokens.is_word(after) and tokens.is_title_case(after) and not follows:
        return None  # "the 5th Avenue"
    direction = 1 if tokens.is_future(place) else -1
    for steps in range(0, 24 * direction, direction):
        first = add_months(reader.today.replace(day=1), steps)
        day = first + (day_number - 1) * DAY
        passed = day <= reader.now if direction < 0 else day >= reader.today
        if day.month == first.month and passed and (weekday is None or day.weekday() == weekday):
            return Match.of(after, day_of(day))
    return None


# -- months, seasons, years


def month_name(reader: Reader, place: int, trusted: bool) -> Match | None:
    """November, in May, May 2023, May of last year; "in May and June 2021": both of 2021."""
    tokens = reader.tokens
    found = _read_month(tokens, place)
    if found is None or not (trusted or tokens.free_before(place)):
        return None
    end, number = found
    match = yearly(reader, place, end, lambda year_number: month(year_number, number))
    if match.repeats is None:
        return match
    if not tokens.free_after(end) or (tokens.is_possessive(place) and tokens.key(place) in _ALSO_PEOPLE_OR_VERBS):
        return None
    if tokens.key(end) in {"and", "or", ",", "/", "&"}:
        second = _read_month(tokens, end + 1)
        explicit = read_year(reader, second[0]) if second is not None else None
        if explicit is not None:
            return Match.of(end, month(explicit[1], number))
    if not trusted and not _follows_a_listed_month(tokens, place) and not _means_a_month(tokens, place, end):
        return None
    if _continues_as_a_verb(tokens, place, end):
        return None
    if tokens.key(end - 1) == "." and not tokens.key(end):
        end -= 1  # the point ends the text, not the word
    return Match(end, match.readings, match.repeats)


def _means_a_month(tokens: Tokens, place: int, end: int) -> bool:
    key = tokens.key(place)
    if key not in MONTHS and tokens.key(place - 1) not in STRONG | _WEAK | _LOOSE:
        return False  # a short name without a preposition
    return key not in _ALSO_PEOPLE_OR_VERBS or _means_a_period(tokens, place, end)


def _continues_as_a_verb(tokens: Tokens, place: int, end: int) -> bool:
    """Whether "may" or "march" in lower case is followed by what follows a verb."""
    if tokens.key(place) not in _ALSO_VERBS or tokens.is_capitalised(place):
        return False
    return tokens.key(end) in {"be", "have", "i", "you", "we", "on", "order", "past", "with"}


def _follows_a_listed_month(tokens: Tokens, place: int) -> bool:
    """Whether "in May and" or "in May," stands before: then this is a month as well."""
    if tokens.key(place - 1) not in {"and", "or", ",", "&"}:
        return False
    before = place - 2 if tokens.key(place - 2) != "," else place - 3
    if plain_year(tokens, before) is not None:
        before -= 1
    if _read_month(tokens, before) is None:
        return False
    return tokens.key(before) not in _ALSO_PEOPLE_OR_VERBS or tokens.key(before - 1) in STRONG | _WEAK


def season_name(reader: Reader, place: int, trusted: bool) -> Match | None:
    """In spring, the fall of 2021, winter 2022, over the summer."""
    tokens = reader.tokens
    start = tokens.skip(place, "the")
    name = tokens.key(start)
    if name not in SEASONS or not tokens.stands_alone(start, start + 1):
        return None
    match = yearly(reader, start, start + 1, lambda number: season(number, name))
    if match.repeats is None:
        ends_in_year = match.mapped(match.place, lambda span: season(span.start.year - 1, name))
        if name == "winter" and ends_in_year is not None:
            # "Winter 2022" begins in 2022, for some it ends there.
            return Match.weighted(match.place, [(match.best, 0.6), (ends_in_year.best, 0.4)])
        return match
    if tokens.key(start + 1) in _AFTER_SEASON_WORD or tokens.is_possessive(start):
        return None
    before = tokens.key(place - 1)
    is_period = before in STRONG or before in {"over", "all", "until", "till", "by"}
    if before in {"before", "after", "for"}:
        is_period = name in {"summer", "winter"} or tokens.key(place - 2) in _PLANNING
    if not (trusted or is_period) or tokens.key(start + 1) == "of":
        return None
    return match


def year_number(reader: Reader, place: int, trusted: bool) -> Match | None:
    """In 2021, since 2020, the year 2019, the 2022 trip."""
    tokens = reader.tokens
    start = place + 2 if tokens.matches(place, "the", "year") else place + (tokens.key(place) == "year")
    start = tokens.skip(start, "of") if start > place else start
    short = _short_year_name(tokens, start)
    if short is not None and (trusted or tokens.key(start - 1) in STRONG | _WEAK):
        return Match.of(start + 2, year(short + (2000 if short <= reader.now.year % 100 + 10 else 1900)))
    value = plain_year(tokens, start)
    if value is None:
        return None
    if start == place and not trusted and not _means_a_year(tokens, place, value):
        return None
    return Match.of(start + 1, year(value))


def _means_a_year(tokens: Tokens, place: int, value: int) -> bool:
    before = tokens.key(place - 1)
    if before == "-" and tokens.key(place - 2) in {"mid", "pre", "post"}:
        return True
    if before in STRONG or before in {"before", "after", "until", "till", "between"}:
        return True
    if before in {"of", "for", "by", "from", "around", "about", "circa"}:
        return value % 100 != 0 and tokens.key(place - 2) not in _NUMBERED | {"class", "total", "out"}
    if before in {"and", "or", ",", "&"}:
        earlier = tokens.integer(place - 2)
        listed = earlier is not None and plain_year(tokens, place - 2) is not None
        return listed and _means_a_year(tokens, place - 2, earlier or 0)
    if before in _DETERMINERS and tokens.is_word(place + 1) and tokens.key(place + 1) not in _GOES_ON:
        return before == "the" or not tokens.is_capitalised(place + 1)
    return False


def joined_years(reader: Reader, place: int, trusted: bool) -> Match | None:
    """In 2019-2021."""
    tokens = reader.tokens
    first, second = tokens.integer(place), tokens.integer(place + 2)
    if first is None or second is None or tokens.key(place + 1) != "-" or not 1800 <= first < second < 2200:
        return None
    if len(tokens.key(place + 2)) != 4 or not (
        trusted or tokens.key(place - 1) in STRONG | {"from", "between", "years"}
    ):
        return None
    if not tokens.free_after(place + 3):
        return None
    return Match.of(place + 3, Closed(year(first).start, year(second).end, "range"))


def quarter_or_half(reader: Reader, place: int, trusted: bool) -> Match | None:
    """Q3, Q1 2023, Q1/2023, 2023 Q1, H2 of last year: one range, never the year as well."""
    tokens = reader.tokens
    leading = tokens.integer(place)
    start = place
    if leading is not None and len(tokens.key(place)) == 4:
        start = place + 1 + (tokens.key(place + 1) in {"-", "/"})
    kind, number = tokens.key(start), tokens.integer(start + 1, digits=1)
    if kind not in {"q", "h"} or number is None or not tokens.glued(start + 1) or not tokens.free_after(start + 2):
        return None
    if not 1 <= number <= (4 if kind == "q" else 2) or (start == place and not tokens.free_before(place)):
        return None

    def in_year(year_value: int) -> Closed:
        return quarter(year_value, number) if kind == "q" else half_year(year_value, number)

    if leading is not None:
        return Match.of(start + 2, in_year(leading)) if start > place and 1800 <= leading < 2200 else None
    explicit_at = start + 2
    if tokens.key(explicit_at) in {"/", "-"} and plain_year(tokens, explicit_at + 1) is not None:
        explicit_at += 1
    match = yearly(reader, place, explicit_at, in_year)
    if match.repeats is not None:
        match = Match(start + 2, match.readings, match.repeats)
        in_time = trusted or tokens.key(place - 1) in STRONG | _WEAK | _LOOSE
        if not in_time and (kind == "h" or not tokens.is_capitalised(place)):
            return None
    return match


DECADE_WORDS = {
    "twenties": 20,
    "thirties": 30,
    "forties": 40,
    "fifties": 50,
    "sixties": 60,
    "seventies": 70,
} | {
    "eighties": 80,
    "nineties": 90,
}


def decade_name(reader: Reader, place: int, trusted: bool) -> Match | None:
    """The 1990s, the 90s, the '90s, the eighties; "in my twenties" is an age."""
    tokens = reader.tokens
    start = tokens.skip(place, "the")
    has_article = start > place or tokens.key(place - 1) in {"the", "early", "late", "mid", "-"}
    start = tokens.skip(start, "'")
    if tokens.key(start) in DECADE_WORDS:
        value, end = DECADE_WORDS[tokens.key(start)], start + 1
    else:
        value = tokens.integer(start)
        end = start + 1 + (tokens.key(start + 1) == "'")
        if value is None or value % 10 or tokens.key(end) != "s" or not tokens.glued(end):
            return None
        end += 1
        if len(tokens.key(start)) == 4:
            return Match.of(end, decade(value)) if 1800 <= value < 2200 else None
    if not (has_article or trusted) or not 10 <= value <= 90 or tokens.key(place - 2) in {"temperatures", "temps"}:
        return None
    century = 1900 if value > reader.now.year % 100 else 2000
    return Match.of(end, decade(century + value))


# -- weekdays and holidays


def weekday_of(tokens: Tokens, place: int) -> int | None:
    """The weekday named here; "sat", "sun", "wed" and "mon" with a capital letter or after "on"."""
    key = tokens.key(place)
    if key not in WEEKDAYS or not tokens.stands_alone(place, place + 1):
        return None
    if key in _WEEKDAYS_ALSO_WORDS:
        is_name = tokens.is_capitalised(place) and not tokens.starts_sentence(place)
        is_asked = tokens.key(place - 1) in {"on", "last", "next", "this"} and tokens.ends_clause(place + 1)
        if not (is_name or is_asked):
            return None
    return WEEKDAYS[key]


def weekday_name(reader: Reader, place: int, trusted: bool) -> Match | None:
    """On Monday, Saturday, the Monday of last week, the Wednesday two months ago."""
    tokens = reader.tokens
    start = tokens.skip(place, "the")
    weekday = weekday_of(tokens, start)
    if weekday is None:
        return None
    within = _weekday_in_named_week(reader, start, weekday)
    if within is not None:
        return within
    if not trusted and not _means_a_weekday(tokens, place, start):
        return None
    days_back = (reader.today.weekday() - weekday) % 7
    if tokens.is_future(place):
        return Match.of(start + 1, day_of(reader.today + ((-days_back) % 7 or 7) * DAY), repeats="week")
    latest = day_of(reader.today - days_back * DAY)
    if days_back == 0:
        # "On Monday", said on a Monday, is rather a week ago: today has a shorter name.
        week_before = day_of(latest.start - WEEK)
        return Match.weighted(start + 1, [(week_before, 0.6), (latest, 0.4)], repeats="week")
    return Match.of(start + 1, latest, repeats="week")


def _weekday_in_named_week(reader: Reader, start: int, weekday: int) -> Match | None:
    """Monday last week, the Tuesday of the week before last, the Wednesday two months ago."""
    tokens = reader.tokens
    after = tokens.skip(start + 1, "of", "in", ",")
    quantity = read_quantity(tokens, after)
    if quantity is not None and tokens.key(quantity.place) == "ago" and quantity.unit != "hour":
        day = shift(reader.today, -quantity.least, quantity.unit)
        return Match.of(quantity.place + 1, weekday_in_week(day, weekday))
    week = reader.period(after)
    if week is None or week.best.granularity != "week" or tokens.key(after) in {"by", "since"}:
        return None
    return week.mapped(
        week.place, lambda span: weekday_in_week(span.start, weekday) if span.granularity == "week" else None
    )


def _means_a_weekday(tokens: Tokens, place: int, start: int) -> bool:
    """Whether a certain day is meant, not a habit, a name or a kind of thing."""
    after = start + 1
    if tokens.key(start) in _WEEKDAYS_ALSO_WORDS or len(tokens.key(start)) < 6:
        return tokens.key(place - 1) in {"on", "since", "until", "till", "by", "before", "after", "from"}
    if tokens.key(place - 1) in {
        "on",
        "since",
        "until",
        "till",
        "by",
        "before",
        "after",
        "from",
        "through",
        "between",
        "for",
    }:
        return True
    if tokens.is_title_case(start - 1) and not tokens.starts_sentence(start - 1) and start == place:
        return False  # "Ruby Tuesday"
    if tokens.is_title_case(after) and tokens.key(after) not in {
        "morning",
        "afternoon",
        "evening",
        "night",
        "i",
    }:
        return False  # "Wednesday Addams", "Monday Night Football"
    if tokens.key(place - 1) in {
        "a",
        "an",
        "my",
        "our",
        "your",
        "favorite",
        "favourite",
        "some",
        "what",
        "which",
    }:
        return False
    return tokens.key(after) not in {"school", "roast", "best", "brunch", "blues", "club"}


def holiday_name(reader: Reader, place: int, trusted: bool) -> Match | None:
    """On Valentine's Day, Christmas 2022, over Easter, Christmas last year."""
    tokens = reader.tokens
    start = tokens.skip(place, "the")
    if tokens.key(start) not in holidays.first_words():
        return None
    named = holidays.longest_name([tokens.key(start + offset) for offset in range(5)])
    if named is None or not tokens.stands_alone(start, start + named[1]):
        return None
    name, count = named
    end = start + count
    before = tokens.key(place - 1)
    if before in {"happy", "merry"} or tokens.key(end) in _HOLIDAY_THINGS:
        return None
    if name in {"holidays", "lent", "king day", "women day", "single day"} and start == place and not trusted:
        return None  # without "the" these are other words
    if name == "holidays" and before not in {"over", "during", "in", "before", "after", "since"}:
        return None
    if name in {"new year", "valentine"} and not tokens.is_capitalised(start) and not tokens.is_possessive(end - 1):
        return None
    if name == "lent" and not tokens.is_capitalised(start):
        return None
    if name == "may day" and not tokens.is_capitalised(start):
        return None
    match = yearly(reader, start, end, holidays.rules()[name])
    off = holidays.days_off(name, match.best)
    if off is None or before not in {"over", "at", "around", "during", "for"}:
        return match
    longer = 0.6 if before in {"over", "during"} else 0.4
    return Match.weighted(match.place, [(off, longer), (match.best, 1 - longer)], match.repeats)


def weekday_of_month(reader: Reader, place: int, trusted: bool) -> Match | None:
    """The third Monday in January, the last Friday of June 2023."""
    del trusted
    tokens = reader.tokens
    start = tokens.skip(place, "the")
    ordinal = (start + 1, -1) if tokens.key(start) in {"last", "final"} else read_ordinal(tokens, start)
    if ordinal is None or not ordinal[1] <= 5:
        return None
    weekday = WEEKDAYS.get(tokens.key(ordinal[0]))
    if weekday is None or tokens.key(ordinal[0] + 1) not in {"of", "in"}:
        return None
    inside = reader.period(tokens.skip(ordinal[0] + 2, "the"), trusted=True)
    if inside is None or inside.best.granularity != "month":
        return None
    found = inside.mapped(
        inside.place, lambda span: day_of(nth_weekday(span.start.year, span.start.month, weekday, ordinal[1]))
    )
    return None if found is None else Match(found.place, found.readings, inside.repeats)


def names_ago(reader: Reader, place: int, trusted: bool) -> Match | None:
    """Two summers ago, three Mondays ago, two Christmases ago, two Julys ago."""
    del trusted
    tokens = reader.tokens
    number = read_number(tokens, place)
    if number is None or tokens.key(number.place + 1) != "ago":
        return None
    count, end = round(number.value), number.place + 2
    key = tokens.key(number.place)
    if key in UNITS:
        return None
    name = key.removesuffix("es") if key.removesuffix("es") in holidays.rules() else key.removesuffix("s")
    if name in WEEKDAYS:
        latest = reader.today - ((reader.today.weekday() - WEEKDAYS[name]) % 7 or 7) * DAY
        return Match.of(end, day_of(latest - (count - 1) * WEEK))
    in_year = yearly_period(name)
    if in_year is None:
        return None
    passed = [
        span for span in _spans(range(reader.now.year - 1, reader.now.year + 1), in_year) if span.end <= reader.now
    ]
    if not passed:
        return None
    by_count = in_year(passed[-1].start.year - count + 1)
    return Match.weighted(end, [(by_count, 0.6), (in_year(reader.now.year - count), 0.4)])


def yearly_period(name: str) -> Callable[[int], Closed] | None:
    """What a month, a season or a holiday of one word is in a year; None for other words."""
    if name in MONTHS or name in MONTH_SHORT:
        number = MONTHS.get(name) or MONTH_SHORT[name]
        return lambda year_number: month(year_number, number)
    if name in SEASONS:
        return lambda year_number: season(year_number, name)
    return holidays.rules().get(name)
