"""Long-term memory for assistants and people, kept in Neo4j.

Names are loaded on first use (PEP 562), so that `import assomem` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assomem.analytics import AnalyticsResult
    from assomem.answer import Citation
    from assomem.clues import ReadyMadeClue
    from assomem.dialogue import Session, Utterance
    from assomem.errors import AssoMemError
    from assomem.evidence import Evidence, Explanation, SearchResult
    from assomem.fusion import Contribution
    from assomem.graph import Extracted, Forgotten, Remembered
    from assomem.memory import Answer, AssoMem
    from assomem.settings import Settings, read_settings
    from assomem.times import Interval

__all__ = [
    "AnalyticsResult",
    "Answer",
    "AssoMem",
    "AssoMemError",
    "Citation",
    "Contribution",
    "Evidence",
    "Explanation",
    "Extracted",
    "Forgotten",
    "Interval",
    "ReadyMadeClue",
    "Remembered",
    "SearchResult",
    "Session",
    "Settings",
    "Utterance",
    "read_settings",
]

__version__ = "0.1.0"

_HOME = {
    "AnalyticsResult": "analytics",
    "Answer": "memory",
    "AssoMem": "memory",
    "AssoMemError": "errors",
    "Citation": "answer",
    "Contribution": "fusion",
    "Evidence": "evidence",
    "Explanation": "evidence",
    "Extracted": "graph",
    "Forgotten": "graph",
    "Interval": "times",
    "ReadyMadeClue": "clues",
    "Remembered": "graph",
    "SearchResult": "evidence",
    "Session": "dialogue",
    "Settings": "settings",
    "Utterance": "dialogue",
    "read_settings": "settings",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'assomem' has no attribute {name!r}")
    return getattr(import_module(f"assomem.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
