"""BERTScore: how close an answer is to the reference, token by token, in the vectors of a language model.

Zhang et al., BERTScore: Evaluating text generation with BERT (2020): each token is matched with the most similar one on
the other side; F1 of the means, without inverse document frequencies and not rescaled. Values of different models
cannot be compared.
"""

import json
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from assomem.errors import ModelError

Scorer = Callable[[Sequence[str], Sequence[str]], list[float]]
"""(answers, references) → F1 of each pair, about 0..1; 0 for a blank side."""


def open_bert_score(model: str) -> Scorer:
    """The measure with a model that is at hand; nothing is downloaded.

    Args:
        model: a folder with a model's files, or a name whose files are in the hub's cache; `MODEL@5` takes the fifth
            layer. Without a number: the layer that the package recommends for a model of that name, else the last.

    Raises:
        ModelError: the package or the model is not at hand, or cannot be used; says how to get it.
    """
    name, _, number = model.rpartition("@")
    name, layer = (name, int(number)) if name and number.isdecimal() else (model, None)
    try:
        library: Any = import_module("bert_score")
        utilities: Any = import_module("bert_score.utils")
        hub: Any = import_module("huggingface_hub")
    except ImportError as error:
        raise ModelError(
            f"needs the package bert-score, which cannot be imported ({error.name or type(error).__name__}): "
            "pip install 'assomem[evaluate]'"
        ) from None
    folder = _folder(name, hub)
    if layer is None:
        known: dict[str, int] = utilities.model2layers
        layer = known.get(name, known.get(Path(name).name)) or _last_layer(folder)
    if "t5" in str(folder) and "t5" not in Path(name).name:
        raise ModelError(
            f"the package bert-score takes every model for a T5 whose path holds “t5”, as {folder} does; move it"
        )

    def score(answers: Sequence[str], references: Sequence[str]) -> list[float]:
        filled = [at for at, pair in enumerate(zip(answers, references, strict=True)) if all(map(str.strip, pair))]
        found = [0.0] * len(answers)
        if not filled:
            return found
        try:
            _, _, f1 = library.score(
                [answers[at] for at in filled], [references[at] for at in filled], model_type=str(folder),
                num_layers=layer,
            )  # fmt: skip
        except (OSError, ValueError, AssertionError, AttributeError, KeyError, RuntimeError) as error:
            raise ModelError(f"BERTScore with {model} failed ({type(error).__name__}: {error})") from error
        for at, value in zip(filled, f1.tolist(), strict=True):
            found[at] = float(value)
        return found

    return score


def _folder(name: str, hub: Any) -> Path:
    if Path(name).is_dir():
        return Path(name).resolve()
    try:
        return Path(hub.snapshot_download(name, local_files_only=True))
    except (OSError, ValueError) as error:
        raise ModelError(
            f"the model {name} is not at hand ({type(error).__name__}): name a folder with its files, or fetch it first"
        ) from None


def _last_layer(folder: Path) -> int:
    try:
        found: Any = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        return int(found["num_hidden_layers"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"{folder}: config.json does not say how many layers the model has ({type(error).__name__}); "
            "name one as MODEL@LAYER"
        ) from None
