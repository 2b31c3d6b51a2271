"""Numbers, ordinals and quantities of time in words or digits."""

from typing import NamedTuple

from assomem.times.tokens import Tokens

_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINAL_ONES = (
    *("zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"),
    *("tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth"),
    *("seventeenth", "eighteenth", "nineteenth"),
)
_ORDINAL_TENS = ("twentieth", "thirtieth")

NUMBER_WORDS = {word: value for value, word in enumerate(_ONES)} | {
    word: 10 * value for value, word in enumerate(_TENS, start=2)
}
ORDINAL_WORDS = {word: value for value, word in enumerate(_ORDINAL_ONES)} | {
    word: 10 * value for value, word in enumerate(_ORDINAL_TENS, start=2)
}
_ORDINAL_ENDINGS = frozenset({"st", "nd", "rd", "th"})

_VAGUE = {"couple": 2, "few": 3, "several": 4}
"""What people mean on average; the true number may well be another."""

UNITS = {
    spelling: unit
    for unit, spellings in {
        "minute": "minute minutes min mins",
        "hour": "hour hours hr hrs",
        "day": "day days",
        "night": "night nights",
        "week": "week weeks wk wks",
        "fortnight": "fortnight fortnights",
        "weekend": "weekend weekends",
        "month": "month months mo mos mth mths",
        "quarter": "quarter quarters",
        "year": "year years yr yrs",
        "decade": "decade decades",
    }.items()
    for spelling in spellings.split()
}


class Number(NamedTuple):
    """A number and the place after it."""

    place: int
    value: float
    is_vague: bool


class Quantity(NamedTuple):
    """A number of units and the place after it; `most` is larger than `least` in "two or three weeks"."""

    place: int
    least: float
    most: float
    unit: str
    is_vague: bool


def read_number(tokens: Tokens, place: int) -> Number | None:
    """A number here: digits, a word up to ninety-nine, "a", "a couple of", "half a", "one and a half"."""
    key = tokens.key(place)
    if (key in {"a", "an", "the"} and tokens.key(place + 1) in _VAGUE) or key in _VAGUE:
        place = place if key in _VAGUE else place + 1
        word = tokens.key(place)
        return Number(tokens.skip(place + 1, "of"), _VAGUE[word], is_vague=word != "couple")
    if key == "half" and tokens.key(place + 1) in {"a", "an"}:
        return Number(place + 2, 0.5, is_vague=False)
    if key in {"a", "an"}:
        if tokens.key(place + 1) == "dozen":
            return Number(place + 2, 12, is_vague=False)
        return Number(place + 1, 1, is_vague=False)
    whole = _read_whole(tokens, place)
    if whole is None:
        return None
    place, value = whole
    if tokens.matches(place, "and", "a", "half"):
        return Number(place + 3, value + 0.5, is_vague=False)
    return Number(place, value, is_vague=False)


def _read_whole(tokens: Tokens, place: int) -> tuple[int, float] | None:
    value = tokens.integer(place, digits=3)
    if value is not None:
        # "1.5 years"; the number must not be the tail of a longer one.
        if tokens.glued(place) and not tokens.ends_clause(place - 1):
            return None
        if tokens.glued(place) and tokens.key(place - 1) in {".", ",", "-", "/", ":", "$", "€", "£"}:
            return None
        fraction = tokens.integer(place + 2, digits=2)
        if (
            tokens.key(place + 1) == "."
            and tokens.glued(place + 1)
            and tokens.glued(place + 2)
            and fraction is not None
        ):
            return place + 3, float(f"{value}.{tokens.key(place + 2)}")
        return place + 1, value
    key = tokens.key(place)
    if key not in NUMBER_WORDS:
        return None
    value = NUMBER_WORDS[key]
    if value >= 20:
        after = tokens.skip(place + 1, "-")
        ones = NUMBER_WORDS.get(tokens.key(after), 0)
        if 1 <= ones <= 9:
            return after + 1, value + ones
    return place + 1, value


def read_ordinal(tokens: Tokens, place: int) -> tuple[int, int] | None:
    """An ordinal here, "5th" or "twenty-first": the place after it and its value."""
    value = tokens.integer(place, digits=2)
    if value is not None:
        if tokens.glued(place + 1) and tokens.key(place + 1) in _ORDINAL_ENDINGS:
            return place + 2, value
        return None
    key = tokens.key(place)
    if key in ORDINAL_WORDS:
        return place + 1, ORDINAL_WORDS[key]
    if NUMBER_WORDS.get(key, 0) in {20, 30}:
        after = tokens.skip(place + 1, "-")
        ones = ORDINAL_WORDS.get(tokens.key(after), 0)
        if 1 <= ones <= 9:
            return after + 1, NUMBER_WORDS[key] + ones
    return None


def read_quantity(tokens: Tokens, place: int) -> Quantity | None:
    """A quantity here: "two weeks", "a year and a half", "2-3 months", "a week or two", "half an hour"."""
    number = read_number(tokens, place)
    if number is None:
        return None
    count = most = number.value
    is_vague, after = number.is_vague, number.place
    if tokens.key(after) in {"or", "to", "-"}:
        second = read_number(tokens, after + 1)
        if second is not None and second.value > count:
            most, after, is_vague = second.value, second.place, True
    after = tokens.skip(after, "-", "whole", "full", "good", "long", "short", "more")
    unit = UNITS.get(tokens.key(after))
    if unit is None:
        return None
    after += 1
    if tokens.matches(after, "and", "a", "half"):
        return Quantity(after + 3, count + 0.5, count + 0.5, unit, is_vague)
    if tokens.matches(after, "or", "so"):
        return Quantity(after + 2, count, most, unit, is_vague=True)
    if (
        tokens.key(after) == "or"
        and tokens.key(after + 1) in NUMBER_WORDS
        and NUMBER_WORDS[tokens.key(after + 1)] > count
    ):
        return Quantity(after + 2, count, NUMBER_WORDS[tokens.key(after + 1)], unit, is_vague=True)
    return Quantity(after, count, most, unit, is_vague)
