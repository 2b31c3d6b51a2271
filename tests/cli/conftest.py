"""The sample in a memory of its own, made once."""

from collections.abc import Iterator

import pytest

from assomem import AssoMem, Settings
from assomem.importers import read
from assomem.sample import sample_folder
from assomem.server import Address

SAMPLE = "cli sample"


@pytest.fixture(scope="session")
def sample(server: Address, settings: Settings) -> Iterator[str]:
    """Name of a memory that holds the sample; tests only read it."""
    del server
    with (sample_folder() / "memory.jsonl").open("rb") as stream:
        imported = read(stream)
    with AssoMem(SAMPLE, settings=settings) as memory:
        memory.remember(imported.sessions)
        yield SAMPLE
        memory.forget(everything=True)
