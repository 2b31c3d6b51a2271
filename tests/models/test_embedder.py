import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from assomem.errors import SettingsError
from assomem.models.embedder import open_embedder, usable
from assomem.settings import read_settings


def test_an_unknown_name_is_refused_and_the_ones_there_are_are_listed(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"bge-small-en-v1\.5, e5-small-v2.*ASSOMEM_EMBEDDER"):
        open_embedder(read_settings(embedder="no-such-model", cache=tmp_path))


@pytest.mark.parametrize("name", ["e5-small-v2", "bge-small-en-v1.5"])
def test_opening_fetches_and_loads_nothing_before_the_first_text(name: str, tmp_path: Path) -> None:
    embedder = open_embedder(read_settings(embedder=name, cache=tmp_path))
    assert embedder.name == name
    assert embedder.dimensions == 384
    assert embedder.fingerprint.startswith(f"{name}/384/")
    assert 0 < embedder.gamma < embedder.delta < 1
    assert not list(tmp_path.iterdir())


def test_importing_the_package_of_models_loads_no_model_library() -> None:
    code = "import sys, assomem.models; print(sorted({'numpy', 'onnxruntime', 'openai'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_only_finite_vectors_of_the_right_size_that_are_not_zero_are_usable() -> None:
    good = np.array([0.6, 0.8], np.float32)
    assert usable(good, 2)
    assert not usable(good, 3)
    assert not usable(good[np.newaxis], 2)
    assert not usable(np.zeros(2, np.float32), 2)
    assert not usable(np.array([np.nan, 1], np.float32), 2)
    assert not usable(np.array([np.inf, 1], np.float32), 2)
    assert not usable(np.zeros(0, np.float32), 0)
    assert usable(np.array([3e38, 3e38], np.float32), 2)
