"""What evaluation keeps on disk: whole files only, and the version of the program they were made by."""

import hashlib
import os
import secrets
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assomem.store import cypher_folder

_WITHOUT_INFLUENCE = ("cli", "server", "importers", "integrations", "training", "prompts", "evaluation", "sample")
"""Folders of the package on which no ranking depends; of `evaluation`, those files that rank are named below."""

_RANKING = (
    "baselines.py", "cross_encoder.py", "embeddings.py", "indexed.py", "knowledge_graph.py", "own.py"
)  # fmt: skip


@cache
def code_digest() -> str:
    """Changes with every file on which a ranking may depend: the package's code, queries and weights."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for file in sorted(package.rglob("*")):
        parts = file.relative_to(package).parts
        ranks = parts[0] not in _WITHOUT_INFLUENCE or (parts[0] == "evaluation" and parts[-1] in _RANKING)
        if file.suffix in {".py", ".json", ".npz"} and ranks:
            digest.update("/".join(parts).encode() + file.read_bytes())
    for file in sorted(Path(str(cypher_folder())).rglob("*.cypher")):
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()[:16]


def key_of(*parts: object) -> str:
    """A file name of 32 hexadecimal digits for a combination of settings."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]


def write_arrays(file: Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write an .npz so that a reader finds all of it or nothing."""
    file.parent.mkdir(parents=True, exist_ok=True)
    begun = file.with_name(f".{file.stem}-{secrets.token_hex(4)}.npz")
    try:
        np.savez(begun, **arrays)  # pyright: ignore[reportArgumentType]
        os.replace(begun, file)
    finally:
        begun.unlink(missing_ok=True)
