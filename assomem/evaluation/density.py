"""The density study: the same questions while the memory around their evidence grows.

Two ways to grow. `distractors`: sessions of other sets, which talk about other things. `near-duplicates`: the memory's
own sessions again, with names, numbers and dates replaced, which talk about nearly the same things and are never
evidence.

Whole sessions are added, in an order that depends on their ids alone, so that a larger memory holds the smaller one;
the last is cut at the size wanted. A distractor is said at a moment spread over the memory's own time, its turns as far
apart as they were; in a memory without times it has none. A near-duplicate is said when its original was.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import count
from typing import Any

from assomem.clues import NAME_KINDS, extract, is_label
from assomem.dialogue import Session, Utterance
from assomem.errors import InputError
from assomem.evaluation.datasets import LabelledMemory, LabelledSet, hash_of, labelled_memory
from assomem.evaluation.indexed import spelled_id
from assomem.evaluation.methods import PRESETS
from assomem.evaluation.run import Evaluation, Plan, Progress, evaluate, limited, planned_steps
from assomem.models.embedder import Embedder
from assomem.settings import Settings

WAYS = ("distractors", "near-duplicates")

_NAMES = (
    "Aldo Birte Casimir Dagny Emeric Fenja Gustav Halina Ivor Jorunn Kaspar Liesel Marek Nuria Osric Petra Quirin "
    "Runa Sandor Tilda Ulric Vesna Wendel Xenia Yorick Zelda Anselm Britta Corvin Dorika Edvin Freya Gerwin Hedda "
    "Isolde Jarek Katinka Leander Mirjam Norbert"
).split()
"""What names are replaced with, in turn from copy to copy."""

_MONTHS = ("January February March April May June July August September October November December").split()
_WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True)
class Step:
    """One point of the study: everything at one size, grown in one way."""

    way: str
    """One of `WAYS`, or `as it is` for the memories as they are."""
    size: int | None
    """Utterances in every memory; None for `as it is`."""
    evaluation: Evaluation


def checked_sizes(sizes: Sequence[int]) -> tuple[int, ...]:
    """The sizes in ascending order, each once.

    Raises:
        InputError: there are none, or one is not 1 or more.
    """
    if not sizes or min(sizes) < 1:
        raise InputError("density: give sizes in utterances, 1 or more, such as 1000,3000,9000")
    return tuple(sorted(set(sizes)))


def planned_study_steps(
    sets: Sequence[LabelledSet], others: Sequence[LabelledSet], sizes: Sequence[int], plan: Plan
) -> int:
    """How much `study` tells `progress` in all."""
    chosen = limited(_small_enough(sets, min(sizes)), plan)
    own = any(method in PRESETS for method in plan.methods)
    steps = planned_steps(chosen, plan)
    for one in chosen:
        supply = sum(memory.utterances for other in others if other.name != one.name for memory in other.memories)
        for memory in one.memories:
            for size in sizes:
                reached = [min(size, memory.utterances + supply), size] if others else [size]
                steps += sum(reached) * (1 + own) + len(reached) * len(memory.asked) * len(plan.methods)
    return steps


def study(
    sets: Sequence[LabelledSet],
    others: Sequence[LabelledSet],
    sizes: Sequence[int],
    plan: Plan,
    settings: Settings,
    *,
    embedder: Embedder | None = None,
    progress: Progress = lambda _: None,
    note: Callable[[str], None] = lambda _: None,
) -> list[Step]:
    """Measure the same questions at every size: as it is, then each way to grow, sizes ascending.

    Args:
        sets: the questions; memories larger than the smallest size are left out, and said so.
        others: where distractors come from; a set never serves itself. None: only near-duplicates.
        sizes: from `checked_sizes`.
        plan: what to measure.
        settings: as for `run.evaluate`.
        embedder: likewise.
        progress: told of steps done; there are `planned_study_steps`.
        note: told what a reader should know.

    Raises:
        InputError: no memory is small enough.
    """
    chosen = _small_enough(sets, min(sizes))
    left_out = sum(len(one.memories) for one in sets) - sum(len(one.memories) for one in chosen)
    if left_out:
        note(f"density: {left_out} memories have more than {min(sizes):,} utterances already and are left out")
    if not chosen:
        raise InputError(f"density: every memory has more than {min(sizes):,} utterances; give larger sizes")
    steps: list[Step] = []
    for way, size, grown_sets in _grown_sets(chosen, others, sizes, plan):
        for one in grown_sets:
            short = [memory for memory in one.memories if size is not None and memory.utterances < size]
            if short:
                most = max(memory.utterances for memory in short)
                note(f"density: {one.name}, {way}: there is enough for {most:,} utterances, not for {size:,}")
        found = evaluate(grown_sets, plan, settings, embedder=embedder, progress=progress, note=note)
        steps.append(Step(way, size, found))
    return steps


def as_json(steps: Sequence[Step]) -> dict[str, Any]:
    """Name of the set → way → utterances → method → summary; memories as they are stand under their mean size."""
    found: dict[str, Any] = {}
    base = steps[0].evaluation
    for step in steps[1:]:
        for plain, one in zip(base.sets, step.evaluation.sets, strict=True):
            by_size = found.setdefault(one.name, {}).setdefault(step.way, {})
            if not by_size:
                mean = round(sum(memory.utterances for memory in plain.memories) / len(plain.memories))
                by_size[str(mean)] = {method: base.summary(plain.memories, method) for method in base.outcomes}
            by_size[str(step.size)] = {
                method: step.evaluation.summary(one.memories, method) for method in step.evaluation.outcomes
            }
    return found


def grown(memory: LabelledMemory, size: int, additions: Sequence[Session]) -> LabelledMemory:
    """The memory with added sessions, `size` utterances in all (fewer if there is not enough to add).

    Sessions stay in the order of time, those without one last.
    """
    room = size - memory.utterances
    added: list[Session] = []
    for session in additions:
        if room <= 0:
            break
        added.append(Session(session.session_id, session.utterances[:room], session.title))
        room -= len(session.utterances)
    sessions = sorted([*memory.sessions, *added], key=_began)
    return labelled_memory(memory.name, sessions, memory.questions, memory.clues, corrected=memory.corrected)


def distractors(memory: LabelledMemory, others: Sequence[LabelledMemory]) -> list[Session]:
    """The sessions of other memories under new ids, spread over the time of this one, in an order of their ids."""
    moments = [one.said_at.astimezone(UTC) for s in memory.sessions for one in s.utterances if one.said_at is not None]
    found: list[Session] = []
    for other in others:
        for session in other.sessions:
            session_id = f"distractor:{other.name}:{session.session_id}"
            start = _spread(moments, session_id)
            found.append(
                Session(
                    session_id,
                    [
                        Utterance(
                            one.speaker,
                            one.text,
                            None if start is None else _after(start, session.utterances[0], one, max(moments)),
                            f"distractor:{other.name}:{spelled_id(session, place)}",
                        )
                        for place, one in enumerate(session.utterances, start=1)
                    ],
                )
            )
    return sorted(found, key=lambda session: hash_of(session.session_id))


def near_duplicates(memory: LabelledMemory) -> Iterator[Session]:
    """The sessions of a memory again and again without end, each time with other names, numbers and dates."""
    names = _names_in(memory)
    order = sorted(memory.sessions, key=lambda session: hash_of(session.session_id))
    for copy in count(1):
        for session in order:
            yield Session(
                f"duplicate:{copy}:{session.session_id}",
                [
                    Utterance(
                        substituted(one.speaker, names, copy),
                        substituted(one.text, names, copy),
                        one.said_at,
                        f"duplicate:{copy}:{spelled_id(session, place)}",
                    )
                    for place, one in enumerate(session.utterances, start=1)
                ],
            )


def substituted(text: str, names: tuple[str, ...], copy: int) -> str:
    """The text with other names, numbers and dates.

    Args:
        text: what was said.
        names: words that are names; the one at place n becomes name n + copy of a fixed list of forty, read in a ring.
        copy: which copy, from 1. Months and weekdays move on by so many, numbers grow by so many.
    """
    text = _NUMBER.sub(lambda match: str(int(match[0]) + copy).zfill(len(match[0])), text)
    pattern, others = _other_words(names, copy)
    return pattern.sub(lambda match: others[match[0]], text)


@lru_cache(maxsize=8)
def _other_words(names: tuple[str, ...], copy: int) -> tuple[re.Pattern[str], dict[str, str]]:
    """What finds names, months and weekdays, and what takes their place.

    "May" and "March" are verbs, too: a wrong word in a sentence that is never evidence does no harm.
    """
    others: dict[str, str] = {}
    for place, name in enumerate(names):
        others[name] = next(other for step in count(place + copy) if (other := _NAMES[step % len(_NAMES)]) != name)
    for words in (_MONTHS, _WEEKDAYS):
        # Moved by the whole ring a word would stay.
        step = 1 + (copy - 1) % (len(words) - 1)
        others |= {word: words[(place + step) % len(words)] for place, word in enumerate(words)}
    pattern = "|".join(map(re.escape, sorted(others, key=len, reverse=True)))
    return re.compile(rf"\b({pattern})\b"), others


def _names_in(memory: LabelledMemory) -> tuple[str, ...]:
    """The words that name speakers, people and places in a memory, sorted."""
    found: set[str] = set()
    for session in memory.sessions:
        found.update(word for one in session.utterances if not is_label(one.speaker) for word in one.speaker.split())
        found.update(word for clue in extract(session) if clue.kind in NAME_KINDS for word in clue.text.split())
    return tuple(sorted(name for name in found if name[:1].isupper()))


def _grown_sets(
    sets: Sequence[LabelledSet], others: Sequence[LabelledSet], sizes: Sequence[int], plan: Plan
) -> Iterator[tuple[str, int | None, list[LabelledSet]]]:
    chosen = limited(sets, plan)
    yield "as it is", None, chosen
    for way in WAYS if others else WAYS[1:]:
        for size in sizes:
            yield way, size, [_grown_set(one, others, way, size) for one in chosen]


def _grown_set(one: LabelledSet, others: Sequence[LabelledSet], way: str, size: int) -> LabelledSet:
    foreign = [memory for other in others if other.name != one.name for memory in other.memories]
    members: list[LabelledMemory] = []
    for memory in one.memories:
        additions: list[Session] = []
        if way == "distractors":
            additions = distractors(memory, foreign)
        else:
            room = size - memory.utterances
            for session in near_duplicates(memory):
                if room <= 0:
                    break
                additions.append(session)
                room -= len(session.utterances)
        members.append(grown(memory, size, additions))
    return LabelledSet(one.name, tuple(members), one.named_members)


def _small_enough(sets: Sequence[LabelledSet], size: int) -> list[LabelledSet]:
    found = [
        LabelledSet(one.name, tuple(m for m in one.memories if m.utterances <= size), one.named_members) for one in sets
    ]
    return [one for one in found if one.memories]


def _began(session: Session) -> tuple[bool, float]:
    moment = next((one.said_at for one in session.utterances if one.said_at is not None), None)
    return (moment is None, 0.0 if moment is None else moment.timestamp())


def _spread(moments: Sequence[datetime], session_id: str) -> datetime | None:
    """A moment between the first and the last, the same for the same id; None without moments."""
    if not moments:
        return None
    share = int(hash_of(session_id)[:12], 16) / 16**12
    return min(moments) + share * (max(moments) - min(moments))


def _after(start: datetime, first: Utterance, one: Utterance, last: datetime) -> datetime:
    """As long after `start` as an utterance is after the first of its session; not after `last`."""
    gap = timedelta(0)
    if first.said_at is not None and one.said_at is not None:
        gap = max(timedelta(0), one.said_at.astimezone(UTC) - first.said_at.astimezone(UTC))
    return min(start + gap, last)
