"""The shipped labeller's weights as arrays, their hash checked, for those who run it without torch."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load

from search.errors import ModelError

MODELS = Path(__file__).parent / "models"
WEIGHTS, CARD = "facets.safetensors", "facets.json"


@dataclass(frozen=True, slots=True)
class LabellerWeights:
    id: str
    layer: int
    """The hidden state of the encoder it branches off."""
    tensors: Mapping[str, NDArray[np.float32]]
    """Named as in `search.facets.FacetLabeller`."""


def read_labeller() -> LabellerWeights:
    """The labeller that is shipped, or the one in the folder TRIPTYCH_FACETS names."""
    folder = Path(os.environ.get("TRIPTYCH_FACETS") or MODELS)
    try:
        card = json.loads((folder / CARD).read_text(encoding="utf-8"))
        data = (folder / WEIGHTS).read_bytes()
        promised, layer = str(card["sha256"]), int(card["shape"]["layer"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"The facet labeller in {folder} cannot be read ({type(error).__name__}): {WEIGHTS} and {CARD} "
            "must both be there, as `python -m training facets` writes them."
        ) from error
    found = hashlib.sha256(data).hexdigest()
    if found != promised:
        raise ModelError(
            f"The facet labeller in {folder / WEIGHTS} has hash {found[:12]}… instead of {promised[:12]}…: "
            "fetch the file again, or train it with `python -m training facets`."
        )
    tensors = {name: tensor.astype(np.float32) for name, tensor in load(data).items()}
    return LabellerWeights(f"facets-{found[:12]}", layer, tensors)
