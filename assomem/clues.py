"""What the utterances of a session bring to mind, found without a language model; and when two clues are one.

Without a model there are four kinds: one **topic** for each session (its best key phrases; the paper, too,
has one representative clue for each session), **key phrases**, and the **people** and **places** it names.
Reading goes by capitals, neighbours and lists of English words: other languages give fewer clues.

From the packaged sample memory:

    s05 phrase  slugs · Patient Margaret · broad beans · eggs · window seat · egg boxes
    s07 topic   plot, greenhouse, artichokes
    s07 person  Wilf · Nadia · Mr. Pellow · Mrs. Okafor · Ruben Vance · Anjali
    s08 place   Mill Street · Bornholm · Denby · Marrow Cottage
    s10 place   St. Olave's · Koblenz · Trier
"""

import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, NamedTuple, cast, get_args

from assomem.dialogue import CheckedSession, Session, well_formed
from assomem.errors import InputError
from assomem.terms import STOP_WORDS, stem, terms

ClueKind = Literal["topic", "phrase", "person", "place", "event", "preference", "fact"]
"""The kinds that are known; ready-made clues may bring others."""

KINDS: tuple[str, ...] = get_args(ClueKind)

STATEMENT_KINDS = frozenset({"event", "preference", "fact"})
"""Kinds whose clues say something, in words of their own: they are read by late interaction like utterances."""

NAME_KINDS = frozenset({"person", "place"})
"""Kinds whose clues are one by spelling alone: two names may be almost the same to an embedder."""

MAX_PHRASES = 8
MAX_NAMES = 16
"""People at most, and places at most, in one session."""

PHRASE_WORDS = 3
TOPIC_PHRASES = 3


@dataclass(frozen=True, slots=True)
class Clue:
    """One clue of one session."""

    kind: ClueKind
    text: str
    anchors: tuple[int, ...]
    """Positions of the utterances it comes from in the session's list, from 0, ascending, never empty."""
    weight: float = 1.0
    """How well it stands for its session, 0..1: a phrase relative to the best one, topics and names 1."""


@dataclass(frozen=True, slots=True)
class ReadyMadeClue:
    """A clue that somebody else extracted: one line of `clues.jsonl`."""

    session_id: str
    kind: str
    text: str
    utterance_ids: tuple[str, ...]
    """In the order given, each once, never empty."""


def extract(session: Session | CheckedSession) -> list[Clue]:
    """The clues of a session, found in its words alone; the same session always gives the same list.

    Kinds come in the order topic, phrase, person, place: at most 1 topic, `MAX_PHRASES` phrases (the best
    first), `MAX_NAMES` people and as many places (the most often mentioned first). The topic is anchored to
    every utterance that has a word. Speakers are people where somebody mentions them, not where they speak.
    The time it takes is linear in the length of the text. Empty for a session without words.
    """
    texts = [unicodedata.normalize("NFKC", utterance.text) for utterance in session.utterances]
    talk = [_words(text) for text in texts]
    # Words seen without a capital: where they have one, a sentence begins.
    small = frozenset(word.lower for words in talk for word in words if not word.capital)
    speakers = _speaker_forms(utterance.speaker for utterance in session.utterances)
    names = _find_names(texts, talk, small, speakers)
    phrases = _find_phrases(texts, talk, small, names)
    if not phrases:
        return names.clues
    topic = ", ".join(phrase.text for phrase in phrases[:TOPIC_PHRASES])
    spoken = tuple(turn for turn, words in enumerate(talk) if words)
    return [Clue("topic", topic, spoken), *phrases, *names.clues]


