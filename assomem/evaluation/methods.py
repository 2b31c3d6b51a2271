"""The methods by name: AssoMem's presets, the baselines, and rerankers by the name of their model.

default, paper                       AssoMem in a temporary memory of Neo4j
flat, bm25, hybrid,                  baselines over the same vectors and terms, in this process
session-utterance, topic-grouping,
lst, knowledge-graph
rerank:MODEL                         a cross-encoder of sentence-transformers over the hybrid's best
"""

from collections.abc import Sequence

from assomem.errors import InputError
from assomem.evaluation.baselines import BASELINES, Baseline
from assomem.evaluation.cross_encoder import reranked
from assomem.evaluation.knowledge_graph import knowledge_graph
from assomem.fusion import Preset

PRESETS: dict[str, Preset] = {"default": "default", "paper": "paper"}

_RERANK = "rerank:"
_IN_PROCESS = BASELINES | {"knowledge-graph": knowledge_graph}


def check_methods(names: Sequence[str]) -> None:
    """Refuse names that are none.

    Raises:
        InputError: there is no such method, or one is named twice; lists the ones there are.
    """
    for name in names:
        if name not in PRESETS and name not in _IN_PROCESS and not (name.startswith(_RERANK) and name != _RERANK):
            raise InputError(
                f"methods: there is none called {name!r}; there are {', '.join((*PRESETS, *_IN_PROCESS))} and "
                f"{_RERANK}MODEL"
            )
        if names.count(name) > 1:
            raise InputError(f"methods: {name} is named twice")


def baseline(name: str) -> Baseline:
    """The baseline of a name that `check_methods` lets pass and that is no preset.

    Raises:
        ModelError: its model is not at hand.
    """
    return reranked(name.removeprefix(_RERANK)) if name.startswith(_RERANK) else _IN_PROCESS[name]
