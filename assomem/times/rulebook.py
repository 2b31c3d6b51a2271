"""Which rules read a period, and with which words each can begin: only those are tried at a place."""

from functools import cache

from assomem.times import holidays, named, phrases, relative
from assomem.times.quantities import NUMBER_WORDS, ORDINAL_WORDS, UNITS
from assomem.times.reading import Rule
from assomem.times.spans import DAY_PARTS, SEASONS
from assomem.times.tokens import Tokens, words

_DIGITS = "#"
"""Stands in the table for every number in digits."""

_COUNTABLE = frozenset(UNITS) | words("couple few dozen several good whole full long short")
"""What may follow "a" in a quantity."""


@cache
def _table() -> tuple[tuple[Rule, frozenset[str]], ...]:
    """Every rule with the words it can begin with; of matches that are as long the earlier rule wins.

    A rule that can begin with "the" also lists here what may follow that "the".
    """
    the = frozenset({"the"})
    digits = frozenset({_DIGITS})
    months = frozenset(named.MONTHS) | frozenset(named.MONTH_SHORT)
    weekdays, seasons, units = frozenset(named.WEEKDAYS), frozenset(SEASONS), frozenset(UNITS)
    festive, day_parts = holidays.first_words(), frozenset(DAY_PARTS)
    ordinals = digits | frozenset(ORDINAL_WORDS) | words("twenty thirty")
    numbers = digits | frozenset(NUMBER_WORDS) | words("a an couple few several half")
    stepping = words("last previous past this current next coming upcoming")
    return (
        (named.iso_date, digits),
        (named.slashed_date, digits),
        (named.day_then_month, the | ordinals | weekdays),
        (named.month_then_day, months | weekdays),
        (named.day_of_some_month, the | ordinals | weekdays),
        (named.month_name, months),
        (named.season_name, the | seasons),
        (named.year_number, the | digits | words("year '")),
        (named.joined_years, digits),
        (named.quarter_or_half, digits | words("q h")),
        (named.decade_name, the | digits | words("'") | frozenset(named.DECADE_WORDS)),
        (named.weekday_name, the | weekdays),
        (named.holiday_name, the | festive),
        (named.weekday_of_month, the | ordinals | words("last final")),
        (named.names_ago, numbers),
        (relative.named_day, words("earlier later today yesterday tomorrow tonight last this")),
        (relative.the_other_day, the | words("other")),
        (relative.before_now, the | day_parts | words("day week weekend month year")),
        # before `stepped`, which reads "the past month" too
        (relative.rolling, the | words("these this my our those last past previous next coming")),
        (relative.stepped, the | stepping),
        (relative.part_of_running, words("so earlier later")),
        (relative.before_last, the | units | weekdays | months | seasons | festive),
        (relative.ago, the | numbers),
        (relative.from_now, numbers | words("in")),
        (relative.the_weekend, the | words("weekend")),
        (relative.whole_running, words("all throughout")),
        (relative.this_time, the | words("this same around about")),
        (relative.part_of_current, the | units),
        (phrases.part_of, the | words("very early beginning start mid middle late end")),
        (phrases.counted_part, the | ordinals | words("last final")),
        (phrases.part_of_day, the | day_parts),
        (phrases.clock_then_day, digits | words("at noon midday midnight")),
        (phrases.counted_before_or_after, the | numbers),
        (
            phrases.beside,
            the | words("last first very next") | units | weekdays | months | seasons | festive,
        ),
        (phrases.roughly, words("around circa")),
    )


@cache
def _by_first_word() -> dict[str, tuple[Rule, ...]]:
    firsts = frozenset[str]().union(*(first for _, first in _table()))
    return {word: tuple(rule for rule, first in _table() if word in first) for word in firsts}


@cache
def _by_word_after_the() -> dict[str, tuple[Rule, ...]]:
    return {
        word: tuple(rule for rule, first in _table() if "the" in first and word in first)
        for word in _by_first_word()
        if word != "the"
    }


@cache
def _after_digits() -> frozenset[str]:
    """What may follow a number of one to three digits that begins a period."""
    signs = words("- / . : ' st nd rd th s am pm a p of to or and until till through o'clock half")
    return signs.union(UNITS, named.MONTHS, named.MONTH_SHORT, SEASONS, DAY_PARTS, words("whole full good long more"))


def rules_at(tokens: Tokens, place: int) -> tuple[Rule, ...]:
    """The rules that could read a period here, in order of precedence."""
    word = _word(tokens, place)
    if word == "the":
        return _by_word_after_the().get(_word(tokens, place + 1), ())
    if word in {"a", "an"} and tokens.key(place + 1) not in _COUNTABLE:
        return ()
    if word == _DIGITS and len(tokens.key(place)) < 4 and tokens.key(place + 1) not in _after_digits():
        return (named.names_ago,) if tokens.key(place + 2) == "ago" else ()
    return _by_first_word().get(word, ())


def _word(tokens: Tokens, place: int) -> str:
    key = tokens.key(place)
    return _DIGITS if "0" <= key[:1] <= "9" else key
