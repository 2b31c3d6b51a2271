"""Fusion: readings × weights → one score for each candidate.

Score(q, u) = Σ_d w_d(q) · s̃_d(u) with d in relevance, importance, temporal (AssoMem, ICLR 2026, "Fusion"). A signal
may be several readings: then s̃_d is their weighted mean and w_d the sum of their weights, which is the same sum
written once for each reading. Weights sum to 1, readings lie in 0..1, so scores do too.
"""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import NDArray

from assomem.errors import SettingsError

SIGNALS = ("relevance", "importance", "temporal")

SIGNAL_OF: Mapping[str, str] = {
    "clue walk": "importance",
    "pagerank": "importance",
    "said": "temporal",
    "meant": "temporal",
    "interval": "temporal",
    "late interaction": "relevance",
    "late context": "relevance",
    "late clue": "relevance",
    "cosine": "relevance",
    "context": "relevance",
    "words": "relevance",
    "window": "relevance",
    "session": "relevance",
    "pairs": "relevance",
    "speaker": "relevance",
    "names speaker": "relevance",
    "role": "relevance",
    "length": "relevance",
    "first person": "relevance",
    "reports": "relevance",
    "opening": "relevance",
    "reply": "relevance",
    "time word": "relevance",
}
"""Which signal each reading belongs to."""

Preset = Literal["default", "paper"]

ReadingWeights = Mapping[str, Mapping[str, float]]
"""signal → reading → weight; all of them sum to 1."""


_WAY_OUT = "The shipped assomem/weights.json shows the form; leave out --weights and ASSOMEM_WEIGHTS to use it"


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one reading added to a score: `value` (0..1) times `weight` is `adds`."""

    signal: str
    """relevance, importance or temporal"""
    reading: str
    value: float
    weight: float
    adds: float


@dataclass(frozen=True)
class Fused:
    """The scores of all candidates, and what they are made of."""

    scores: NDArray[np.float64]
    readings: Mapping[str, NDArray[np.float64]]
    weights: ReadingWeights

    @property
    def signal_weights(self) -> dict[str, float]:
        """w_d of each signal; they sum to 1."""
        return {signal: sum(self.weights[signal].values()) for signal in SIGNALS}

    def signals(self, index: int) -> dict[str, float]:
        """s̃_d of one candidate: each signal in 0..1; 0 for a signal without weight."""
        values: dict[str, float] = {}
        for signal, weight in self.signal_weights.items():
            adds = sum(share * float(self.readings[reading][index]) for reading, share in self.weights[signal].items())
            values[signal] = adds / weight if weight > 0 else 0.0
        return values

    def contributions(self, index: int) -> tuple[Contribution, ...]:
        """What each reading added to one candidate's score; `adds` sum to it. The greatest first."""
        found = [
            Contribution(signal, reading, value, weight, value * weight)
            for signal in SIGNALS
            for reading, weight in self.weights[signal].items()
            for value in [float(self.readings[reading][index])]
        ]
        return tuple(sorted(found, key=lambda one: (-one.adds, -one.weight, one.reading)))


def fuse(readings: Mapping[str, NDArray[np.float64]], weights: ReadingWeights) -> Fused:
    """Add up the readings of every candidate.

    Args:
        readings: by name, each in 0..1, one number for each candidate.
        weights: for a reading that is not given (an embedder without token vectors has no late interaction) the
            weight is shared out among the others in proportion. Where no given reading has a weight, every score is 0.
    """
    there = {
        signal: {reading: weight for reading, weight in weights[signal].items() if reading in readings}
        for signal in SIGNALS
    }
    total = sum(weight for shares in there.values() for weight in shares.values())
    scaled = {
        signal: {reading: weight / total if total > 0 else 0.0 for reading, weight in shares.items()}
        for signal, shares in there.items()
    }
    scores = np.zeros(len(next(iter(readings.values()))))
    for shares in scaled.values():
        for reading, weight in shares.items():
            scores += weight * readings[reading]
    return Fused(scores, readings, scaled)


def weights_for(preset: Preset, kind: str, file: Path | None) -> ReadingWeights:
    """The weights of a preset for a kind of memory, from the shipped file or another of its form.

    Args:
        preset: `default` or `paper`.
        kind: the kind of memory, one of those in `MemoryState.kinds`; the paper's weights know no kinds.
        file: a weights file in place of the shipped one.

    Raises:
        SettingsError: the file cannot be read or does not have the form of one.
    """
    weights = _read(file)
    chosen = weights["paper"] if preset == "paper" else weights["default"].get(kind)
    where = f"weights file {file or 'weights.json'}, {preset}"
    if not isinstance(chosen, dict):
        raise SettingsError(f"{where}: has no weights for memories of kind {kind!r}. {_WAY_OUT}")
    found = cast(dict[str, dict[str, float]], chosen)
    if set(found) != set(SIGNALS) or not all(_is_object(shares) for shares in found.values()):
        raise SettingsError(
            f"{where}, {kind}: must have exactly the signals {', '.join(SIGNALS)}, each an object of readings. "
            f"{_WAY_OUT}"
        )
    unknown = sorted(name for signal, shares in found.items() for name in shares if SIGNAL_OF.get(name) != signal)
    if unknown:
        # A misspelt reading would silently weigh nothing.
        raise SettingsError(f"{where}, {kind}: there is no reading {', '.join(map(repr, unknown))}. {_WAY_OUT}")
    values = [weight for shares in found.values() for weight in shares.values()]
    if not all(_is_weight(weight) for weight in values):
        raise SettingsError(f"{where}, {kind}: every weight must be a number, 0 or more. {_WAY_OUT}")
    if sum(values) <= 0:
        raise SettingsError(f"{where}, {kind}: at least one weight must be above 0. {_WAY_OUT}")
    total = sum(values)
    return {signal: {name: weight / total for name, weight in found[signal].items()} for signal in SIGNALS}


def mixed(shares: Mapping[str, float], weights_of: Callable[[str], ReadingWeights]) -> ReadingWeights:
    """The weights of several kinds of memory, each as heavy as its share.

    A memory of chats with friends and with an assistant, 30 to 70, gets 0.3 of the ones and 0.7 of the others.

    Args:
        shares: kind → share, at least one; they sum to 1.
        weights_of: the weights of a kind, which sum to 1.
    """
    kinds = [(share, weights_of(kind)) for kind, share in shares.items()]
    if len(kinds) == 1:
        return kinds[0][1]
    return {
        signal: {
            reading: sum(share * weights[signal].get(reading, 0.0) for share, weights in kinds)
            for reading in dict.fromkeys(name for _, weights in kinds for name in weights[signal])
        }
        for signal in SIGNALS
    }


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _is_weight(value: object) -> bool:
    return isinstance(value, int | float) and math.isfinite(value) and value >= 0


@cache
def _read(file: Path | None) -> dict[str, dict[str, Any]]:
    source = files("assomem").joinpath("weights.json") if file is None else file
    try:
        found: object = json.loads(source.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"weights file {file}: cannot be read: {error.strerror}. {_WAY_OUT}") from None
    except ValueError as error:
        raise SettingsError(f"weights file {file}: is not JSON: {error}. {_WAY_OUT}") from None
    given = cast(dict[str, Any], found) if isinstance(found, dict) else {}
    if not all(_is_object(given.get(preset)) for preset in get_args(Preset)):
        raise SettingsError(
            f"weights file {file}: must be an object with the objects 'default' and 'paper'. {_WAY_OUT}"
        )
    return given
