"""Knowledge-graph memory of the paper ("Mem0-like"): the question's entities lead to facts, facts to utterances.

Entities are the clues of the kinds person, place and phrase; facts those of the kind fact, where there are any
(`--clues ready`). Mem0 keeps only what a language model extracted; ours leads from it back to the utterances, since
utterances are what is measured.
"""

import numpy as np

from assomem.evaluation.baselines import by_score, once
from assomem.evaluation.indexed import Asked, IndexedMemory
from assomem.terms import terms

ENTITY_KINDS = frozenset({"person", "place", "phrase"})
NEAREST_FACTS = 20
NEAREST_ENTITIES = 5


def knowledge_graph(index: IndexedMemory, asked: Asked) -> list[int]:
    """Utterances of the nearest facts, then those of the question's entities, then the others.

    1. Entities: those whose every term the question holds, and the 5 nearest by vector.
    2. Facts: those that share an utterance with a named entity, and the 20 nearest by vector. A fact counts with its
       cosine; of several facts an utterance has the best one.
    3. Utterances that only an entity leads to follow by cosine, the more entities the earlier; then all the rest by
       cosine, so that a memory whose graph says nothing still gives a full list.
    """
    entities = [number for number, clue in enumerate(index.clues) if clue.kind in ENTITY_KINDS]
    facts = [number for number, clue in enumerate(index.clues) if clue.kind == "fact"]
    closeness = (index.clue_vectors @ asked.vector).astype(np.float64) if index.clues else np.zeros(0)
    words = set(asked.terms)
    named = [number for number in entities if words.issuperset(spelled := terms(index.clues[number].text)) and spelled]
    near = sorted(entities, key=lambda number: -closeness[number])[:NEAREST_ENTITIES]
    reached = np.zeros(len(index))
    for number in named:
        reached[list(index.clues[number].members)] += 1
    touched = reached > 0
    for number in set(near).difference(named):
        reached[list(index.clues[number].members)] += 0.5
    nearest = set(sorted(facts, key=lambda number: -closeness[number])[:NEAREST_FACTS])
    best = np.full(len(index), -np.inf)
    for number in facts:
        members = list(index.clues[number].members)
        if number in nearest or touched[members].any():
            best[members] = np.maximum(best[members], closeness[number])
    told = np.isfinite(best) & asked.allowed
    order = np.lexsort((-asked.cosine, -best))
    by_fact = [int(one) for one in order if told[one]]
    by_entity = np.lexsort((-asked.cosine, -reached))
    return once(
        [
            *by_fact,
            *(int(one) for one in by_entity if reached[one] > 0 and asked.allowed[one]),
            *by_score(asked.cosine, asked.allowed),
        ]
    )
