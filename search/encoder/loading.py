"""Which encoder a name stands for, put together from weights, devices and labeller; loaded once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from tokenizers import Tokenizer

from search.encoder.devices import cores, find_devices, require_torch
from search.encoder.encoder import Encoder
from search.encoder.fine_tuned import STEMS, read_fine_tuned
from search.encoder.labeller_weights import STEM, LabellerWeights, read_labeller
from search.encoder.pretrained import MINILM, MPNET, PACKAGES, Weights, find_weights, is_model_name
from search.encoder.read_ahead import Model
from search.encoder.weight_files import MODELS, Tensors, promised_hash
from search.encoder.windows import Packer
from search.encoder.word_vectors import WordVectors
from search.errors import ModelError
from search.types import Progress

RECIPE_VERSION = 1
"""Raise it when the same weights would give other vectors: old caches and corpora then no longer fit."""


@dataclass(frozen=True, slots=True)
class ModelFolders:
    """Folders of one's own to take models from; None for what is downloaded or shipped."""

    pretrained: Path | None = None
    """The published model of a preset, or a folder that holds such models by name."""
    fine_tuned: Path | None = None
    """Weights trained by `python -m training encoder`."""
    labeller: Path | None = None
    """A facet labeller trained by `python -m training labeller`."""


@dataclass(frozen=True, slots=True)
class _Parts:
    """Everything that an encoder is made of. Equal parts are the same encoder."""

    weights: Weights
    devices: tuple[str, ...]
    fine_tuned: tuple[Path, str, str] | None
    """Folder, name and hash of the weights that are laid over the pretrained ones."""
    labeller: tuple[Path, str]
    """Folder and hash."""


def load_encoder(
    name: str = "default",
    device: str | None = None,
    folders: ModelFolders | None = None,
    progress: Progress | None = None,
) -> Encoder:
    """An encoder by preset, model folder or name on the Hugging Face hub.

    Presets are default and quality, and both as they were published: untrained, quality-untrained. Without a
    device it uses all graphics cards there are, else the processor. Asked again for the same weights on the
    same devices, it gives the same encoder.
    """
    folders = folders or ModelFolders()
    if name not in PACKAGES and is_model_name(name):
        require_torch(f"The encoder {name!r}")  # before anything is downloaded
    weights = find_weights(name, folders.pretrained, progress)
    devices = tuple(find_devices(device or ""))
    tuned_folder, labeller_folder = folders.fine_tuned or MODELS, folders.labeller or MODELS
    fine_tuned = None
    if name in STEMS:
        fine_tuned = tuned_folder, name, promised_hash(tuned_folder, STEMS[name])
    labeller = labeller_folder, promised_hash(labeller_folder, STEM)
    if (weights.preset, weights.name) != (True, MINILM):
        # The labeller reads the layers of the small model as it was published.
        small = find_weights("untrained", folders.pretrained, progress)
        labels = _load_small(_Parts(small, devices, None, labeller))
        return _load_large(_Parts(weights, devices, fine_tuned, labeller), labels)
    return _load_small(_Parts(weights, devices, fine_tuned, labeller))


@lru_cache(maxsize=2)
def _load_small(parts: _Parts) -> Encoder:
    """MiniLM, some layers replaced, and the labeller in one pass: 8-bit on processors, torch on cards."""
    weights, devices = parts.weights, parts.devices
    id, packer = _identify(parts), packer_of(weights.folder, "[CLS]", "[SEP]", "[UNK]")
    words = WordVectors(weights.folder, packer.tokenizer)
    if devices == ("cpu",):
        shipped = read_labeller(parts.labeller[0])
        model = _onnx_model(parts, shipped)
        return Encoder(f"{id}-{shipped.id}", packer, [model] * cores(), shipped.id, word_vectors=words)
    from search.encoder.labeller import load_labeller
    from search.encoder.torch_model import TorchModel

    labellers = [load_labeller(parts.labeller[0]) for _ in devices]
    pairs, trained = zip(devices, labellers, strict=True), _read_trained(parts)
    models = [TorchModel(weights.folder, device, False, labeller, trained) for device, labeller in pairs]
    return Encoder(f"{id}-{labellers[0].id}", packer, models, labellers[0].id, word_vectors=words)


@lru_cache(maxsize=1)
def _load_large(parts: _Parts, labels: Encoder) -> Encoder:
    """MPNet in 8 bits on processors; it on cards, and any other encoder everywhere, in torch."""
    packer, models = _large_models(parts)
    return Encoder(f"{_identify(parts)}-{labels.facets_id}", packer, models, labels.facets_id, labels)


def _identify(parts: _Parts) -> str:
    """The id of the vectors."""
    version = parts.weights.sha256[:8] + parts.weights.habits.mark
    if parts.fine_tuned:
        # The word stays: ids stand in the manifests and caches of corpora that were built before.
        version = f"aspects-{parts.fine_tuned[2][:8]}"
    return f"{parts.weights.name}-{version}-r{RECIPE_VERSION}"


def _read_trained(parts: _Parts) -> Tensors:
    """What was trained of the encoder; nothing of one as it was published."""
    if not parts.fine_tuned:
        return {}
    folder, preset, _ = parts.fine_tuned
    return read_fine_tuned(preset, folder).tensors


def _onnx_model(parts: _Parts, labeller: LabellerWeights | None = None) -> Model:
    from search.encoder.onnx_file import Ingredients, graph_file
    from search.encoder.onnx_model import OnnxModel

    folder, preset, digest = parts.fine_tuned or ("", "", "")
    ingredients = Ingredients(str(parts.weights.folder), parts.weights.sha256, preset, str(folder), digest)
    if labeller:
        ingredients = replace(ingredients, labeller=str(parts.labeller[0]), labeller_hash=labeller.id)
    places, graph = labeller.tensors if labeller else None, graph_file(ingredients)
    try:
        return OnnxModel(graph, places)
    except ModelError:  # damaged on disk: it is made again
        graph.unlink()
        return OnnxModel(graph_file(ingredients), places)


def _large_models(parts: _Parts) -> tuple[Packer, Sequence[Model]]:
    weights, devices = parts.weights, parts.devices
    if weights.preset and weights.name == MPNET and devices == ("cpu",):
        packer = packer_of(weights.folder, "<s>", "</s>", "[UNK]")
        return packer, [_onnx_model(parts)] * cores()
    from search.encoder.torch_model import TorchModel, load_packer

    trained = _read_trained(parts)
    models = [TorchModel(weights.folder, card, weights.first_token, trained=trained) for card in devices]
    return load_packer(weights.folder, weights.habits), models


def packer_of(folder: Path, *special: str) -> Packer:
    """The tokenizer of a preset with its opening, closing and unknown token, without transformers."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    known = [number for token in special if (number := tokenizer.token_to_id(token)) is not None]
    if len(known) < len(special):
        raise ModelError(f"The tokenizer in {folder} lacks one of {', '.join(special)}; install it again.")
    opening, closing, unknown = known
    return Packer(tokenizer, opening, closing, unknown)
