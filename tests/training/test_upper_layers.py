"""The layers that are trained, over kept states of those that are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from search.encoder.encoder import Encoder
from search.encoder.torch_model import TorchModel, load_packer
from search.errors import ModelError
from tests.tiny_models import make_bert, make_mpnet
from tests.training.made import CUT, DOCUMENTS, load, moved, no_progress, upper
from training.corpus import Corpus, make_corpus
from training.hidden_states import LowerLayers
from training.upper_layers import UpperLayers, encode_papers, interpolate, read_papers


@pytest.mark.parametrize("by", [0.0, 0.2])
def test_upper_layers_over_kept_states_are_the_whole_encoder(bert: Path, corpus: Corpus, by: float) -> None:
    model = moved(upper(bert), by).eval()
    tensors = {name: tensor.numpy() for name, tensor in model.tensors().items()}
    whole = TorchModel(bert, "cpu", first_token=False, trained=tensors if by else None)
    papers = list(range(16))
    found = encode_papers(model, corpus, papers)
    expected = Encoder("tiny", load_packer(bert), [whole]).encode(corpus.documents[:16])
    for paper, encoded in zip(papers, expected, strict=True):
        # States are kept in 16 bits.
        np.testing.assert_allclose(found[paper].sentences, encoded.sentences, atol=5e-3)
        np.testing.assert_allclose(found[paper].whole, encoded.paper, atol=5e-3)


@pytest.mark.parametrize("make", [make_bert, make_mpnet])
def test_low_rank_additions_over_kept_states_are_the_whole_encoder(
    make: Callable[..., Path], tmp_path: Path
) -> None:
    folder = make(tmp_path / "model", places=512)
    encoder = load(folder)
    model = UpperLayers(encoder, CUT, rank=2).eval()
    frozen = {name: value.clone() for name, value in model.state_dict().items()}
    learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
    assert {each.shape[0] for each in learning if each.abs().sum() > 0} == {2}
    torch.manual_seed(9)
    with torch.no_grad():
        for parameter in learning:
            parameter.add_(0.2 * torch.randn_like(parameter))
    assert all(name.endswith((".down", ".up")) for name in changed_names(frozen, model.state_dict()))
    corpus = make_corpus(DOCUMENTS, LowerLayers.cut(encoder, folder, CUT), tmp_path / "states", no_progress)
    tensors = {name: tensor.numpy() for name, tensor in model.tensors().items()}
    assert all(name.endswith((".weight.down", ".weight.up")) for name in tensors)
    whole = TorchModel(folder, "cpu", first_token=False, trained=tensors)
    found = encode_papers(model, corpus, range(16))
    encoder = Encoder("tiny", load_packer(folder), [whole])
    for paper, encoded in enumerate(encoder.encode(corpus.documents[:16])):
        np.testing.assert_allclose(found[paper].sentences, encoded.sentences, atol=5e-3)
        np.testing.assert_allclose(found[paper].whole, encoded.paper, atol=5e-3)


def changed_names(before: dict[str, torch.Tensor], after: dict[str, torch.Tensor]) -> list[str]:
    return [name for name, value in before.items() if not torch.equal(value, after[name])]


def test_papers_seen_together_are_seen_as_alone(bert: Path, corpus: Corpus) -> None:
    """Batches by length are put back into the order asked for, and their pads are not seen."""
    model, papers = upper(bert).eval(), [5, 0, 11, 3, 9, 7, 1, 15, 2, 14, 13, 4, 8, 12, 6]
    with torch.inference_mode():
        seen = read_papers(model, corpus, papers)
        for row, paper in enumerate(papers):
            alone = read_papers(model, corpus, [paper])
            count = len(corpus.documents[paper].sentences)
            assert int(seen.present[row].sum()) == count
            torch.testing.assert_close(seen.sentences[row, :count], alone.sentences[0], atol=1e-5, rtol=0)
            torch.testing.assert_close(seen.wholes[row], alone.wholes[0], atol=1e-5, rtol=0)


def test_tensors_carry_berts_names(bert: Path) -> None:
    model, there = upper(bert), load(bert).state_dict()
    tensors = model.tensors()
    assert set(tensors) == {
        name for name in there if name.startswith("encoder.layer.") and int(name.split(".")[2]) >= CUT
    }
    for name, tensor in tensors.items():
        torch.testing.assert_close(tensor, there[name])


def test_weights_of_another_shape_are_refused(bert: Path) -> None:
    with pytest.raises(ModelError, match="another rank"):
        upper(bert, rank=3).take(
            {name: tensor.numpy() for name, tensor in upper(bert, rank=2).tensors().items()}
        )


def test_interpolated_weights_lie_between() -> None:
    start, end = {"w": torch.zeros(2)}, {"w": torch.tensor([1.0, 2.0])}
    assert interpolate(start, end, 0.25)["w"].tolist() == [0.25, 0.5]


def test_of_an_addition_a_part_remains(bert: Path) -> None:
    """A quarter of the way is a quarter of what is added, not a sixteenth."""
    start = {"q.down": torch.ones(1, 2), "q.up": torch.zeros(2, 1)}
    end = {"q.down": torch.tensor([[2.0, 4.0]]), "q.up": torch.tensor([[4.0], [8.0]])}
    made = interpolate(start, end, 0.25)
    torch.testing.assert_close(made["q.up"] @ made["q.down"], 0.25 * (end["q.up"] @ end["q.down"]))
