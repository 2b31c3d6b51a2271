"""What rules return, and the reader they work with: the tokens, the now, and every other rule."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple, Self

from assomem.times.spans import Closed, Span, midnight
from assomem.times.tokens import Tokens

_DEEPEST = 4
"""Periods in periods ("the day before the first week of May"): more is no English, and recursion must end."""

_ANY_DEPTH = -1


class Reading(NamedTuple):
    """One way to understand an expression."""

    span: Span
    weight: float


class Match(NamedTuple):
    """An expression that ends before token `place`, with its readings, likeliest first."""

    place: int
    readings: tuple[Reading, ...]
    repeats: Literal["week", "year"] | None = None
    """Set when the text leaves open which week or year is meant ("Monday", "in May"): the readings are a
    guess from the tense, and a range or an explicit year beside it may move them."""

    @classmethod
    def of(cls, place: int, *spans: Span | Closed, repeats: Literal["week", "year"] | None = None) -> Self:
        """A match whose readings are equally likely, in this order."""
        return cls.weighted(place, [(span, 1.0) for span in spans], repeats)

    @classmethod
    def weighted(
        cls,
        place: int,
        spans: Iterable[tuple[Span | Closed, float]],
        repeats: Literal["week", "year"] | None = None,
    ) -> Self:
        """A match with weighted readings; equal spans are joined, weights are scaled to sum 1."""
        weights: dict[Span, float] = {}
        for span, weight in spans:
            key = Span(*span)
            weights[key] = weights.get(key, 0.0) + weight
        total = sum(weights.values())
        readings = sorted(((span, weight / total) for span, weight in weights.items()), key=lambda pair: -pair[1])
        return cls(place, tuple(Reading(span, weight) for span, weight in readings), repeats)

    @property
    def best(self) -> Span:
        """The likeliest reading's span."""
        return self.readings[0].span

    def closed(self) -> Closed | None:
        """The likeliest reading if it has both ends."""
        return closed(self.best)

    def mapped(self, place: int, change: Callable[[Closed], Span | Closed | None]) -> "Match | None":
        """Every reading changed, those without an end or without a result left out; None if none is left."""
        changed = [
            (result, reading.weight)
            for reading in self.readings
            if (both_ends := closed(reading.span)) is not None and (result := change(both_ends)) is not None
        ]
        return Match.weighted(place, changed) if changed else None


def closed(span: Span) -> Closed | None:
    """The span with both ends, None when one is missing."""
    if span.start is None or span.end is None:
        return None
    return Closed(span.start, span.end, span.granularity)


Rule = Callable[["Reader", int, bool], Match | None]
"""A rule reads one kind of expression at a place. `trusted`: the words around vouch that a period is meant,
so that names which are also ordinary words ("May", "2023", "fall") need no preposition of their own."""

Follower = Callable[["Reader", Match], Match | None]
"""A follower looks behind a period for words that change it ("Monday" + "morning")."""


class Reader:
    """The text being read, the speaker's now on the wall clock, and the rules for periods."""

    def __init__(
        self,
        tokens: Tokens,
        now: datetime,
        rules_at: Callable[[Tokens, int], Sequence[Rule]],
        followers: Sequence[Follower],
    ) -> None:
        """`now` has a zone; `rules_at` gives the rules to try at a place, in order of precedence."""
        self.tokens = tokens
        self.now = now.replace(tzinfo=None)
        """The speaker's wall clock, naive like every datetime that rules handle."""
        self.today = midnight(self.now)
        self._instant = now
        self._rules_at = rules_at
        self._followers = followers
        self._depth = 0
        self._was_cut = False
        self._known: dict[tuple[int, bool, int], Match | None] = {}

    def clock_later(self, count: float, unit: str) -> datetime:
        """The wall clock when that many hours or minutes have passed, whatever the zone does to its clock."""
        moment = self._instant.astimezone(UTC) + timedelta(**{f"{unit}s": count})
        return moment.astimezone(self._instant.tzinfo).replace(tzinfo=None)

    def period(self, place: int, *, trusted: bool = False) -> Match | None:
        """The longest period that begins here. Each place is read once, so that reading stays linear."""
        for depth in (_ANY_DEPTH, self._depth):
            if (place, trusted, depth) in self._known:
                return self._known[place, trusted, depth]
        if self._depth >= _DEEPEST:
            self._was_cut = True
            return None
        was_cut, self._was_cut = self._was_cut, False
        self._depth += 1
        found = self._longest(place, trusted)
        self._depth -= 1
        # What was found without reaching the limit is the answer at any depth.
        self._known[place, trusted, self._depth if self._was_cut else _ANY_DEPTH] = found
        self._was_cut = self._was_cut or was_cut
        return found

    def _longest(self, place: int, trusted: bool) -> Match | None:
        longest: Match | None = None
        for rule in self._rules_at(self.tokens, place):
            try:
                found = rule(self, place, trusted)
            except (ValueError, OverflowError):
                continue  # datetime's word for a date no calendar has, such as 30 February: none is meant
            if found is not None and (longest is None or found.place > longest.place):
                longest = found
        while longest is not None and (followed := self._follow(longest)) is not None:
            longest = followed
        return longest

    def _follow(self, match: Match) -> Match | None:
        for follower in self._followers:
            try:
                found = follower(self, match)
            except (ValueError, OverflowError):
                continue  # as above
            if found is not None:
                return found
        return None
