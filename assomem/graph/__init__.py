"""The graph of a memory: writing it, taking things out of it, checking it."""

from assomem.graph.check import Problem, check
from assomem.graph.extract import NO_CHAT_MODEL, Extracted, extract_clues, waiting_sessions
from assomem.graph.forget import Forgotten, forget_memory, forget_utterances, session_uids
from assomem.graph.merge import merge_clues
from assomem.graph.nearest import Neighbours
from assomem.graph.write import EARLIEST, LATEST, Remembered, append, compare_embedder, speaker_key, write

__all__ = [
    "EARLIEST",
    "LATEST",
    "NO_CHAT_MODEL",
    "Extracted",
    "Forgotten",
    "Neighbours",
    "Problem",
    "Remembered",
    "append",
    "check",
    "compare_embedder",
    "extract_clues",
    "forget_memory",
    "forget_utterances",
    "merge_clues",
    "session_uids",
    "speaker_key",
    "waiting_sessions",
    "write",
]
