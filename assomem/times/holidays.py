"""The dates of named days in a given year.

Fixed dates and "nth weekday" days are exact, so are those counted from Easter and those of the Jewish
calendar. Islamic days follow the arithmetical calendar, Chinese New Year, Diwali and Holi the computed
moon: a day off is possible, as announcements by sighting differ by country too.
"""

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache

from assomem.times.spans import DAY, Closed, Span, nth_weekday

YearRule = Callable[[int], Closed]
"""The span of a holiday that begins in a year."""

_LONGEST_NAME_TOKENS = 5


def _days(first: datetime, count: int = 1) -> Closed:
    return Closed(first, first + count * DAY, "day" if count == 1 else "range")


def _fixed(month: int, day: int, count: int = 1) -> YearRule:
    return lambda year: _days(datetime(year, month, day), count)


def _nth(month: int, weekday: int, nth: int, plus_days: int = 0, count: int = 1) -> YearRule:
    return lambda year: _days(nth_weekday(year, month, weekday, nth) + plus_days * DAY, count)


def _from_easter(plus_days: int, count: int = 1) -> YearRule:
    return lambda year: _days(easter(year) + plus_days * DAY, count)


def easter(year: int) -> datetime:
    """Easter Sunday of the western churches (Gauss's rule in the form of Meeus, Jones and Butcher)."""
    century, rest = divmod(year, 100)
    leap_centuries, century_rest = divmod(century, 4)
    golden = year % 19
    moon_correction = (century - (century + 8) // 25 + 1) // 3
    epact = (19 * golden + century - leap_centuries - moon_correction + 15) % 30
    weekday = (32 + 2 * century_rest + 2 * (rest // 4) - epact - rest % 4) % 7
    late = (golden + 11 * epact + 22 * weekday) // 451
    month, day = divmod(epact + weekday - 7 * late + 114, 31)
    return datetime(year, month, day + 1)


def _victoria_day(year: int) -> Closed:
    """The last Monday before 25 May."""
    eve = datetime(year, 5, 24)
    return _days(eve - eve.weekday() * DAY)


def hebrew_new_year(year: int) -> datetime:
    """Rosh Hashanah: the new moon of Tishri, put off by the calendar's rules about its weekday."""
    hebrew_year = year + 3761
    months = (235 * hebrew_year - 234) // 19
    parts = 12084 + 13753 * months
    day = 29 * months + parts // 25920
    if 3 * (day + 1) % 7 < 3:
        day += 1
    before, after = _hebrew_elapsed(hebrew_year - 1), _hebrew_elapsed(hebrew_year + 1)
    if after - day == 356:
        day += 2
    elif day - before == 382:
        day += 1
    return datetime.fromordinal(day - 1373427)


def _hebrew_elapsed(hebrew_year: int) -> int:
    months = (235 * hebrew_year - 234) // 19
    parts = 12084 + 13753 * months
    day = 29 * months + parts // 25920
    return day + 1 if 3 * (day + 1) % 7 < 3 else day


def _from_hebrew_new_year(plus_days: int, count: int = 1) -> YearRule:
    return lambda year: _days(hebrew_new_year(year) + plus_days * DAY, count)


def _before_hebrew_new_year(minus_days: int, count: int = 1) -> YearRule:
    # From Passover to the next new year is always 163 days.
    return lambda year: _days(hebrew_new_year(year) - minus_days * DAY, count)


def _hanukkah(year: int) -> Closed:
    """Eight days from 25 Kislev; the two months before it vary in length with the year."""
    start, following = hebrew_new_year(year), hebrew_new_year(year + 1)
    long_heshvan = (following - start).days % 10 == 5
    return _days(start + (84 if long_heshvan else 83) * DAY, 8)


def _islamic(month: int, day: int, count: int = 1) -> YearRule:
    """The first occurrence in a year of a day of the arithmetical Islamic calendar."""

    def date_in(year: int) -> Closed:
        hijri_year = (year - 622) * 33 // 32 - 1
        while True:
            days = day + math.ceil(29.5 * (month - 1)) + (hijri_year - 1) * 354 + (3 + 11 * hijri_year) // 30
            found = datetime.fromordinal(days + 227014)
            if found.year >= year:
                return _days(found, count)
            hijri_year += 1

    return date_in


def moon_phases(year: int, phase: float) -> list[datetime]:
    """Universal times of a moon phase (0 new, 0.5 full) around a year, right to some minutes (Meeus)."""
    first = math.floor((year - 2000) * 12.3685) - 1
    return [_moon_phase(number + phase) for number in range(first, first + 16)]


def _moon_phase(lunation: float) -> datetime:
    century = lunation / 1236.85
    mean_day = 2451550.09766 + 29.530588861 * lunation + 0.00015437 * century**2
    sun = math.radians((2.5534 + 29.1053567 * lunation) % 360)
    moon = math.radians((201.5643 + 385.81693528 * lunation + 0.0107582 * century**2) % 360)
    latitude = math.radians((160.7108 + 390.67050284 * lunation) % 360)
    correction = (
        -0.4072 * math.sin(moon)
        + 0.1724 * math.sin(sun)
        + 0.0161 * math.sin(2 * moon)
        + 0.0104 * math.sin(2 * latitude)
        + 0.0074 * math.sin(moon - sun)
        - 0.0051 * math.sin(moon + sun)
    )
    return datetime(2000, 1, 1, 12) + timedelta(days=mean_day + correction - 2451545.0)


def _moon_after(month: int, day: int, phase: float, plus_hours: float, count: int = 1) -> YearRule:
    """The day of the first such moon on or after a date; that day begins `plus_hours` before the UTC one.

    Chinese days begin eight hours earlier. Diwali is the last Indian sunset (12:30 UTC) before the new moon,
    Holi the day after the last sunset before the full moon.
    """

    def date_in(year: int) -> Closed:
        local = [moment + timedelta(hours=plus_hours) for moment in moon_phases(year, phase)]
        found = next(moment for moment in local if moment >= datetime(year, month, day))
        return _days(datetime(found.year, found.month, found.day), count)

    return date_in


CHRISTMAS = _fixed(12, 25)

_RULES: dict[str, YearRule] = {
    "new year|new year day|new year's day|new years|new years day": _fixed(1, 1),
    "new year eve|new years eve|nye|hogmanay": _fixed(12, 31),
    "epiphany|three kings day": _fixed(1, 6),
    "martin luther king day|martin luther king jr day|mlk day": _nth(1, 0, 3),
    "burns night": _fixed(1, 25),
    "australia day": _fixed(1, 26),
    "groundhog day": _fixed(2, 2),
    "valentine|valentine day|valentines|valentines day": _fixed(2, 14),
    "presidents day|president day|presidents' day": _nth(2, 0, 3),
    "international women day|women day": _fixed(3, 8),
    "st patrick|st patrick day|st . patrick day|saint patrick day|st patricks day|st paddy day": _fixed(3, 17),
    "nowruz": _fixed(3, 20),
    "april fool|april fool day|april fools|april fools day": _fixed(4, 1),
    "earth day": _fixed(4, 22),
    "st george day": _fixed(4, 23),
    "anzac day": _fixed(4, 25),
    "king day|koningsdag": _fixed(4, 27),
    "may day|international workers day|labour day": _fixed(5, 1),
    "star wars day": _fixed(5, 4),
    "cinco de mayo": _fixed(5, 5),
    "mother day|mothers day": _nth(5, 6, 2),
    "mothering sunday": _from_easter(-21),
    "victoria day": _victoria_day,
    "memorial day": _nth(5, 0, -1),
    "father day|fathers day": _nth(6, 6, 3),
    "juneteenth": _fixed(6, 19),
    "midsummer day|st john day": _fixed(6, 24),
    "canada day": _fixed(7, 1),
    "independence day|fourth of july|4 th of july|july fourth|july 4 th": _fixed(7, 4),
    "bastille day": _fixed(7, 14),
    "labor day": _nth(9, 0, 1),
    "german unity day": _fixed(10, 3),
    "columbus day|indigenous peoples day|indigenous people day|canadian thanksgiving": _nth(10, 0, 2),
    "halloween|hallowe'en": _fixed(10, 31),
    "all saints day|all saint day": _fixed(11, 1),
    "all souls day|day of the dead|dia de los muertos": _fixed(11, 2),
    "guy fawkes night|guy fawkes|guy fawkes day|bonfire night": _fixed(11, 5),
    "veterans day|veteran day|remembrance day|armistice day": _fixed(11, 11),
    "singles day|single day": _fixed(11, 11),
    "thanksgiving|thanksgiving day": _nth(11, 3, 4),
    "black friday": _nth(11, 3, 4, 1),
    "cyber monday": _nth(11, 3, 4, 4),
    "st andrew day": _fixed(11, 30),
    "st nicholas day": _fixed(12, 6),
    "christmas eve|xmas eve": _fixed(12, 24),
    "christmas|christmas day|xmas|xmas day": CHRISTMAS,
    "boxing day|st stephen day": _fixed(12, 26),
    "kwanzaa": _fixed(12, 26, 7),
    "holidays|holiday season|festive season|christmas holidays|christmas break|christmas season": _fixed(12, 24, 9),
    "mardi gras|shrove tuesday|pancake day|fat tuesday": _from_easter(-47),
    "ash wednesday": _from_easter(-46),
    "lent": _from_easter(-46, 46),
    "palm sunday": _from_easter(-7),
    "holy week": _from_easter(-7, 7),
    "maundy thursday": _from_easter(-3),
    "good friday": _from_easter(-2),
    "easter|easter sunday|easter day": _from_easter(0),
    "easter monday": _from_easter(1),
    "ascension day": _from_easter(39),
    "pentecost|whit sunday": _from_easter(49),
    "whit monday": _from_easter(50),
    "corpus christi": _from_easter(60),
    "passover|pesach": _before_hebrew_new_year(163, 8),
    "purim": _before_hebrew_new_year(193),
    "shavuot": _before_hebrew_new_year(113, 2),
    "rosh hashanah|rosh hashana|jewish new year": _from_hebrew_new_year(0, 2),
    "yom kippur": _from_hebrew_new_year(9),
    "sukkot": _from_hebrew_new_year(14, 7),
    "hanukkah|chanukah|hannukah": _hanukkah,
    "ramadan": _islamic(9, 1, 30),
    "eid|eid al fitr|eid al - fitr|eid ul fitr": _islamic(10, 1),
    "eid al adha|eid al - adha|eid ul adha": _islamic(12, 10),
    "chinese new year|lunar new year": _moon_after(1, 21, 0.0, 8.0),
    "diwali|deepavali": _moon_after(10, 17, 0.0, -12.5),
    "holi": _moon_after(3, 1, 0.5, 11.5),
}

_AROUND: dict[str, tuple[int, int]] = {
    "christmas": (-1, 2),
    "xmas": (-1, 2),
    "new year": (-1, 1),
    "new years": (-1, 1),
    "easter": (-2, 2),
    "thanksgiving": (0, 4),
}
"""First day and first day after, counted from the holiday, of the days off around it: "over Christmas"."""


@cache
def rules() -> dict[str, YearRule]:
    """Every name, as token keys joined by blanks, with its rule."""
    return {name: rule for names, rule in _RULES.items() for name in names.split("|")}


@cache
def first_words() -> frozenset[str]:
    """The words that names of holidays begin with."""
    return frozenset(name.split()[0] for name in rules())


def longest_name(keys: list[str]) -> tuple[str, int] | None:
    """The longest holiday name these tokens begin with, and how many tokens it takes."""
    for count in range(min(_LONGEST_NAME_TOKENS, len(keys)), 0, -1):
        name = " ".join(keys[:count])
        if name in rules():
            return name, count
    return None


def places_of_names(keys: list[str]) -> set[int]:
    """Which of these tokens belong to a holiday's name."""
    found: set[int] = set()
    for place, key in enumerate(keys):
        named = longest_name(keys[place:]) if key in first_words() else None
        if named is not None:
            found.update(range(place, place + named[1]))
    return found


def days_off(name: str, day: Span) -> Closed | None:
    """The days off around the holiday on this day, None when it has none."""
    if name not in _AROUND or day.start is None:
        return None
    first, last = _AROUND[name]
    return Closed(day.start + first * DAY, day.start + last * DAY, "range")
