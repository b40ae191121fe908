"""The trained upper layers of the default encoder: kept beside the code, laid over the packaged weights."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load, save

from search.errors import ModelError

MODELS = Path(__file__).parent / "models"
WEIGHTS, CARD = "aspects.safetensors", "aspects.json"

Tensors = Mapping[str, NDArray[np.float32]]
"""Named as in the encoder they replace a part of."""


@dataclass(frozen=True, slots=True)
class Aspects:
    sha256: str
    tensors: Tensors


def read_aspects() -> Aspects:
    """The shipped weights, or those in the folder TRIPTYCH_ASPECTS names, their hash checked."""
    folder = Path(os.environ.get("TRIPTYCH_ASPECTS") or MODELS)
    try:
        promised = str(json.loads((folder / CARD).read_text(encoding="utf-8"))["sha256"])
        data = (folder / WEIGHTS).read_bytes()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"The aspect weights in {folder} cannot be read ({type(error).__name__}): {WEIGHTS} and {CARD} "
            "must both be there, as `python -m training aspects` writes them."
        ) from error
    found = hashlib.sha256(data).hexdigest()
    if found != promised:
        raise ModelError(
            f"The aspect weights in {folder / WEIGHTS} hash to {found[:12]}… instead of {promised[:12]}…: "
            "fetch the file again, or train it with `python -m training aspects`."
        )
    return Aspects(found, {name: tensor.astype(np.float32) for name, tensor in load(data).items()})


def save_aspects(tensors: Mapping[str, Any], folder: Path, notes: Mapping[str, Any]) -> str:
    """Write weights (half precision) and card; `tensors` are arrays or torch's. Returns the hash."""
    halves = {name: np.ascontiguousarray(np.asarray(tensor), np.float16) for name, tensor in tensors.items()}
    data = save(halves)
    digest = hashlib.sha256(data).hexdigest()
    folder.mkdir(parents=True, exist_ok=True)
    card = {"sha256": digest} | dict(notes)
    for name, content in ((WEIGHTS, data), (CARD, (json.dumps(card, indent=1) + "\n").encode())):
        draft = folder / f"{name}.part"
        draft.write_bytes(content)
        draft.replace(folder / name)
    return digest
