"""Text → terms for matching words: lower case, content words only, stemmed. Used alike for writing and asking."""

import re
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

# Runs of letters and digits; Chinese, Japanese and Korean characters apart, since they write without blanks;
# symbols of emoji, so that an utterance made of them alone can still be found.
_WORD = re.compile(
    r"[぀-ヿ㐀-䶿一-鿿豈-﫿가-힯]+"
    r"|[^\W_぀-ヿ㐀-䶿一-鿿豈-﫿가-힯]+"
    r"|[\U0001F000-\U0001FAFF\u2300-\u23FF\u2600-\u27BF\u2B00-\u2BFF]"
)
_EASTERN = re.compile(r"[぀-ヿ㐀-䶿一-鿿豈-﫿가-힯]")
_LONGEST = 64
"""So many characters of a word count; the cache of stems must not hold longer ones either."""
_POSSESSIVE = re.compile(r"['’]s\b")

STOP_WORDS = frozenset(
    # pronouns and determiners
    "i me my myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers "
    "herself it its itself they them their theirs themselves this that these those some any each few more most other "
    "such same own a an the "
    # question words
    "what which who whom whose when where why how "
    # auxiliary verbs
    "am is are was were be been being have has had having do does did doing can could will would shall should may "
    "might must "
    # prepositions and conjunctions
    "about above after against at before below between by down during for from in into of off on onto out over "
    "through to under until up upon with and but if or because as while than so nor though "
    # adverbs and particles of speech
    "again all also both here there then once only just no not now too very further ever "
    "don doesn didn isn aren wasn weren won wouldn couldn shouldn hasn haven hadn ain ll re ve m d s t "
    "hi hey hello wow yeah yes oh ok okay thanks please".split()
)


def terms(text: str) -> list[str]:
    """Stems of the content words of a text, in order, repeated as often as they occur.

    English words are stemmed (Snowball); East Asian runs become overlapping pairs of characters; emoji are terms.
    Stop words are left out. Empty for a text without words.
    """
    # Half a surrogate pair is no character, and no property of a node could hold it.
    text = text.encode("utf-8", "ignore").decode("utf-8")
    found: list[str] = []
    for word in _WORD.findall(_POSSESSIVE.sub("", unicodedata.normalize("NFKC", text).lower())):
        if _EASTERN.match(word):
            found.extend([word] if len(word) == 1 else (word[i : i + 2] for i in range(len(word) - 1)))
        elif word not in STOP_WORDS:
            found.append(stem(word[:_LONGEST]))
    return found


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """The English Snowball stem of one lower-case word, at most 64 characters of it."""
    return _stemmer()(word[:_LONGEST])


@cache
def _stemmer() -> Callable[[str], str]:
    import snowballstemmer

    # The library ships no types.
    english: Any = snowballstemmer.stemmer("english")
    return english.stemWord
