"""Trained upper layers: kept with their hash, refused when damaged, and really laid over the encoder's."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

from search.encoder import torch_model
from search.encoder.encoder import Encoder
from search.encoder.fine_tuned import DOWN, STEMS, UP, lay_over, read_fine_tuned, save_fine_tuned
from search.encoder.torch_model import TorchModel, load_packer
from search.encoder.weight_files import files
from search.errors import ModelError
from search.types import Document, Encoded
from tests.tiny_models import make_bert, onnx_model

Arrays = dict[str, np.ndarray]
DOCUMENT = Document("graph search", ("We study a new method.", "It is fast on large data.", "the results"))
WORDS = "embeddings.word_embeddings.weight"
WEIGHTS, CARD = (file.name for file in files(Path(), STEMS["default"]))


@pytest.fixture
def tensors() -> Arrays:
    random = np.random.default_rng(1)
    return {
        "encoder.layer.1.output.dense.weight": random.normal(size=(4, 6)).astype(np.float32),
        "encoder.layer.1.output.dense.bias": random.normal(size=4).astype(np.float32),
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "weights"


def test_what_is_saved_is_read_in_half_precision(folder: Path, tensors: Arrays) -> None:
    digest = save_fine_tuned(tensors, folder, {"recipe": {"seed": 7}})
    found = read_fine_tuned(folder=folder)
    assert found.sha256 == digest == hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()
    assert set(found.tensors) == set(tensors)
    for name, tensor in tensors.items():
        assert found.tensors[name].dtype == np.float32
        np.testing.assert_array_equal(found.tensors[name], tensor.astype(np.float16).astype(np.float32))
    assert json.loads((folder / CARD).read_text())["recipe"] == {"seed": 7}
    assert sorted(file.name for file in folder.iterdir()) == [CARD, WEIGHTS]


def test_tensors_of_torch_are_saved_alike(folder: Path, tensors: Arrays, tmp_path: Path) -> None:
    """Also those whose rows lie apart in memory."""
    apart = {
        name: torch.from_numpy(np.ascontiguousarray(tensor.T)).T
        if tensor.ndim > 1
        else torch.from_numpy(tensor)
        for name, tensor in tensors.items()
    }
    assert save_fine_tuned(apart, folder, {}) == save_fine_tuned(tensors, tmp_path / "arrays", {})


@pytest.mark.parametrize("place", [0, -1])
def test_a_changed_byte_is_refused(folder: Path, tensors: Arrays, place: int) -> None:
    digest = save_fine_tuned(tensors, folder, {})
    data = bytearray((folder / WEIGHTS).read_bytes())
    data[place] ^= 1
    (folder / WEIGHTS).write_bytes(data)
    words = rf"should have the hash {digest[:12]}….* fetch the file again.*`python -m training encoder`"
    with pytest.raises(ModelError, match=words):
        read_fine_tuned(folder=folder)


@pytest.mark.parametrize("missing", [CARD, WEIGHTS])
def test_a_missing_file_is_told_with_what_to_do(folder: Path, tensors: Arrays, missing: str) -> None:
    save_fine_tuned(tensors, folder, {})
    (folder / missing).unlink()
    words = (
        r"cannot be read \(FileNotFoundError\).*both be there, as `python -m training encoder` writes them"
    )
    with pytest.raises(ModelError, match=words):
        read_fine_tuned(folder=folder)


@pytest.mark.parametrize("card", ["{", "{}", "[]"])
def test_a_card_without_a_hash_is_refused(folder: Path, tensors: Arrays, card: str) -> None:
    save_fine_tuned(tensors, folder, {})
    (folder / CARD).write_text(card)
    with pytest.raises(ModelError, match="cannot be read"):
        read_fine_tuned(folder=folder)


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture
def trained(bert: Path) -> Arrays:
    """Other upper layers; the words as the graph keeps them, in 16 bits, so that both models agree."""
    random = np.random.default_rng(2)
    there = load_file(bert / "model.safetensors")
    upper = {name: tensor for name, tensor in there.items() if name.startswith("encoder.layer.2.")}
    moved = {
        name: (tensor + random.normal(0, 0.3, tensor.shape)).astype(np.float32)
        for name, tensor in upper.items()
    }
    return moved | {WORDS: there[WORDS].astype(np.float16).astype(np.float32)}


def by_graph(bert: Path, trained: Mapping[str, np.ndarray] | None) -> Encoded:
    return Encoder("tiny", load_packer(bert), [onnx_model(bert, exact=True, trained=trained)]).encode_one(
        DOCUMENT
    )


def test_trained_layers_take_the_place_of_the_folders(
    bert: Path, trained: Arrays, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch_model, "half_precision", lambda device: None)
    model = TorchModel(bert, "cpu", first_token=False, trained=trained)
    expected = Encoder("tiny", load_packer(bert), [model]).encode_one(DOCUMENT)
    found = by_graph(bert, trained)
    np.testing.assert_allclose(found.sentences, expected.sentences, atol=1e-5)
    np.testing.assert_allclose(found.paper, expected.paper, atol=1e-5)
    before = by_graph(bert, {WORDS: trained[WORDS]})
    assert (found.sentences * before.sentences).sum(axis=1).max() < 0.99


def test_tensors_as_they_are_change_nothing(bert: Path) -> None:
    same, plain = by_graph(bert, load_file(bert / "model.safetensors")), by_graph(bert, None)
    np.testing.assert_array_equal(same.sentences, plain.sentences)


def test_a_low_rank_addition_is_added_to_its_weight(bert: Path) -> None:
    random = np.random.default_rng(4)
    packaged = load_file(bert / "model.safetensors")
    name = "encoder.layer.2.output.dense.weight"
    rows, columns = packaged[name].shape
    factors = {
        name + DOWN: random.normal(size=(2, columns)).astype(np.float32),
        name + UP: random.normal(size=(rows, 2)).astype(np.float32),
    }
    whole = {name: packaged[name] + factors[name + UP] @ factors[name + DOWN]}
    assert list(lay_over(packaged, factors)) == [name]
    np.testing.assert_allclose(lay_over(packaged, factors)[name], whole[name], atol=1e-6)
    np.testing.assert_allclose(by_graph(bert, factors).sentences, by_graph(bert, whole).sentences, atol=1e-6)
    assert np.abs(by_graph(bert, factors).sentences - by_graph(bert, None).sentences).max() > 0.01


def test_a_tensor_the_encoder_does_not_have_is_refused(bert: Path) -> None:
    misspelt = {"encoder.layer.1.output.dens.weight": np.zeros(1, np.float32)}
    with pytest.raises(ModelError, match=r"dens\.weight', which the encoder"):
        onnx_model(bert, trained=misspelt)
    with pytest.raises(ModelError, match=r"dens\.weight', which the encoder"):
        TorchModel(bert, "cpu", first_token=False, trained=misspelt)


def test_the_shipped_additions_are_low_rank_and_small() -> None:
    shipped = read_fine_tuned("quality")
    assert all(name.endswith((DOWN, UP)) for name in shipped.tensors)
    names = {name.removesuffix(DOWN).removesuffix(UP) for name in shipped.tensors}
    assert len(shipped.tensors) == 2 * len(names) == 2 * 4 * 6
    assert {int(name.split(".")[2]) for name in names} == {8, 9, 10, 11}
    for name in names:
        assert shipped.tensors[name + UP].shape[1] == shipped.tensors[name + DOWN].shape[0] == 16
        assert np.abs(shipped.tensors[name + UP]).max() > 0
