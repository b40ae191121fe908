"""Title and sentences -> contextual sentence vectors, a whole-paper vector and facets, in one pass.

A sentence's vector is the mean of its tokens' vectors while the model sees the whole abstract (Mysore, Cohan
and Hope 2022, "Multi-Vector Models with Textual Guidance for Fine-Grained Scientific Document Similarity",
eq. 2).
"""

from __future__ import annotations

import ctypes.util
import importlib.util
import os
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import tee
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from search.aspects import STEMS, read_aspects
from search.errors import ModelError
from search.pipeline import Model, Read, in_order, read_ahead
from search.presets import Weights, find_weights
from search.tokens import Document, Packer
from search.trained import Tensors
from search.types import FACETS

__all__ = ["Document", "Encoded", "Encoder", "load_encoder"]

RECIPE_VERSION = 1
"""Raise it when the same weights would give other vectors: old caches and corpora then no longer fit."""

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Encoded:
    sentences: Floats
    """[n, d], unit rows."""
    paper: Floats
    """[d], unit length."""
    facets: Floats
    """[n, 5], probabilities in the order of FACETS."""


class Encoder:
    """The same code for corpus and query. Thread-safe."""

    def __init__(
        self,
        id: str,
        packer: Packer,
        models: Sequence[Model],
        facets_id: str = "none",
        labels: Encoder | None = None,
    ) -> None:
        """Several models are copies that work side by side; `labels` gives the facets when they do not."""
        self.id = id
        self.facets_id = facets_id
        self.packer = packer
        self.models = models
        self.labels = labels
        self.dimension = models[0].dimension

    def without_labels(self) -> Encoder:
        """The same vectors; labels that another encoder gives are not asked for."""
        return Encoder(self.id, self.packer, self.models, self.facets_id)

    def encode_one(self, document: Document) -> Encoded:
        windows = list(self.packer.pack([document]))
        passes = zip(windows, self.models[0].run(windows), strict=True)
        encoded = next(merged(in_order([document], passes), self.dimension))
        return replace(encoded, facets=self.labels.encode_one(document).facets) if self.labels else encoded

    def encode(
        self, documents: Iterable[Document], progress: Callable[[int], None] | None = None
    ) -> Iterator[Encoded]:
        """Vectors and facets in the order of the documents; `progress` hears how many more are done."""
        labels = None
        if self.labels:
            documents, same = tee(documents)
            labels = self.labels.encode(same)
        for encoded in merged(read_ahead(self.models, self.packer, documents), self.dimension):
            yield replace(encoded, facets=next(labels).facets) if labels else encoded
            if progress:
                progress(1)


def merged(reads: Iterable[Read], dimension: int) -> Iterator[Encoded]:
    """Windows of a document put together; each token counts once, in the window that owns it.

    Sums have the direction of means, and only the direction is kept.
    """
    for document, passes in reads:
        count = len(document.sentences)
        sums = np.zeros((1 + count, dimension), np.float32)
        facets = np.zeros((count, len(FACETS)), np.float32)
        for window, one in passes:
            rows = slice(1 + window.rows.start, 1 + window.rows.stop)
            sums[0] += one.sums[0]
            sums[rows] += one.sums[1:]
            # A model that does not label leaves it open; another one's labels then take the place.
            labels = np.float32(1 / len(FACETS)) if one.facets is None else one.facets
            facets[window.rows.start : window.rows.stop] += one.tokens[:, None] * labels
        yield Encoded(unit(sums[1:]), unit(sums[0]), facets / facets.sum(axis=1, keepdims=True))


