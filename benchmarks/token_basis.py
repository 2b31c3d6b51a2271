"""Learn the basis of a packaged embedder's token vectors and write it where the package ships it.

    python benchmarks/token_basis.py FOLDER [--out FILE]

FOLDER holds a `memory.jsonl` (a line each: `speaker`, `text`) whose licence lets numbers computed from it be
passed on: the result is a mean and 128 directions, from which no text can be read back. The shipped basis was
learnt from the LongMemEval memory (MIT licence).
"""

import argparse
import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np

from assomem.models.onnx import PACKAGED, TOKEN_DIMENSIONS, OnnxEmbedder
from assomem.settings import read_settings

SEED = 20261130


def main() -> None:
    """Sample utterances, embed their tokens, keep the mean and the principal directions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--embedder", default="e5-small-v2")
    parser.add_argument("--utterances", type=int, default=1000)
    parser.add_argument("--name", default="LongMemEval, pooled memory (MIT licence)", help="what FOLDER holds")
    parser.add_argument("--out", type=Path, default=Path("assomem/models/e5_small_v2_basis.npz"))
    given = parser.parse_args()

    with (given.folder / "memory.jsonl").open(encoding="utf-8") as lines:
        rows: list[dict[str, str]] = [json.loads(line) for line in lines]
    sample = random.Random(SEED).sample(rows, min(given.utterances, len(rows)))
    embedder = OnnxEmbedder(replace(PACKAGED[given.embedder], basis=None), read_settings().cache)

    count, total = 0, np.zeros(embedder.dimensions)
    products = np.zeros((embedder.dimensions, embedder.dimensions))
    for row in sample:
        states = embedder.token_states(f"{row['speaker']}: {row['text']}").astype(np.float64)
        count += len(states)
        total += states.sum(axis=0)
        products += states.T @ states
    mean = total / count
    variances, directions = np.linalg.eigh(products / count - np.outer(mean, mean))
    variances, directions = variances[::-1], directions[:, ::-1]
    kept = variances[:TOKEN_DIMENSIONS].sum() / variances.sum()
    provenance = (
        f"{given.embedder}: mean and first {TOKEN_DIMENSIONS} principal directions of the last hidden "
        f"states of {count} tokens of {len(sample)} utterances sampled (seed {SEED}) from {given.name}; they "
        f"hold {kept:.1%} of the variance; written by benchmarks/token_basis.py"
    )
    np.savez_compressed(
        given.out,
        mean=mean.astype(np.float16),
        directions=directions[:, :TOKEN_DIMENSIONS].astype(np.float16),
        provenance=np.array(provenance),
    )
    print(f"{given.out}: {given.out.stat().st_size} bytes; {provenance}")


if __name__ == "__main__":
    main()