def normalised(text: str) -> str:
    """The spelling by which clues are one: NFKC, case folded, blanks collapsed."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.casefold().split())


def is_label(name: str) -> bool:
    """Whether a speaker's name is a mere label (`SPEAKER_02`, `user`, `Guest 3`): nobody's name."""
    return _LABEL.fullmatch(normalised(name)) is not None


def may_merge(kind: str, text: str, other: str) -> bool:
    """Whether two clues of a kind may be one when their embeddings are close enough.

    Names never merge by meaning, and other clues only with the same names and numbers in them: "Mira likes tea" is
    not "Tove likes tea", nor plot 27 plot 9, whatever an embedder says; people and places are names throughout.
    """
    return kind not in NAME_KINDS and _specifics(text) == _specifics(other)


def _specifics(text: str) -> frozenset[str]:
    """The names and numbers in a clue, without which two clues may mean the same."""
    return frozenset(
        normalised(word.text)
        for word in _words(unicodedata.normalize("NFKC", text))
        if (word.capital and word.lower not in _NOT_OPENING) or any(map(str.isdigit, word.text))
    )


def read_ready_made(lines: Iterable[str]) -> Iterator[ReadyMadeClue]:
    """Ready-made clues, one for each line of JSON that is not blank, in order.

    A line is an object with `session_id`, `kind`, `text` and `utterance_ids`; other keys are ignored. A kind
    is one of `KINDS` or another short lower-case word.

    Raises:
        InputError: a line cannot be used; names the line (from 1), the field and what is allowed.
    """
    for number, line in enumerate(lines, start=1):
        line = line.removeprefix("\ufeff") if number == 1 else line
        if not line.strip():
            continue
        where = f"clues, line {number}"
        try:
            record: object = json.loads(line)
        except (ValueError, RecursionError):
            raise InputError(f"{where}: not JSON; each line is one object, cut or joined lines are not") from None
        if not isinstance(record, dict):
            raise InputError(f"{where}: must be an object, not {type(record).__name__}")
        fields = cast(dict[str, object], record)
        session_id = _line_text(fields.get("session_id"), f"{where}: session_id")
        kind = _line_text(fields.get("kind"), f"{where}: kind")
        if not _KIND.fullmatch(kind):
            raise InputError(
                f"{where}: kind must be one of {', '.join(KINDS)}, or another lower-case word of at most 32 characters"
            )
        text = _line_text(fields.get("text"), f"{where}: text")
        ids = fields.get("utterance_ids")
        if not isinstance(ids, list) or not ids:
            raise InputError(f"{where}: utterance_ids must be a list of at least one utterance id")
        utterance_ids = [_line_text(one, f"{where}: utterance_ids") for one in cast(list[object], ids)]
        yield ReadyMadeClue(session_id, kind, text, tuple(dict.fromkeys(utterance_ids)))


def _line_text(value: object, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where} must be text that is not blank")
    return well_formed(value)


# -- words


class _Word(NamedTuple):
    text: str
    """As written, without a possessive ending."""
    lower: str
    gap: str
    """What stands between the word before and this one."""
    opens: bool
    """Begins a sentence or a quotation, where a capital says nothing."""
    owns: bool
    """Had a possessive ending."""
    capital: bool
    start: int
    """Where it stands in the text."""


def _words(text: str) -> list[_Word]:
    words: list[_Word] = []
    end = 0
    before = ""
    for match in _WORD.finditer(text):
        written = match.group().replace("’", "'")
        owns = written[-2:] in _POSSESSIVES and len(written) > 2
        bare = written[:-2] if owns else written
        gap = text[end : match.start()]
        opens = not words or (
            gap != " "
            and bool(gap.strip(_INSIDE_SENTENCE))
            # The full stop of "Mr." and of an initial ends no sentence.
            and not (gap == ". " and (before in _ABBREVIATED or len(before) == 1))
        )
        end = match.end()
        before = bare.lower()
        capital = bare[0].isupper() and (bare.isalpha() or bare.replace("'", "").isalpha())
        words.append(_Word(bare, before, gap, opens, owns, capital, match.start()))
    return words


def _before(words: Sequence[_Word], index: int, steps: int = 1) -> str:
    """The word some steps before, in lower case, or "" where the sentence begins in between."""
    if any(word.opens for word in words[max(0, index - steps + 1) : index + 1]):
        return ""
    return words[index - steps].lower


# -- names


@dataclass(frozen=True, slots=True)
class _Mention:
    """One run of capitals that may be a name."""

    turn: int
    first: int
    last: int
    """Positions of its first and last word in the turn."""
    text: str
    opens: bool
    person: int
    place: int
    """What its neighbours say: 0 nothing, 1 perhaps, 2 clearly."""
    thing: bool
    """Has an article in front, or is an abbreviation: neither is usual with people."""


@dataclass(frozen=True, slots=True)
class _Names:
    clues: list[Clue]
    taken: frozenset[tuple[int, int]]
    """(turn, word) that belong to a person or a place: no phrase holds them."""
    things: frozenset[tuple[int, int]]
    """(turn, word) that belong to a name of something else: phrases keep their capitals."""


def _speaker_forms(speakers: Iterable[str]) -> dict[str, bool]:
    """The spellings by which the speakers may be mentioned, in lower case, and whether without capitals.

    A spelling is a speaker's full or first name.
    """
    forms: dict[str, bool] = {}
    for speaker in dict.fromkeys(speakers):
        if not is_label(speaker):
            words = _words(unicodedata.normalize("NFKC", speaker))
            small = not any(word.capital for word in words)
            for form in (" ".join(word.lower for word in words), *(word.lower for word in words[:1])):
                if len(form) > 1 and not is_label(form):
                    forms[form] = forms.get(form, False) or small
    return forms


def _find_names(
    texts: Sequence[str], talk: Sequence[Sequence[_Word]], small: frozenset[str], speakers: Mapping[str, bool]
) -> _Names:
    mentions = [
        mention
        for turn, words in enumerate(talk)
        if not _shouted(words)
        for mention in _mentions(turn, texts[turn], words, small, speakers)
    ]
    sure = {normalised(one.text) for one in mentions if not one.opens or one.person == _CLEAR} | speakers.keys()
    sure |= {part for name in sure for part in name.split() if len(part) > 2 and part not in _NOT_NAMES}
    mentions = [kept for one in mentions if (kept := _settled(one, talk, sure)) is not None]
    mentions += [
        _Mention(turn, index, index, word.text, False, 0, 0, False)
        for turn, words in enumerate(talk)
        if _shouted(words)
        for index, word in enumerate(words)
        if word.lower in sure and word.lower not in STOP_WORDS
    ]

    by_name: dict[str, list[_Mention]] = defaultdict(list)
    for mention in mentions:
        by_name[normalised(mention.text)].append(mention)
    spoken = sum(not word.opens for words in talk for word in words)
    # Where every fifth word has a capital (German, headlines), a capital alone names nobody.
    by_capital_alone = sum(one.last - one.first + 1 for one in mentions if not one.opens) * 5 < max(spoken, 50)

    grouped: dict[tuple[ClueKind, str], list[_Mention]] = defaultdict(list)
    things: set[tuple[int, int]] = set()
    for name, group in by_name.items():
        usual = "person" if name in speakers else _usual_kind(group, by_capital_alone)
        for mention in group:
            kind = usual
            # The same name may be a person here and a place there; a speaker is a person everywhere.
            if name not in speakers and max(mention.person, mention.place) == _CLEAR != min(
                mention.person, mention.place
            ):
                kind = "person" if mention.person == _CLEAR else "place"
            if kind is None:
                things.update((mention.turn, index) for index in range(mention.first, mention.last + 1))
            else:
                grouped[kind, name].append(mention)
    taken = {
        (mention.turn, index)
        for group in grouped.values()
        for mention in group
        for index in range(mention.first, mention.last + 1)
    }
    clues: list[Clue] = []
    for wanted in ("person", "place"):
        named = [
            Clue(kind, _usual_spelling(one.text for one in group), tuple(sorted({one.turn for one in group})))
            for (kind, _), group in grouped.items()
            if kind == wanted
        ]
        named.sort(key=lambda clue: (-len(clue.anchors), clue.anchors, clue.text))
        clues += named[:MAX_NAMES]
    return _Names(clues, frozenset(taken), frozenset(things))


def _shouted(words: Sequence[_Word]) -> bool:
    """Whether most of a turn is in capitals, so that they tell nothing."""
    long = [word for word in words if len(word.text) > 1]
    return len(long) >= 3 and sum(word.text.isupper() for word in long) * 5 > len(long) * 3


def _mentions(
    turn: int, text: str, words: Sequence[_Word], small: frozenset[str], speakers: Mapping[str, bool]
) -> Iterator[_Mention]:
    index = 0
    while index < len(words):
        first = index
        titled = _is_title(words, first, speakers)
        if not titled and not _may_name(words, first, speakers):
            index += 1
            continue
        last = first
        while (further := _continues(words, last, speakers)) > last:
            last = further
        index = last + 1
        ordinary = not titled and words[first].lower not in speakers
        if ordinary and (
            # Also seen without its capital; what follows may still be a name ("Ask Wilf").
            ((words[first].opens or first == last) and words[first].lower in small)
            or (words[first].opens and words[first].lower in _NOT_OPENING)
        ):
            index = first + 1
            continue
        following = words[last + 1] if last + 1 < len(words) and words[last + 1].gap == " " else None
        if ordinary and first == last:
            if following is not None and following.lower in _DAYS:
                continue  # "Good Friday", "New Year"
            if words[first].lower in _PLACE_BEGINS:
                continue  # "up North"
        yield _mention(turn, text, words, first, last, titled, speakers)


def _is_title(words: Sequence[_Word], index: int, speakers: Mapping[str, bool]) -> bool:
    word = words[index]
    return word.capital and word.lower in _TITLES and _continues(words, index, speakers) > index


def _may_name(words: Sequence[_Word], index: int, speakers: Mapping[str, bool]) -> bool:
    if index >= len(words):
        return False
    word = words[index]
    if word.lower in speakers:
        if not word.capital:
            # "ask mira_k", "小明": who writes without capitals is named without them, common words apart.
            return speakers[word.lower] and word.lower not in _NOT_OPENING
        return not (word.lower in _NOT_NAMES and (word.opens or _before(words, index) in _BEFORE_DATES))
    return len(word.text) > 1 and word.capital and word.lower not in _NOT_NAMES and not is_label(word.text)


def _continues(words: Sequence[_Word], last: int, speakers: Mapping[str, bool]) -> int:
    """Where the name that has come to `last` goes on to; `last` where it ends."""
    if words[last].owns and words[last].lower not in _ABBREVIATED:
        return last
    abbreviated = words[last].lower in _ABBREVIATED
    after = last + 1
    while (
        after < len(words)
        and after <= last + 2
        and (words[after].gap == " " or (abbreviated and words[after].gap == ". "))
        and words[after].text in _INSIDE_NAMES
    ):
        after += 1
    if after >= len(words) or words[after].opens or not _may_name(words, after, speakers):
        return last
    joint = words[after].gap in (" ", "-") or (abbreviated and words[after].gap == ". ")
    # "Mira of Anna" and "Nadia Priya" are two people; so is a speaker with a word in front.
    parted = after > last + 1 and not {words[last].lower, words[after].lower}.isdisjoint(speakers)
    return after if joint and not parted else last


def _mention(
    turn: int,
    text: str,
    words: Sequence[_Word],
    first: int,
    last: int,
    titled: bool,
    speakers: Mapping[str, bool],
) -> _Mention:
    """A run with what its neighbours say about it."""
    opening, closing = words[first], words[last]
    saint = opening.lower in ("st", "saint")
    owns = closing.owns and not saint
    end = closing.start + len(closing.text)
    name = text[opening.start : end + 2 if saint and closing.owns else end]
    before, second = _before(words, first), _before(words, first, 2)
    article = before in _ARTICLES
    preposition, earlier = (second, _before(words, first, 3)) if article else (before, second)
    after = words[last + 1] if last + 1 < len(words) and words[last + 1].gap == " " else None
    relative = last + 1 < len(words) and words[last + 1].gap == ", " and words[last + 1].lower in ("he", "she", "who")
    then = words[last + 2].lower if after is not None and last + 2 < len(words) else ""

    short = name[:2].isupper() and len(name) <= 6  # an abbreviation: NHS, APIs
    # "the Friesian coast", "LGBTQ events": the name tells which coast, and is no place or person itself.
    attributive = (article or short) and after is not None and not after.capital and _is_content(after.lower)
    person = place = 0
    if (
        titled
        or normalised(name) in speakers
        or before in _BEFORE_PEOPLE
        or (after is not None and not owns and (after.lower in _DONE_BY_PEOPLE or (after.lower, then) == ("and", "i")))
    ):
        person = _CLEAR
    elif owns or before in ("with", "and") or relative or (preposition in ("to", "from") and earlier in _SAID_TO):
        person = 1
    if saint or (first != last and not titled and (closing.lower in _PLACE_ENDS or opening.lower in _PLACE_BEGINS)):
        place = _CLEAR
    elif not titled and not owns and not attributive:
        if preposition in _BEFORE_PLACES or (preposition in ("to", "from") and earlier in _TRAVELS):
            place = _CLEAR
        elif (
            (preposition in ("to", "from") and not person)
            or before in _PERHAPS_BEFORE_PLACES
            or (second, before) == ("how", "was")
        ):
            place = 1
    thing = not person and (article or short)
    # "Melanie and Caroline": what is joined to a name is one, even where it begins the sentence.
    paired = after is not None and after.lower == "and" and _may_name(words, last + 2, speakers)
    return _Mention(turn, first, last, name, opening.opens and not paired, person, place, thing)


def _settled(mention: _Mention, talk: Sequence[Sequence[_Word]], sure: Collection[str]) -> _Mention | None:
    """The mention, or the part of it that is a name; None where its capital only begins a sentence."""
    if not mention.opens or mention.person == _CLEAR or normalised(mention.text) in sure:
        return mention
    if mention.first == mention.last:
        return None
    words = talk[mention.turn]
    rest = mention.text[words[mention.first + 1].start - words[mention.first].start :]
    if normalised(rest) in sure:
        return replace(mention, first=mention.first + 1, text=rest, opens=False)
    return mention


def _usual_kind(group: Sequence[_Mention], by_capital_alone: bool) -> ClueKind | None:
    """What most of the mentions of one name say it is; None for a name of something else."""
    person, place = sum(one.person for one in group), sum(one.place for one in group)
    if person or place:
        return "place" if place > person else "person"
    if any(one.thing for one in group) or not by_capital_alone:
        return None
    return "person"


def _usual_spelling(spellings: Iterable[str]) -> str:
    """The most frequent spelling, the earliest of several; all in capitals only where there is no other."""
    counts = Counter(" ".join(spelling.split()) for spelling in spellings)
    return max(counts, key=lambda spelling: (not spelling.isupper(), counts[spelling]))


# -- key phrases


@dataclass(slots=True)
class _Phrase:
    stems: tuple[str, ...]
    telling: frozenset[str]
    """Those of its stems that are not of common words."""
    text: str
    times: int
    turns: dict[int, None]
    worth: float
    """Of its form, before counting: see `_worth`."""

    @property
    def score(self) -> float:
        """Frequency by worth; turns count in full, repetition within one a little."""
        return (len(self.turns) + 0.3 * min(self.times - len(self.turns), 5)) * self.worth


def _find_phrases(
    texts: Sequence[str], talk: Sequence[Sequence[_Word]], small: frozenset[str], names: _Names
) -> list[Clue]:
    """At most `MAX_PHRASES` key phrases, the best first."""
    found: dict[tuple[str, ...], _Phrase] = {}
    for turn, words in enumerate(talk):
        for run, nominal in _runs(turn, words, small, names):
            # So many words without a small one between them are a list; still more are no language.
            longest = PHRASE_WORDS if len(run) <= 8 else 1 if len(run) <= 40 else 0
            for start in range(len(run)):
                for end in range(start + 1, min(start + longest, len(run)) + 1):
                    part = [words[index] for index in run[start:end]]
                    worth = _worth(part, nominal)
                    if worth <= 0:
                        continue
                    key = tuple(stem(word.lower) for word in part)
                    phrase = found.get(key)
                    if phrase is None:
                        text = texts[turn][part[0].start : part[-1].start + len(part[-1].text)]
                        if names.things.isdisjoint((turn, index) for index in run[start:end]):
                            text = text.lower()
                        telling = frozenset(
                            one for one, word in zip(key, part, strict=True) if word.lower not in _COMMON
                        )
                        phrase = found[key] = _Phrase(key, telling, text, 0, {}, 0.0)
                    phrase.times += 1
                    phrase.turns[turn] = None
                    phrase.worth = max(phrase.worth, worth)

    chosen: list[_Phrase] = []
    covered: set[str] = set()
    # Python's sort is stable: of equals the one said first.
    for phrase in sorted(found.values(), key=lambda phrase: -phrase.score):
        if len(chosen) == MAX_PHRASES:
            break
        if not covered.issuperset(phrase.telling) and not any(
            phrase.telling > one.telling and phrase.turns == one.turns for one in chosen
        ):
            chosen.append(phrase)
            covered.update(phrase.stems)

    if not chosen:
        return []
    stems_said = [frozenset(terms(text)) for text in texts]
    return [
        Clue("phrase", phrase.text, _turns_with(phrase, stems_said), phrase.score / chosen[0].score)
        for phrase in chosen
    ]


def _turns_with(phrase: _Phrase, stems_said: Sequence[frozenset[str]]) -> tuple[int, ...]:
    stems = frozenset(phrase.stems)
    return tuple(turn for turn, said in enumerate(stems_said) if turn in phrase.turns or stems <= said)


def _runs(turn: int, words: Sequence[_Word], small: frozenset[str], names: _Names) -> Iterator[tuple[list[int], bool]]:
    """Runs of content words, by position in the turn, and whether the word in front announces a noun."""
    run: list[int] = []
    nominal = False
    for index, word in enumerate(words):
        if run and (word.opens or word.gap not in (" ", "-", "' ")):
            yield run, nominal
            run = []
        telling = (turn, index) in names.things or (
            _is_content(word.lower) and (turn, index) not in names.taken and (word.lower in small or not word.capital)
        )
        if not telling:
            if run:
                yield run, nominal
            run = []
        elif run:
            run.append(index)
        else:
            before, second = _before(words, index), _before(words, index, 2)
            # After "we" or "Bram" comes what they did; "to" comes before a noun only where somebody moves.
            acts = (
                before in _BEFORE_VERBS
                or "'" in before  # don't, we'll, I've
                or (before == "to" and second not in _MOVES)
                or ((turn, index - 1) in names.taken and bool(before) and not words[index - 1].owns)
            )
            if acts and (turn, index) not in names.things:
                continue
            run = [index]
            nominal = before in _BEFORE_NOUNS or before.isdigit() or (bool(before) and words[index - 1].owns)
    if run:
        yield run, nominal


@lru_cache(maxsize=50_000)
def _is_content(lower: str) -> bool:
    return (
        3 <= len(lower) <= (6 if lower[0] > "\u0e00" else 24)  # scripts without blanks: longer is a sentence
        and lower.isalpha()
        and lower not in _NOT_CONTENT
        and not is_label(lower)
        and not (lower.endswith("ly") and lower not in _NOUNS_IN_LY)
    )


def _worth(words: Sequence[_Word], nominal: bool) -> float:
    """How telling a phrase is by its form, 0 (not at all) to 1.9: length, rarity, a determiner in front."""
    closing = words[-1].lower
    if closing in _COMMON or (len(closing) > 4 and closing.endswith("ed") and not closing.endswith("eed")):
        return 0.0
    rarity = 0.0
    for word in words:
        if word.lower in _COMMON:
            rarity += 0.3
        elif word.lower.endswith("ing"):
            rarity += 0.7
        else:
            rarity += _RARITY_BY_LENGTH.get(len(word.lower), 1.0)
    return (1.0, 1.35, 1.45)[len(words) - 1] * (1.3 if nominal else 1.0) * rarity / len(words)


# -- lists

_WORD = re.compile(r"\w+(?:['’]\w+)*")
_POSSESSIVES = ("'s", "'S")
_INSIDE_SENTENCE = " \t,-'’&/"
_KIND = re.compile(r"[a-z][a-z_-]{1,31}")
_LABEL = re.compile(
    r"(?:speaker|user|assistant|unknown|system|human|bot|chatbot|participant|person|agent|caller|customer|client|"
    r"guest|host|operator|interviewer|interviewee|moderator|narrator|anonymous|model|tool|me|you|spk)"
    r"[\s_\-#.:]*(?:\d+|[a-z])?"
)
_CLEAR = 2
_RARITY_BY_LENGTH = {3: 0.6, 4: 0.8}


def _list(words: str) -> frozenset[str]:
    return frozenset(words.split())


_TITLES = _list("mr mrs ms miss dr doctor prof professor sir lady lord captain judge aunt auntie uncle")
_ABBREVIATED = _list("mr mrs ms dr prof st")
_INSIDE_NAMES = _list("of de da do dos das del della di du van von der den la le al bin ibn")
_ARTICLES = _list("a an the these those")

_DAYS = _list("monday tuesday wednesday thursday friday saturday sunday year day eve")
_MONTHS = _list("january february march april may june july august september october november december")
_BEFORE_DATES = _list("in on of by since until till last next this every early late mid from before after")

_BEFORE_PEOPLE = _list(
    "called named meet met meeting ask asked asking tell told telling thank thanks invite invited marry "
    "married phone phoned dear hi hey hello hiya bye love loves miss hug kiss helped sister brother "
    "cousin aunt uncle nephew niece mother father mum mom dad son daughter wife husband partner boyfriend "
    "girlfriend friend friends neighbour neighbor colleague boss teacher coach roommate flatmate "
    "housemate landlord classmate mentor"
)
_DONE_BY_PEOPLE = _list(
    "say call phone said says told tells asked asks thinks thought wants wanted called calls phoned rang "
    "wrote writes likes loves hates knows knew remembers forgot agreed agrees promised promises met "
    "bought lives moved married wins won offered offers suggested suggests mentioned laughed smiled cried "
    "joined helped gave gives believes hopes prefers decided explained replied answered invited borrowed "
    "lent cooked baked sings sang plays played drove drives wonders complained insisted apologised "
    "apologized graduated quit retired"
)
_SAID_TO = _list(
    "talk talked talking speak spoke speaking spoken said say listen listened wrote write gave give given "
    "giving show showed shown sent send lent sold explain explained thanks sorry married letter message "
    "gift present call email text heard hear borrowed learned learnt next close introduced similar "
    "compared"
)
_BEFORE_PLACES = _list("in at near around through via across into inside outside towards toward beyond above")
_PERHAPS_BEFORE_PLACES = _list("on visit visits visited visiting reach reached explore explored exploring tour toured")
_TRAVELS = _list(
    "move moves moved moving travel travelled traveled travelling traveling drive drove driving fly flew "
    "flying sail sailed trip trips journey train bus ferry flight road cycled hiked emigrated commute"
)
_MOVES = _TRAVELS | _list(
    "go goes going gone went come comes coming came ride rode riding walk walked walking back over down "
    "up way return returned returning hike cycle run ran"
)
_PLACE_BEGINS = _list("lake mount cape fort isle port san santa são new upper lower north south east west")
_PLACE_ENDS = _list(
    "street road lane avenue yard square park lake river mountain mountains hall museum library "
    "university college school hospital station church cathedral island islands beach bay harbour harbor "
    "bridge castle garden gardens market café cafe hotel cottage farm house valley creek falls village "
    "city centre center theatre theater gallery airport forest canyon hill hills coast court plaza "
    "terrace"
)

_NOT_NAMES = (
    (STOP_WORDS - _list("don haven"))  # in there for "don't" and "haven't"; here Don and New Haven
    | _DAYS
    | _MONTHS
    | _TITLES
    | _list(
        "i'm i've i'd i'll mondays tuesdays wednesdays thursdays fridays saturdays sundays mon tue tues "
        "wed thu thur thurs fri sat sun jan feb mar apr jun jul aug sep sept oct nov dec christmas easter "
        "halloween thanksgiving hanukkah ramadan diwali passover english french german italian "
        "spanish portuguese dutch danish swedish norwegian finnish polish russian turkish greek chinese "
        "japanese korean indian american british irish scottish welsh european african asian australian "
        "canadian mexican brazilian arabic latin mum mom mummy mommy dad daddy grandma grandpa granny nan "
        "nana god lord ah aha oh ooh oops ouch ha haha hm hmm huh wow yay yeah yep yes yup no nope nah ok "
        "okay hey hi hello hiya bye goodbye cheers congrats congratulations thanks thank thx please sorry "
        "sure great good nice cool fine right well true absolutely definitely exactly totally really "
        "actually honestly sensible brilliant lovely wonderful amazing awesome fantastic perfect "
        "interesting deal agreed indeed maybe perhaps anyway speaking morning evening afternoon tonight "
        "today tomorrow yesterday lol omg btw fyi asap ps tv diy faq pm am etc dear hope hopefully "
        "greetings everyone everybody someone somebody anyone nobody people another every still even yet "
        "although though because since unless whether else never always sometimes often usually first "
        "second third next last finally many much several enough plenty one two three four five six seven "
        "eight nine ten what's that's it's there's here's he's she's let's who's how's where's when's "
        "you're we're they're you've we've they've you'll we'll they'll you'd we'd they'd don't can't "
        "won't didn't doesn't isn't aren't wasn't couldn't shouldn't wouldn't haven't hasn't"
    )
)

# Words that name nothing on their own: they neither begin nor end a key phrase.
_NOT_CONTENT = (
    _NOT_NAMES
    | _BEFORE_DATES
    | _list(
        "be get gets getting got gotten go goes going gone went come comes coming came make makes making "
        "made take takes taking took taken give gives giving gave given put puts putting keep keeps "
        "keeping kept let lets say says saying said tell tells telling told ask asks asking asked know "
        "knows knowing knew known think thinks thinking thought see sees seeing saw seen look looks "
        "looking looked hear hears hearing heard feel feels feeling felt want wants wanting wanted need "
        "needs needing needed like likes liked love loves loved loving enjoy enjoys enjoyed enjoying hate "
        "hates try tries trying tried use uses using used find finds finding found show shows showing "
        "showed shown start starts starting started begin begins began stop stops stopped stopping turn "
        "turns turned leave leaves leaving left bring brings bringing brought buy buys buying bought "
        "become becomes became seem seems seemed remember remembers remembered forget forgets forgot "
        "forgotten mean means meant talk talks talking talked speak speaks spoke wait waits waiting "
        "waited hold holds holding held sit sits sitting sat stand stands stood stay stays stayed run "
        "runs ran walk walks walked live lives lived happen happens happened help helps helping helped "
        "call calls called meet met move moves moved moving write writes wrote written read reads send "
        "sends sent pay pays paid eat eats ate eaten eating drink drinks drank drinking cook cooks carry "
        "carries carried lose loses lost sleep slept wear wears wore worn sing sings sang believe "
        "believes believed guess bet wish hope hopes hoping hoped wonder wondering glad agree appreciate "
        "share shares shared sharing learn learned learning learnt plan plans planned planning decide "
        "decided join joined work works worked working play plays played playing check checks checked "
        "change changes changed grow grew open opened close closed win won miss missed checking excited "
        "quite rather pretty almost nearly already soon later early late ago back away around along "
        "across together apart else enough anymore today's way ways thing things stuff something anything "
        "nothing everything someone anyone everyone everybody nobody somebody none lot lots bit kind "
        "kinds sort sorts guys time times day days night nights week weeks weekend month months year "
        "years hour hours minute minutes moment half past o'clock kilo kilos pounds pound kilometres "
        "kilometers metres meters litres liters degrees euros dollars hundred thousand million dozen "
        "couple number numbers able sure ready course instead per via within without upon among whole "
        "entire least less cannot gonna wanna gotta ain't till where's yours mine ours theirs who's whose "
        "whatever whenever whoever eleven twelve twenty thirty forty fifty sixty twice once fourth fifth "
        "both either neither been being was were has had having did done does doing behind beside beneath "
        "except despite towards toward dug cut beat broke broken fell flew drove rang swam threw shut hit "
        "built taught caught fought sold spent laid led lent hung stuck swept woke chose chosen froze hid "
        "rode rose shook stole tore blew drew sew dig"
    )
)

# Words so common that a phrase may hold them but not end in them, and is worth less for it.
_COMMON = _list(
    "good great nice bad big small little large long short old new young high low hard easy fast slow "
    "full empty free best better worst worse happy sad fun funny cool amazing awesome wonderful beautiful "
    "lovely special important different same real true right wrong main own certain hot cold warm red "
    "blue green white black grey gray yellow brown pink strong weak clear clean dirty quick quiet loud "
    "nervous proud lucky tough calm emotional creative helpful inspiring incredible fantastic perfect "
    "exciting interesting super favorite favourite entire fine poor rich busy tired extra second-hand "
    "people person man woman guy life world place part side end top bottom point case fact idea reason "
    "question answer house home room problem word words name news story line page list item sounds sound "
    "thoughts support"
)

# Words that often begin a sentence in front of a name.
_NOT_OPENING = _NOT_CONTENT | _BEFORE_PEOPLE | _COMMON

_NOUNS_IN_LY = _list("family belly jelly lily fly supply assembly butterfly rally ally bully anomaly monopoly")

_BEFORE_NOUNS = _list(
    "a an the my your his her its our their this these those some any no each every another both few "
    "several many more most all of with for in on by from at about into two three four five six seven "
    "eight nine ten eleven twelve"
)

_BEFORE_VERBS = _list(
    "i you we he she they it who that can could will would shall should may might must let please not "
    "never always also just do does did ll ve re"
)
