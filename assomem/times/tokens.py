"""Text as a row of tokens, and the questions rules ask about what stands around a token."""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple


def words(text: str) -> frozenset[str]:
    """The words of a list written as one text."""
    return frozenset(text.split())


_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'", "´": "'", "–": "-", "—": "-", "‐": "-", "‑": "-"})
"""One character for one, so that positions stay those of the text."""

_FARTHEST_LOOK = 32
"""No rule asks about a place farther than this outside the text."""

_SENTENCE_ENDS = frozenset(".!?;…")

_FUTURE_WORDS = words(
    "will won't shall gonna upcoming i'll we'll you'll he'll she'll they'll it'll that'll there'll going "
    "coming planning planned plan plans plan's scheduled booked should must"
)
_PAST_WORDS = words(
    "did didn't was wasn't were weren't had hadn't went said told took made met saw bought got came gave "
    "found left wrote ate ran won lost been"
)


class Token(NamedTuple):
    """A word, a number or a single sign."""

    text: str
    key: str
    """Lower case, without a possessive 's."""
    start: int
    end: int
    possessive: bool

    @property
    def core_end(self) -> int:
        """Where it ends without a possessive 's."""
        return self.end - 2 if self.possessive else self.end


@cache
def _token_pattern() -> re.Pattern[str]:
    return re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|[0-9]+|\S")


def _split(text: str) -> Iterator[Token]:
    for match in _token_pattern().finditer(text.translate(_APOSTROPHES)):
        word = match[0]
        key = word.lower()
        possessive = key.endswith("'s") and len(key) > 2
        yield Token(word, key[:-2] if possessive else key, match.start(), match.end(), possessive)


class Tokens:
    """The tokens of a text. Questions about places outside it have answers too, so rules need no guards."""

    def __init__(self, text: str) -> None:
        """Split the text once."""
        self.text = text
        self.all = list(_split(text))
        # Blanks behind the last key also answer for places before the first, which list indices count from the end.
        self._keys = [token.key for token in self.all] + [""] * _FARTHEST_LOOK
        self._sentences: dict[int, tuple[bool, bool]] = {}

    def __len__(self) -> int:
        """How many tokens there are."""
        return len(self.all)

    def key(self, place: int) -> str:
        """The token in lower case without possessive 's, "" outside the text."""
        return self._keys[place]

    def glued(self, place: int) -> bool:
        """Whether the token touches the one before it."""
        return 0 < place < len(self.all) and self.all[place].start == self.all[place - 1].end

    def integer(self, place: int, digits: int = 4) -> int | None:
        """The value of a number of at most `digits` digits, None for anything else."""
        key = self._keys[place]
        return int(key) if "0" <= key[:1] <= "9" and len(key) <= digits else None

    def matches(self, place: int, *keys: str) -> bool:
        """Whether these keys stand here in a row."""
        return self._keys[place] == keys[0] and self._keys[place : place + len(keys)] == list(keys)

    def skip(self, place: int, *keys: str) -> int:
        """The next place if one of the keys stands here, else this one."""
        return place + 1 if self.key(place) in keys else place

    def is_word(self, place: int) -> bool:
        """Whether letters stand here."""
        return self.key(place)[:1].isalpha()

    def is_capitalised(self, place: int) -> bool:
        """Whether a word with a capital letter stands here."""
        return self.is_word(place) and self.all[place].text[0].isupper()

    def is_title_case(self, place: int) -> bool:
        """Like `Day`, neither `day` nor `DAY`."""
        return self.is_capitalised(place) and self.all[place].text[1:].islower()

    def is_possessive(self, place: int) -> bool:
        """Whether the token here ends in 's."""
        return 0 <= place < len(self.all) and self.all[place].possessive

    def starts_sentence(self, place: int) -> bool:
        """Whether a capital letter here says nothing: after a sign, on a new line, at the beginning."""
        if place <= 0 or not self.all[place - 1].text[0].isalnum():
            return True
        return "\n" in self.text[self.all[place - 1].end : self.all[place].start]

    def ends_clause(self, place: int) -> bool:
        """Whether nothing but a sign or the end of the text stands here."""
        return not self.key(place) or not self.key(place)[0].isalnum()

    def stands_alone(self, start: int, end: int) -> bool:
        """Whether tokens start..end are no part of an address, a path, a decimal or a longer number."""
        return self.free_before(start) and self.free_after(end)

    def free_before(self, start: int) -> bool:
        """Whether nothing that could continue into the token here is glued to it from the left."""
        if not self.glued(start):
            return True
        before = self.key(start - 1)
        if before.isalnum() or before in {"@", "#", "_", "/", "+", "\\", "$", "€", "£", "="}:
            return False
        if before == "-" and self.key(start - 2) in {"mid", "early", "late"}:
            return True
        joined = before in {"-", ".", ",", ":"} and self.glued(start - 1)
        return not (joined and self.key(start - 2)[:1].isalnum())

    def free_after(self, end: int) -> bool:
        """Whether nothing that could continue the token before `end` is glued to it from the right.

        A sign that ends a sentence may be, a hyphen or slash before a word ("May-July") or a day ("June
        3-7") too.
        """
        if not self.glued(end):
            return True
        after, following = self.key(end), self.key(end + 1)
        if after.isalnum() or after in {"@", "_", "%"}:
            return False
        if after not in {"/", "-", ".", ":", ",", "+"} or not self.glued(end + 1) or not following[:1].isalnum():
            return True
        if after == "-" and following[0].isdigit():
            return len(following) <= 2 and not (self.glued(end + 2) and self.key(end + 2) in {"-", "/", ":"})
        return after in {"/", "-"} and not following[0].isdigit()

    def is_future(self, place: int) -> bool:
        """Whether the sentence around this place speaks of what is to come, and of nothing past."""
        past, future = self._tense(place)
        return future and not past

    def is_past(self, place: int) -> bool:
        """Whether the sentence around this place speaks of what has been."""
        return self._tense(place)[0]

    def _tense(self, place: int) -> tuple[bool, bool]:
        if place not in self._sentences:
            first = last = place
            while first > 0 and self.key(first - 1) not in _SENTENCE_ENDS:
                first -= 1
            while last < len(self) and self.key(last) not in _SENTENCE_ENDS:
                last += 1
            keys = [token.key for token in self.all[first:last]]
            past = any(key in _PAST_WORDS or (key.endswith("ed") and len(key) > 4) for key in keys)
            found = (past, not _FUTURE_WORDS.isdisjoint(keys))
            # One answer serves the whole sentence; else a text without full stops takes quadratic time.
            for index in range(first, max(last, place + 1)):
                self._sentences[index] = found
        return self._sentences[place]