def unit(vectors: Floats) -> Floats:
    """Rows scaled to length one."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)


@lru_cache(maxsize=2)
def load_encoder(name: str = "default", device: str | None = None) -> Encoder:
    """An encoder by preset, model folder or name on the Hugging Face hub.

    Presets are default and quality, and both as their packages have them: untrained, quality-untrained.
    Without a device it uses all graphics cards there are, else the processor.
    """
    weights = find_weights(name)
    devices = find_devices(device or "")
    aspects = read_aspects(name) if name in STEMS else None
    trained = aspects.tensors if aspects else {}
    version = f"aspects-{aspects.sha256[:8]}" if aspects else weights.sha256[:8]
    id = f"{weights.name}-{version}-r{RECIPE_VERSION}"
    if name in ("default", "untrained"):
        return _small_encoder(id, weights, devices, trained)
    labels = load_encoder("untrained", device)  # the labeller reads untrained layers
    packer, models = _large_models(name, weights, devices, trained)
    return Encoder(f"{id}-{labels.facets_id}", packer, models, labels.facets_id, labels)


def _large_models(
    name: str, weights: Weights, devices: list[str], trained: Tensors
) -> tuple[Packer, Sequence[Model]]:
    """MPNet in 8 bits on processors; it on cards, and any other encoder everywhere, in torch."""
    if name in ("quality", "quality-untrained") and devices == ["cpu"]:
        from search.onnx_model import OnnxModel

        packer = packer_of(weights.folder, "<s>", "</s>", "[UNK]")
        return packer, [OnnxModel(weights.folder, trained=trained)] * cores()
    if importlib.util.find_spec("torch") is None:
        raise ModelError(f"The encoder {name!r} needs torch; install it, or use the default encoder.")
    from search.torch_model import TorchModel, load_packer

    models = [TorchModel(weights.folder, card, weights.first_token, trained=trained) for card in devices]
    return load_packer(weights.folder), models


def _small_encoder(id: str, weights: Weights, devices: list[str], trained: Tensors) -> Encoder:
    """MiniLM, some layers replaced, and the labeller in one pass: 8-bit on processors, torch on cards."""
    packer = packer_of(weights.folder, "[CLS]", "[SEP]", "[UNK]")
    if devices == ["cpu"]:
        from search.facet_weights import read_labeller
        from search.onnx_model import OnnxModel

        shipped = read_labeller()
        model = OnnxModel(weights.folder, shipped.tensors, shipped.layer, trained=trained)
        return Encoder(f"{id}-{shipped.id}", packer, [model] * cores(), shipped.id)
    from search.facets import load_labeller
    from search.torch_model import TorchModel

    labellers = [load_labeller() for _ in devices]
    pairs = zip(devices, labellers, strict=True)
    models = [TorchModel(weights.folder, device, False, labeller, trained) for device, labeller in pairs]
    return Encoder(f"{id}-{labellers[0].id}", packer, models, labellers[0].id)


def packer_of(folder: Path, *special: str) -> Packer:
    """The tokenizer of a preset with its opening, closing and unknown token, without transformers."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    known = [number for token in special if (number := tokenizer.token_to_id(token)) is not None]
    if len(known) < len(special):
        raise ModelError(f"The tokenizer in {folder} lacks one of {', '.join(special)}; install it again.")
    return Packer(tokenizer, *known)


def find_devices(wanted: str) -> list[str]:
    """The devices to work on: the named (cpu, cuda, cuda:1, mps), else all cards there are, else the CPU."""
    if wanted == "cpu" or (not wanted and not may_have_card()):
        return ["cpu"]
    from search.torch_model import find_cards

    cards = find_cards(wanted)
    if wanted and not cards:
        raise ModelError(f"There is no device {wanted!r} here; leave the setting empty, or use cpu.")
    return cards or ["cpu"]


def may_have_card() -> bool:
    """Whether it is worth asking torch for graphics cards: loading it takes seconds and 200 MB."""
    apple = platform.system() == "Darwin" and platform.machine() == "arm64"
    drivers = any(ctypes.util.find_library(name) for name in ("cuda", "nvcuda", "amdhip64"))
    return (apple or drivers) and importlib.util.find_spec("torch") is not None


def cores() -> int:
    """Processors this process may use; OMP_NUM_THREADS lowers it, as it does for torch."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(allowed, int(asked))) if asked.isdigit() else allowed
