"""A cheap look at a place before any rule is tried: most words of a text can begin no time expression."""

from functools import cache

from assomem.times import holidays
from assomem.times.named import DECADE_WORDS, MONTH_SHORT, MONTHS, WEEKDAYS
from assomem.times.quantities import NUMBER_WORDS, ORDINAL_WORDS, UNITS
from assomem.times.spans import DAY_PARTS, SEASONS
from assomem.times.tokens import Tokens, words

_LONGEST_CHAIN = 6


@cache
def _beginnings() -> frozenset[str]:
    """Words that begin an expression whatever follows; the rules look at that."""
    own = words(
        "today yesterday tomorrow tonight last previous past next coming upcoming current earlier later "
        "early late mid beginning start middle end final couple few several half noon midday midnight q h "
        "year now weekend '"
    )
    return own.union(
        MONTHS, MONTH_SHORT, WEEKDAYS, SEASONS, DECADE_WORDS, NUMBER_WORDS, ORDINAL_WORDS, UNITS, DAY_PARTS
    )


@cache
def _connecting() -> frozenset[str]:
    """Words that begin one only together with the words behind them."""
    return words(
        "the a an this these those same my our very in at on by since ever as of starting after than not "
        "before prior to until till up no from between around about circa so far all throughout other "
        "time day dozen later earlier beginning"
    )


def could_begin(tokens: Tokens, place: int) -> bool:
    """Whether an expression could begin here. Never False where a rule would find one."""
    for at in range(place, place + _LONGEST_CHAIN):
        key = tokens.key(at)
        if key in _beginnings() or "0" <= key[:1] <= "9" or holidays.begins_a_name(key):
            return True
        if key not in _connecting():
            return False
    return True
