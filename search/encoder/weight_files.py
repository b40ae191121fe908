"""Weights that were trained here: a file in half precision, and a card beside it that holds its hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load, save

from search.errors import ModelError

MODELS = Path(__file__).parent / "models"
"""The shipped ones."""

Tensors = Mapping[str, NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Kind:
    """What some weights are called in a sentence, and which command makes them."""

    name: str
    command: str


@dataclass(frozen=True, slots=True)
class Trained:
    sha256: str
    card: Mapping[str, Any]
    tensors: Tensors


def files(folder: Path, stem: str) -> tuple[Path, Path]:
    """Weights and card."""
    return folder / f"{stem}.safetensors", folder / f"{stem}.json"


def read_trained(folder: Path, stem: str, kind: Kind) -> Trained:
    """Both files, the hash checked; in full precision."""
    weights, card_file = files(folder, stem)
    try:
        card = json.loads(card_file.read_text(encoding="utf-8"))
        promised, data = str(card["sha256"]), weights.read_bytes()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(
            f"The {kind.name} in {folder} cannot be read ({type(error).__name__}): {weights.name} and "
            f"{card_file.name} must both be there, as `{kind.command}` writes them."
        ) from error
    found = hashlib.sha256(data).hexdigest()
    if found != promised:
        raise ModelError(
            f"The {kind.name} in {weights} should have the hash {promised[:12]}…, but it is {found[:12]}…: "
            f"fetch the file again, or train it with `{kind.command}`."
        )
    return Trained(found, card, {name: tensor.astype(np.float32) for name, tensor in load(data).items()})


def promised_hash(folder: Path, stem: str) -> str:
    """The hash that the card promises, without reading the weights; empty where there is no such card."""
    try:
        return str(json.loads(files(folder, stem)[1].read_text(encoding="utf-8"))["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""  # reading the weights themselves then says what is wrong


def save_trained(tensors: Mapping[str, Any], folder: Path, stem: str, card: Mapping[str, Any]) -> str:
    """Write both files; `tensors` are arrays or torch's. Returns the hash."""
    halves = {name: np.ascontiguousarray(np.asarray(tensor), np.float16) for name, tensor in tensors.items()}
    data = save(halves)
    digest = hashlib.sha256(data).hexdigest()
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"sha256": digest} | dict(card), indent=1) + "\n"
    for file, content in zip(files(folder, stem), (data, text.encode()), strict=True):
        draft = file.with_name(f"{file.name}.part")
        draft.write_bytes(content)
        draft.replace(file)
    return digest
