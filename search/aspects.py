"""What was trained of an encoder: kept beside the code, laid over the packaged weights."""

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
STEMS = {"default": "aspects", "quality": "aspects-quality"}
"""The presets that were trained, and what their two files are called before the dot."""
DOWN, UP = ".down", ".up"
"""Endings of the factors of a low-rank addition: up @ down is added to the weight they are named after."""

Tensors = Mapping[str, NDArray[np.float32]]
"""Named as in the encoder they replace a part of."""


@dataclass(frozen=True, slots=True)
class Aspects:
    sha256: str
    tensors: Tensors


def read_aspects(preset: str = "default", folder: Path | None = None) -> Aspects:
    """The weights of a preset, their hash checked: shipped, in `folder`, or where TRIPTYCH_ASPECTS says."""
    folder = folder or Path(os.environ.get("TRIPTYCH_ASPECTS") or MODELS)
    weights, card = files(folder, preset)
    try:
        promised = str(json.loads(card.read_text(encoding="utf-8"))["sha256"])
        data = weights.read_bytes()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"The aspect weights in {folder} cannot be read ({type(error).__name__}): {weights.name} and "
            f"{card.name} must both be there, as `python -m training aspects` writes them."
        ) from error
    found = hashlib.sha256(data).hexdigest()
    if found != promised:
        raise ModelError(
            f"The aspect weights in {weights} hash to {found[:12]}… instead of {promised[:12]}…: "
            "fetch the file again, or train it with `python -m training aspects`."
        )
    return Aspects(found, {name: tensor.astype(np.float32) for name, tensor in load(data).items()})


def files(folder: Path, preset: str) -> tuple[Path, Path]:
    """Weights and card of a preset."""
    return folder / f"{STEMS[preset]}.safetensors", folder / f"{STEMS[preset]}.json"


def lay_over(packaged: Mapping[str, Any], trained: Tensors) -> dict[str, NDArray[np.float32]]:
    """The packaged tensors that change, as they become: replaced, or with a low-rank addition."""
    changed: dict[str, NDArray[np.float32]] = {}
    for name, tensor in trained.items():
        place = name.removesuffix(DOWN).removesuffix(UP)
        if place not in packaged:
            raise ModelError(f"The trained weights have {name!r}, which the encoder has not.")
        if name.endswith(UP):
            changed[place] = np.asarray(packaged[place], np.float32) + tensor @ trained[place + DOWN]
        elif name == place:
            changed[place] = tensor
    return changed


def save_aspects(
    tensors: Mapping[str, Any], folder: Path, notes: Mapping[str, Any], preset: str = "default"
) -> str:
    """Write weights (half precision) and card; `tensors` are arrays or torch's. Returns the hash."""
    halves = {name: np.ascontiguousarray(np.asarray(tensor), np.float16) for name, tensor in tensors.items()}
    data = save(halves)
    digest = hashlib.sha256(data).hexdigest()
    folder.mkdir(parents=True, exist_ok=True)
    card = {"sha256": digest} | dict(notes)
    contents = data, (json.dumps(card, indent=1) + "\n").encode()
    for file, content in zip(files(folder, preset), contents, strict=True):
        draft = file.with_name(f"{file.name}.part")
        draft.write_bytes(content)
        draft.replace(file)
    return digest
