"""Where a text longer than an embedder's window is cut, so that every word of it lands in some piece."""

from collections.abc import Sequence

INSIDE_WORD, BETWEEN_WORDS, AT_SPACE, SENTENCE_END = range(4)
"""How good the gap between two tokens is as a place to cut, worst to best."""

_ENDS = frozenset(".!?…。！？؟।")
_ENDS_WITHOUT_SPACE = frozenset("。！？")
_CLOSING = "\"')]}»”’」』）"


def gaps(text: str, offsets: Sequence[tuple[int, int]], words: Sequence[int | None]) -> list[int]:
    """How good the gap before each token is as a place to cut; one number a token, the first unused.

    `offsets` are the tokens' places in `text`, `words` the number of the word each is part of.
    """
    found = [SENTENCE_END] * min(len(offsets), 1)
    for at in range(1, len(offsets)):
        if words[at] == words[at - 1]:
            found.append(INSIDE_WORD)
            continue
        end = offsets[at - 1][1]
        between = text[end : offsets[at][0]]
        # Three characters are enough to see past closing quotes and brackets: `done.")`
        before = text[max(0, end - 3) : end].rstrip(_CLOSING)[-1:]
        spaced = bool(between) and (between.isspace() or any(character.isspace() for character in between))
        if "\n" in between or before in _ENDS_WITHOUT_SPACE or (spaced and before in _ENDS):
            found.append(SENTENCE_END)
        else:
            found.append(AT_SPACE if spaced else BETWEEN_WORDS)
    return found


def cut(gaps: Sequence[int], most: int) -> list[tuple[int, int]]:
    """The pieces of a text as (first token, token after the last), in order, together covering all tokens.

    No piece holds more than `most` (at least 1) tokens. A piece ends at the last sentence end that leaves it
    at least a third full, else at the last space that does, else between words, else wherever it is full. No
    tokens: one empty piece.
    """
    pieces: list[tuple[int, int]] = []
    start = 0
    while len(gaps) - start > most:
        least, full = start + max(1, most // 3), start + most
        best = max(range(least, full + 1), key=lambda at: (gaps[at], at))
        pieces.append((start, best))
        start = best
    pieces.append((start, len(gaps)))
    return pieces
