"""What was trained of an encoder: kept beside the code, laid over the packaged weights."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.errors import ModelError
from search.trained import MODELS, Kind, Tensors, Trained, read_trained, save_trained

STEMS = {"default": "aspects", "quality": "aspects-quality"}
"""The presets that were trained, and what their two files are called before the dot."""
KIND = Kind("aspect weights", "python -m training aspects")
DOWN, UP = ".down", ".up"
"""Endings of the factors of a low-rank addition: up @ down is added to the weight they are named after."""


def read_aspects(preset: str = "default", folder: Path | None = None) -> Trained:
    """The weights of a preset: shipped, in `folder`, or where TRIPTYCH_ASPECTS says.

    Named as in the encoder they replace a part of.
    """
    folder = folder or Path(os.environ.get("TRIPTYCH_ASPECTS") or MODELS)
    return read_trained(folder, STEMS[preset], KIND)


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
    return save_trained(tensors, folder, STEMS[preset], notes)
