"""A small memory to try things on: the talk of four housemates over a year, invented for this package."""

from importlib.resources import files
from importlib.resources.abc import Traversable


def sample_folder() -> Traversable:
    """The folder that holds `memory.jsonl` and `queries.jsonl`, wherever the package is installed."""
    return files(__name__)
