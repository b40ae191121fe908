"""What was trained of an encoder: kept beside the code, laid over the packaged weights."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.encoder.weight_files import MODELS, Kind, Tensors, Trained, read_trained, save_trained
from search.errors import ModelError

STEMS = {"default": "encoder", "quality": "encoder-quality"}
"""The presets that were trained, and what their two files are called before the dot."""
KIND = Kind("fine-tuned weights", "python -m training encoder")
DOWN, UP = ".down", ".up"
"""Endings of the factors of a low-rank addition: up @ down is added to the weight they are named after."""


def read_fine_tuned(preset: str = "default", folder: Path | None = None) -> Trained:
    """The weights of a preset, shipped or in `folder`, named as in the encoder they replace a part of."""
    return read_trained(folder or MODELS, STEMS[preset], KIND)


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


def save_fine_tuned(
    tensors: Mapping[str, Any], folder: Path, notes: Mapping[str, Any], preset: str = "default"
) -> str:
    return save_trained(tensors, folder, STEMS[preset], notes)
