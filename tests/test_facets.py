"""The facet labeller: probabilities, batching, hash check."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from search.encoder.labeller import FacetLabeller, Shape, assign, load_labeller, save_labeller
from search.encoder.labeller_weights import STEM
from search.encoder.loading import load_encoder
from search.encoder.weight_files import files
from search.errors import ModelError
from search.types import FACETS, Document

WEIGHTS, CARD = (file.name for file in files(Path(), STEM))

TINY = Shape(layer=1, layers=2, hidden=16, heads=4, inner=32, sentence_layers=1, sentence_inner=24, places=4)
LIGHT = replace(TINY, layers=0, sentence_layers=2, pooling=4)


@pytest.fixture(params=[TINY, LIGHT], ids=["own layers", "weighed words"])
def labeller(request: pytest.FixtureRequest) -> FacetLabeller:
    return at_random(request.param)


def at_random(shape: Shape) -> FacetLabeller:
    """Random weights everywhere, so that each part of the computation matters."""
    torch.manual_seed(5)
    made = FacetLabeller(shape)
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return made.eval()


def batch(*lengths: tuple[int, ...], title: int = 2) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Documents given by the lengths of their sentences, after [CLS] and `title` tokens, then [SEP]."""
    indices = [
        [-1] * (1 + title) + [i for i, n in enumerate(doc) for _ in range(n)] + [-1] for doc in lengths
    ]
    longest = max(map(len, indices))
    generator = torch.Generator().manual_seed(1)
    hidden = torch.randn(len(indices), longest, TINY.hidden, generator=generator)
    mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in indices])
    index = torch.tensor([row + [-1] * (longest - len(row)) for row in indices])
    return hidden, mask, assign(index, max(map(len, lengths)))


def test_probabilities_sum_to_one(labeller: FacetLabeller) -> None:
    probabilities = labeller(*batch((3, 2, 4), (5,)))
    assert probabilities.shape == (2, 3, len(FACETS))
    torch.testing.assert_close(probabilities.sum(-1), torch.ones(2, 3))
    assert (probabilities >= 0).all()


def test_labels_do_not_depend_on_the_batch(labeller: FacetLabeller) -> None:
    hidden, mask, owners = batch((3, 2, 4), (5,), (1, 1))
    together = labeller(hidden, mask, owners)
    for row, (sentences, tokens) in enumerate([(3, 13), (1, 9), (2, 6)]):
        only = slice(row, row + 1)
        alone = labeller(hidden[only, :tokens], mask[only, :tokens], owners[only, :sentences, :tokens])
        torch.testing.assert_close(alone[0], together[row, :sentences], rtol=1e-4, atol=1e-6)


def test_the_title_is_not_looked_at(labeller: FacetLabeller) -> None:
    hidden, mask, owners = batch((3, 2, 4))
    changed = hidden.clone()
    changed[:, 1:3] += 10
    torch.testing.assert_close(labeller(changed, mask, owners), labeller(hidden, mask, owners))


def test_special_tokens_are_looked_at_by_own_layers() -> None:
    labeller = at_random(TINY)
    hidden, mask, owners = batch((3, 2, 4), (1, 1))
    before = labeller(hidden, mask, owners)
    for row, place in ((0, 0), (0, 12), (1, 0), (1, 5)):
        changed = hidden.clone()
        changed[row, place] += 10
        assert not torch.allclose(labeller(changed, mask, owners)[row], before[row], atol=1e-4)


def test_sentences_see_one_another_and_their_place(labeller: FacetLabeller) -> None:
    hidden, mask, owners = batch((3, 2, 4))
    before = labeller(hidden, mask, owners)
    changed = hidden.clone()
    changed[:, -3] += 10  # a word of the last sentence
    assert not torch.allclose(labeller(changed, mask, owners)[:, 0], before[:, 0], atol=1e-4)
    same = torch.ones_like(hidden)
    in_place = labeller(same, mask, owners)
    assert not torch.allclose(in_place[:, 0], in_place[:, 1], atol=1e-4)


def test_words_are_weighed_by_part_of_the_vector() -> None:
    """A part whose weights lie on one word is that word's; at first all words weigh the same."""
    labeller = FacetLabeller(LIGHT)
    x, _, owners = batch((3, 2))
    lengths = owners.sum(-1, keepdim=True)
    torch.testing.assert_close(labeller._pooled(x, owners, lengths), owners @ x / lengths)
    with torch.no_grad():
        labeller.pool.weight[1] = 50 * x[0, 4]  # the second word of the first sentence
    part = slice(4, 8)
    found = labeller._pooled(x, owners, lengths)
    torch.testing.assert_close(found[0, 0, part], x[0, 4, part])
    torch.testing.assert_close(found[0, 0, :4], x[0, 3:6, :4].mean(0))


