"""The labeller's weights as arrays, for those who run it without torch, and where they are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from search.encoder.weight_files import MODELS, Kind, Tensors, read_trained
from search.errors import ModelError

STEM = "labeller"
KIND = Kind("facet labeller", "python -m training labeller")


@dataclass(frozen=True, slots=True)
class LabellerWeights:
    id: str
    shape: dict[str, Any]
    """The fields of `search.encoder.labeller.Shape`."""
    tensors: Tensors
    """Named as in `search.encoder.labeller.FacetLabeller`."""

    @property
    def layer(self) -> int:
        """The hidden state of the encoder it branches off."""
        return int(self.shape["layer"])


def read_labeller(folder: Path | None = None) -> LabellerWeights:
    """The labeller that is shipped, or the one in `folder`."""
    folder = folder or MODELS
    found = read_trained(folder, STEM, KIND)
    shape = found.card.get("shape")
    if not isinstance(shape, dict) or "layer" not in shape:
        raise ModelError(f"{STEM}.json in {folder} does not give the shape of the facet labeller.")
    return LabellerWeights(labeller_id(found.sha256), shape, found.tensors)


def labeller_id(sha256: str) -> str:
    return f"facets-{sha256[:12]}"
