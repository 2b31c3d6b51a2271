"""Every reading of every candidate, kept on disk: weights can be learnt and ablated without ranking again.

for question in load_all(folder):
    scores = fuse(question.by_reading(), weights).scores
"""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from assomem.candidates import Candidates
from assomem.evaluation.datasets import LabelledQuestion
from assomem.evaluation.files import write_arrays
from assomem.fusion import ReadingWeights, fuse


@dataclass(frozen=True, eq=False)
class QuestionFeatures:
    """The candidates of one question of the preset `default`, and which of them are evidence."""

    query_id: str
    query_type: str
    """As the data has it."""
    types: Mapping[str, float]
    """Probabilities of the type as the question's form tells it; they sum to 1."""
    kinds: Mapping[str, float]
    """The kinds of memory with their shares, as `MemoryState.kinds` gives them."""
    group: str
    """The memory, by its digest: what is learnt must not be tested in the same group."""
    utterance_ids: tuple[str, ...]
    """n candidates, in the order in which they were stored."""
    found_by: tuple[str, ...]
    """For each the lists it was on, joined by commas: vector, clue, text, window, time."""
    reading_names: tuple[str, ...]
    """r names."""
    readings: NDArray[np.float32]
    """(n, r), each 0..1."""
    relevant: NDArray[np.bool_]
    """(n,), which are evidence."""
    evidence_count: int
    """Pieces of evidence there are, among the candidates or not; 1 or more."""

    @property
    def kind(self) -> str:
        """The kind that has the largest share."""
        return max(self.kinds, key=self.kinds.__getitem__)

    @cached_property
    def by_reading(self) -> dict[str, NDArray[np.float64]]:
        """Reading → (n,), as `fusion.fuse` takes it."""
        return {name: self.readings[:, place].astype(np.float64) for place, name in enumerate(self.reading_names)}

    def ranked(self, weights: ReadingWeights, k: int) -> tuple[str, ...]:
        """The first k utterance ids under some weights."""
        if not self.utterance_ids:
            return ()
        scores = fuse(self.by_reading, weights).scores
        best: list[int] = np.argsort(-scores, kind="stable")[:k].tolist()
        return tuple(self.utterance_ids[place] for place in best)

    def filled(self, names: Sequence[str]) -> "QuestionFeatures":
        """The same with exactly these readings, in this order; one it does not have is 0 for every candidate."""
        if tuple(names) == self.reading_names:
            return self
        nothing = np.zeros(len(self.utterance_ids), np.float32)
        columns = dict(zip(self.reading_names, self.readings.T, strict=True))
        return replace(
            self,
            reading_names=tuple(names),
            readings=np.stack([columns.get(name, nothing) for name in names], axis=1),
        )

    def without(self, names: Sequence[str], lists: Sequence[str]) -> "QuestionFeatures":
        """The same without some readings, and without the candidates that were on no list but some."""
        columns = [place for place, name in enumerate(self.reading_names) if name not in names]
        rows = [place for place, found in enumerate(self.found_by) if not set(found.split(",")).issubset(lists)]
        return replace(
            self,
            utterance_ids=tuple(self.utterance_ids[row] for row in rows),
            found_by=tuple(self.found_by[row] for row in rows),
            reading_names=tuple(self.reading_names[column] for column in columns),
            readings=self.readings[rows][:, columns],
            relevant=self.relevant[rows],
        )


def features_of(
    question: LabelledQuestion,
    group: str,
    kinds: Mapping[str, float],
    found: Candidates,
    readings: Mapping[str, NDArray[np.float64]],
    types: Mapping[str, float],
) -> QuestionFeatures:
    """The features of a question that was ranked; fields as in `QuestionFeatures`."""
    evidence = set(question.evidence)
    names = tuple(readings)
    columns = [readings[name] for name in names]
    return QuestionFeatures(
        query_id=question.query_id,
        query_type=question.query_type,
        types=dict(types),
        kinds=dict(kinds),
        group=group,
        utterance_ids=found.utterance_ids,
        found_by=tuple(",".join(sorted(lists)) for lists in found.found_by),
        reading_names=names,
        readings=np.stack(columns, axis=1).astype(np.float32) if columns else np.zeros((len(found), 0), np.float32),
        relevant=np.array([one in evidence for one in found.utterance_ids], bool),
        evidence_count=len(evidence),
    )


def save(folder: Path, questions: Sequence[QuestionFeatures]) -> None:
    """Add questions to a folder, as one more file of it; nothing for no questions."""
    if not questions:
        return
    arrays: dict[str, NDArray[Any]] = {}
    about: list[dict[str, Any]] = []
    for number, one in enumerate(questions):
        about.append(
            {
                "query_id": one.query_id, "query_type": one.query_type, "types": dict(one.types),
                "kinds": dict(one.kinds),
                "group": one.group, "utterance_ids": one.utterance_ids, "found_by": one.found_by,
                "reading_names": one.reading_names, "evidence_count": one.evidence_count,
            }
        )  # fmt: skip
        arrays[f"readings_{number}"] = one.readings
        arrays[f"relevant_{number}"] = one.relevant
    text = json.dumps(about).encode()
    arrays["about"] = np.frombuffer(text, np.uint8)
    write_arrays(folder / f"{secrets.token_hex(8)}.npz", arrays)


def load_all(folder: Path) -> list[QuestionFeatures]:
    """Every question kept in a folder, by query_id, each once; empty when there is none."""
    found: dict[str, QuestionFeatures] = {}
    for file in sorted(folder.glob("[!.]*.npz")):
        with np.load(file, allow_pickle=False) as arrays:
            about = cast(list[dict[str, Any]], json.loads(arrays["about"].tobytes()))
            for number, one in enumerate(about):
                found[one["query_id"]] = QuestionFeatures(
                    query_id=one["query_id"],
                    query_type=one["query_type"],
                    types=one["types"],
                    kinds=one["kinds"],
                    group=one["group"],
                    utterance_ids=tuple(one["utterance_ids"]),
                    found_by=tuple(one["found_by"]),
                    reading_names=tuple(one["reading_names"]),
                    readings=arrays[f"readings_{number}"],
                    relevant=arrays[f"relevant_{number}"],
                    evidence_count=one["evidence_count"],
                )
    return [found[query_id] for query_id in sorted(found)]
