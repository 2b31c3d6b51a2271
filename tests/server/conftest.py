"""Homes for servers of a test's own, with the downloads that all tests share."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest

from assomem import server
from assomem.settings import Settings, read_settings


@pytest.fixture(scope="session")
def shared_cache() -> Path:
    """Downloads that outlive the test run."""
    named = os.environ.get("ASSOMEM_TEST_CACHE")
    return Path(named) if named else read_settings().cache


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory, shared_cache: Path) -> Generator[Settings]:
    """A home of this module's own; whatever runs there at the end is stopped."""
    settings = read_settings(home=tmp_path_factory.mktemp("server") / "home", cache=shared_cache)
    yield settings
    server.down(settings)
