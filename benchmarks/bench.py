"""How long searching and writing take, over sizes of a memory; one line of JSON on stdout.

    python benchmarks/bench.py --sizes 1000,3000

Invented talk with a vocabulary of Zipf's law, embedded with the default embedder, in a memory of its own that is gone
afterwards. Times are medians of one process on this machine; compare them with each other, not across machines.
"""

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from assomem import AssoMem, Session, Utterance

QUESTIONS = 40
TURNS = 20
BEGUN = datetime(2024, 1, 1, 9, tzinfo=UTC)


def words(chance: random.Random) -> list[str]:
    """A vocabulary of 5,000 invented words, the common ones first."""
    syllables = [c + v for c in "bdfghklmnprstvw" for v in "aeiou"]
    return ["".join(chance.choice(syllables) for _ in range(chance.randint(2, 4))) for _ in range(5000)]


def talk(size: int, chance: random.Random, vocabulary: list[str]) -> Iterator[Session]:
    """`size` utterances in sessions of 20, a day apart."""
    ranks = [1 / rank for rank in range(1, len(vocabulary) + 1)]
    for number in range(0, size, TURNS):
        at = BEGUN + timedelta(days=number // TURNS)
        yield Session(
            f"day {number // TURNS}",
            [
                Utterance(
                    ("Mira", "Tove")[turn % 2],
                    " ".join(chance.choices(vocabulary, ranks, k=chance.randint(4, 30))) + ".",
                    at + timedelta(minutes=turn),
                )
                for turn in range(min(TURNS, size - number))
            ],
        )


def measure(size: int) -> dict[str, object]:
    """Median milliseconds of a search with its parts, of an append, and the cost of writing beside embedding."""
    chance = random.Random(size)
    vocabulary = words(chance)
    with AssoMem(f"benchmark {uuid4().hex[:8]}", progress=True) as memory:
        try:
            stored = memory.remember(talk(size, chance, vocabulary))
            totals: list[float] = []
            parts: dict[str, list[float]] = {}
            asked_at = BEGUN + timedelta(days=size // TURNS + 1)
            for number in range(QUESTIONS + 5):
                question = f"When did Mira talk about {' '.join(chance.choices(vocabulary, k=4))} last week?"
                started = time.perf_counter()
                result = memory.search(question, asked_at=asked_at)
                if number >= 5:  # the first ones pay for plans and caches
                    totals.append((time.perf_counter() - started) * 1000)
                    for part, spent in result.milliseconds.items():
                        parts.setdefault(part, []).append(spent)
            appends: list[float] = []
            for number in range(12):
                started = time.perf_counter()
                memory.append("today", Utterance("Mira", f"{' '.join(chance.choices(vocabulary, k=12))} {number}"))
                appends.append((time.perf_counter() - started) * 1000)
        finally:
            memory.forget(everything=True)
    embed = stored.milliseconds["embed"]
    return {
        "search_p50_ms": round(statistics.median(totals), 1),
        "parts_p50_ms": {part: round(statistics.median(spent), 1) for part, spent in parts.items()},
        "append_ms": round(statistics.median(appends[2:]), 1),
        "ingest_share_of_embedder": round((stored.milliseconds["total"] - embed) / embed, 3),
    }


def main() -> None:
    """Measure every size and print the table as one line of JSON."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("--sizes", default="1000,3000", help="numbers of utterances, comma-separated")
    sizes = [int(size) for size in arguments.parse_args().sizes.split(",")]
    found: dict[str, dict[str, object]] = {}
    for size in sizes:
        row = measure(size)
        print(f"{size}: {row}", file=sys.stderr)
        for name, value in row.items():
            found.setdefault(name, {})[str(size)] = value
    print(json.dumps(found))


if __name__ == "__main__":
    main()