@pytest.mark.parametrize("shape", [TINY, LIGHT], ids=["own layers", "weighed words"])
def test_half_precision_gives_the_same_labels(shape: Shape) -> None:
    """As on graphics cards, and where one sentence's words weigh next to nothing beside another's."""
    labeller = at_random(shape)
    if shape.pooling:
        with torch.no_grad():
            labeller.pool.weight.mul_(20)
    hidden, mask, owners = batch((3, 2, 4), (5,))
    full = labeller(hidden, mask, owners)
    half = labeller.half()(hidden.half(), mask, owners).float()
    present = owners.sum(-1) > 0
    torch.testing.assert_close(half[present], full[present], rtol=0, atol=0.05)


def test_a_document_without_sentences_gives_numbers(labeller: FacetLabeller) -> None:
    hidden, mask, owners = batch((3, 2), ())
    assert torch.isfinite(labeller(hidden, mask, owners)).all()


def test_assignment_by_hand() -> None:
    expected = torch.tensor([[[0, 1, 1, 0, 0], [0, 0, 0, 1, 0]]], dtype=torch.float32)
    assert torch.equal(assign(torch.tensor([[-1, 0, 0, 1, -1]]), 2), expected)


def test_saved_labeller_comes_back(labeller: FacetLabeller, tmp_path: Path) -> None:
    name = save_labeller(labeller, tmp_path)
    loaded = load_labeller(tmp_path)
    assert loaded.id == name
    assert loaded.layer == TINY.layer
    parts = batch((3, 2, 4))
    torch.testing.assert_close(loaded(*parts), labeller(*parts), rtol=0, atol=0.02)


def test_broken_weights_are_refused(labeller: FacetLabeller, tmp_path: Path) -> None:
    save_labeller(labeller, tmp_path)
    weights = bytearray((tmp_path / WEIGHTS).read_bytes())
    weights[-1] ^= 1
    (tmp_path / WEIGHTS).write_bytes(weights)
    with pytest.raises(ModelError, match="should have the hash"):
        load_labeller(tmp_path)


def test_missing_or_wrong_card_is_refused(labeller: FacetLabeller, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        load_labeller(tmp_path)
    save_labeller(labeller, tmp_path)
    card = (tmp_path / CARD).read_text()
    (tmp_path / CARD).write_text(card.replace('"hidden": 16', '"hidden": 32'))
    with pytest.raises(ModelError, match="does not have the sizes"):
        load_labeller(tmp_path)
    (tmp_path / CARD).write_text(json.dumps({"sha256": json.loads(card)["sha256"]}))
    with pytest.raises(ModelError, match="does not give the shape"):
        load_labeller(tmp_path)


def test_no_shape_depends_on_values(labeller: FacetLabeller) -> None:
    """One exported graph serves every batch: numbers of documents, sentences and tokens stay free."""
    documents, sentences, tokens = (torch.export.Dim(name, min=2) for name in ("b", "n", "t"))
    free = ({0: documents, 1: tokens}, {0: documents, 1: tokens}, {0: documents, 1: sentences, 2: tokens})
    exported = torch.export.export(labeller, batch((3, 2, 4), (5,)), dynamic_shapes=free).module()
    other = batch((2, 2), (7, 1, 1, 3), (4,))
    torch.testing.assert_close(exported(*other), labeller(*other))


def test_the_shipped_labeller_knows_its_trade() -> None:
    """The weights that are in the repository, through the product's own encoder."""
    sentences = (
        "Bridges age, and inspecting them by hand is slow and dangerous.",
        "Existing systems need expensive sensors.",
        "We train a convolutional network on drone photographs of cracks and fit it with stochastic descent.",
        "Experiments show that our system finds 94% of the cracks and outperforms the baseline by 12 points.",
    )
    facets = load_encoder().encode_one(Document("", sentences)).facets
    labels = [FACETS[column].panel for column in facets.argmax(axis=1)]
    assert labels == ["background", "background", "method", "result"]
    assert facets.sum(axis=1) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.data
def test_development_figure(shared_data: Path) -> None:
    """On the confident sentences of the first hundred abstracts of CSAbstruct's development file."""
    lines = (shared_data / "csabstruct" / "dev.jsonl").read_text(encoding="utf-8").splitlines()[:100]
    records = [json.loads(line) for line in lines]
    documents = [Document("", tuple(record["sentences"])) for record in records]
    right = [
        FACETS[column] == label
        for record, encoded in zip(records, load_encoder().encode(documents), strict=True)
        for column, label, sure in zip(
            encoded.facets.argmax(axis=1), record["labels"], record["confs"], strict=True
        )
        if sure >= 0.55
    ]
    assert sum(right) / len(right) > 0.75
