"""Knowledge-graph memory of the paper ("Mem0-like"): the question's entities lead to facts, facts to utterances.

Entities are the clues of the kinds person, place and phrase; facts those of the kind fact, where there are any
(`--clues ready`). Mem0 keeps only what a language model extracted; ours leads from it back to the utterances, since
utterances are what is measured.
"""

import numpy as np

from assomem.evaluation.baselines import by_score, fused
from assomem.evaluation.indexed import Asked, IndexedMemory
from assomem.terms import terms

ENTITY_KINDS = frozenset({"person", "place", "phrase"})
NEAREST_FACTS = 20
NEAREST_ENTITIES = 5


def knowledge_graph(index: IndexedMemory, asked: Asked) -> list[int]:
    """Facts, entities and vectors, each giving a list of utterances, joined by reciprocal rank fusion.

    1. Entities: those whose every term the question holds, and the 5 nearest by vector. Their utterances by cosine.
    2. Facts: those that share an utterance with an entity the question names, and the 20 nearest by vector. An
       utterance gets the cosine of its best fact; ties by its own.
    3. Every utterance by cosine, as Mem0 searches its vectors beside its graph.
    """
    entities = [number for number, clue in enumerate(index.clues) if clue.kind in ENTITY_KINDS]
    facts = [number for number, clue in enumerate(index.clues) if clue.kind == "fact"]
    closeness = (index.clue_vectors @ asked.vector).astype(np.float64) if index.clues else np.zeros(0)
    words = set(asked.terms)
    named = {
        number for number in entities if (spelled := terms(index.clues[number].text)) and words.issuperset(spelled)
    }
    near = sorted(entities, key=lambda number: -closeness[number])[:NEAREST_ENTITIES]
    reached = np.zeros(len(index), bool)
    touched = np.zeros(len(index), bool)
    for number in named.union(near):
        members = list(index.clues[number].members)
        reached[members] = True
        touched[members] |= number in named
    nearest = set(sorted(facts, key=lambda number: -closeness[number])[:NEAREST_FACTS])
    told = np.full(len(index), -np.inf)
    for number in facts:
        members = list(index.clues[number].members)
        if number in nearest or touched[members].any():
            told[members] = np.maximum(told[members], closeness[number])
    numbers = np.flatnonzero(np.isfinite(told) & asked.allowed)
    by_fact: list[int] = numbers[np.lexsort((-asked.cosine[numbers], -told[numbers]))].tolist()
    by_entity = by_score(asked.cosine, reached & asked.allowed)
    return fused([by_fact, by_entity, by_score(asked.cosine, asked.allowed)])
