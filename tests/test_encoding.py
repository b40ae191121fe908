"""Vectors against a slow, obvious implementation, on tiny random models; then batching, devices, memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModel, AutoTokenizer

from search.encoder import devices, torch_model
from search.encoder.devices import find_devices
from search.encoder.encoder import Encoder
from search.encoder.fine_tuned import read_fine_tuned
from search.encoder.labeller import FacetLabeller, Shape
from search.encoder.loading import load_encoder
from search.encoder.pretrained import find_weights
from search.encoder.read_ahead import Pass
from search.encoder.torch_model import TorchModel, load_packer
from search.encoder.windows import CONTEXT, OUTSIDE, Window, batches, spread
from search.errors import ModelError
from search.types import FACETS, Document, Encoded
from tests.tiny_models import make_bert, make_mpnet, onnx_model

SHORT = Document("graph search", ("We study a new method.", "It is fast."))
DOCUMENTS = [
    SHORT,
    Document("", ("Results on large data show that it is fast and new.",)),
    Document("A study of graphs", ("Café naïve 漢字 ∑.", "", "\u200b", "the")),
    Document("new", ()),
    Document("", ()),
    Document("search", tuple(f"We show result {number} of the method." for number in range(30))),
    Document("search", ("method " * 200, "it is new.")),
    Document("graph " * 90, ("we study.", "it is fast.")),
]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module")
def mpnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_mpnet(tmp_path_factory.mktemp("mpnet"))


LABELLERS = {
    "own layers": Shape(layer=1, layers=1, hidden=32, heads=4, inner=64, sentence_inner=64),
    "weighed words": Shape(
        layer=1, layers=0, hidden=32, heads=4, inner=64, sentence_layers=2, sentence_inner=64, pooling=4
    ),
}


@pytest.fixture(scope="module", params=LABELLERS)
def labeller(request: pytest.FixtureRequest) -> FacetLabeller:
    torch.manual_seed(3)
    made = FacetLabeller(LABELLERS[request.param]).eval()
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return made


@pytest.fixture(autouse=True)
def _full_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half precision where a processor has it would hide small mistakes."""
    monkeypatch.setattr(torch_model, "half_precision", lambda device: None)


def encoder_of(folder: Path, first_token: bool = False, labeller: FacetLabeller | None = None) -> Encoder:
    return Encoder("tiny", load_packer(folder), [TorchModel(folder, "cpu", first_token, labeller)])


def obvious(folder: Path, document: Document, first_token: bool) -> tuple[np.ndarray, np.ndarray]:
    """One paper, one pass, no batch, no window: what the vectors should be."""
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    ids, owner = [tokenizer.cls_token_id], [-1]
    for number, text in enumerate((document.title, *document.sentences), start=-1):
        part = tokenizer(text, add_special_tokens=False)["input_ids"]
        part = part or ([tokenizer.unk_token_id] if number >= 0 else [])
        part += [tokenizer.sep_token_id] if number < 0 and part else []
        ids += part
        owner += [number] * len(part)
    ids, owner = [*ids, tokenizer.sep_token_id], [*owner, -1]
    with torch.no_grad():
        states = model(torch.tensor([ids])).last_hidden_state[0].numpy()
    vectors = [states[np.array(owner) == number].mean(axis=0) for number in range(len(document.sentences))]
    paper = states[0] if first_token else states.mean(axis=0)
    unit = [vector / np.linalg.norm(vector) for vector in [*vectors, paper]]
    return np.array(unit[:-1]).reshape(-1, states.shape[1]), unit[-1]


@pytest.mark.parametrize("first_token", [False, True])
@pytest.mark.parametrize("model", ["bert", "mpnet"])
def test_vectors_are_those_of_the_obvious_implementation(
    model: str, first_token: bool, request: pytest.FixtureRequest
) -> None:
    folder = request.getfixturevalue(model)
    short = DOCUMENTS[:5]
    for document, encoded in zip(short, encoder_of(folder, first_token).encode(short), strict=True):
        sentences, paper = obvious(folder, document, first_token)
        np.testing.assert_allclose(encoded.sentences, sentences, atol=1e-5)
        np.testing.assert_allclose(encoded.paper, paper, atol=1e-5)


def test_the_8_bit_graph_without_rounding_is_the_torch_model(bert: Path, labeller: FacetLabeller) -> None:
    exact = Encoder("tiny", load_packer(bert), [onnx_model(bert, labeller, exact=True)])
    pairs = zip(exact.encode(DOCUMENTS), encoder_of(bert, labeller=labeller).encode(DOCUMENTS), strict=True)
    for ours, torchs in pairs:
        # Word vectors are kept in 16 bits.
        np.testing.assert_allclose(ours.sentences, torchs.sentences, atol=2e-2)
        np.testing.assert_allclose(ours.paper, torchs.paper, atol=2e-2)
        np.testing.assert_allclose(ours.facets, torchs.facets, atol=2e-2)


def test_a_paper_encodes_the_same_alone_and_in_company(bert: Path, labeller: FacetLabeller) -> None:
    eight_bit = Encoder("tiny", load_packer(bert), [onnx_model(bert, labeller)] * 2)
    for encoder, tolerance in ((eight_bit, 0.0), (encoder_of(bert, labeller=labeller), 1e-5)):
        together = list(encoder.encode(DOCUMENTS * 12))
        assert len(together) == len(DOCUMENTS) * 12
        for place, encoded in enumerate(together):
            assert_same(encoded, encoder.encode_one(DOCUMENTS[place % len(DOCUMENTS)]), tolerance)


def assert_same(one: Encoded, other: Encoded, tolerance: float) -> None:
    np.testing.assert_allclose(one.sentences, other.sentences, atol=tolerance)
    np.testing.assert_allclose(one.paper, other.paper, atol=tolerance)
    np.testing.assert_allclose(one.facets, other.facets, atol=tolerance)


def test_every_document_has_unit_vectors_and_probabilities(bert: Path, labeller: FacetLabeller) -> None:
    for document, encoded in zip(DOCUMENTS, encoder_of(bert, False, labeller).encode(DOCUMENTS), strict=True):
        assert encoded.sentences.shape == (len(document.sentences), 32)
        assert encoded.facets.shape == (len(document.sentences), len(FACETS))
        np.testing.assert_allclose(np.linalg.norm(encoded.sentences, axis=1), 1, atol=1e-5)
        np.testing.assert_allclose(np.linalg.norm(encoded.paper), 1, atol=1e-5)
        np.testing.assert_allclose(encoded.facets.sum(axis=1), 1, atol=1e-5)


def test_context_changes_a_sentence(bert: Path) -> None:
    encoder = encoder_of(bert)
    alone = encoder.encode_one(Document("", SHORT.sentences[:1])).sentences[0]
    assert alone @ encoder.encode_one(SHORT).sentences[0] < 0.999


@given(st.integers(0, 3000), st.integers(4, 600), st.integers(0, 200))
def test_windows_share_out_the_tokens(length: int, room: int, overlap: int) -> None:
    windows = spread(length, room, overlap)
    assert [token for _, _, mine in windows for token in mine] == list(range(length))
    for start, end, mine in windows:
        assert end - start <= room
        assert start <= mine.start
        assert mine.stop <= end


def test_a_long_abstract_is_read_to_its_end_with_its_title_in_view(bert: Path) -> None:
    packer = load_packer(bert)
    for document in DOCUMENTS[5:]:
        windows = list(packer.pack([document]))
        assert len(windows) > 1
        assert all(len(window.ids) <= packer.limit for window in windows)
        owners = np.concatenate([window.owner[window.owner >= 0] for window in windows])
        lengths = [
            len(packer.tokenizer.encode(text, add_special_tokens=False)) for text in document.sentences
        ]
        np.testing.assert_array_equal(owners, np.repeat(np.arange(len(lengths)), lengths))
    title = packer.tokenizer.encode("search", add_special_tokens=False).ids
    for window in packer.pack([DOCUMENTS[5]]):
        assert window.ids[1 : 1 + len(title)].tolist() == title


def test_a_giant_sentence_pools_over_all_its_windows(bert: Path) -> None:
    model = TorchModel(bert, "cpu", first_token=False)
    packer = load_packer(bert)
    document = DOCUMENTS[6]
    total = np.zeros(32)
    for window in packer.pack([document]):
        with torch.no_grad():
            ids = torch.from_numpy(window.ids.astype(np.int64))[None]
            states = AutoModel.from_pretrained(bert).eval()(ids).last_hidden_state[0].numpy()
        total += states[window.owner == 0].sum(axis=0)
    found = Encoder("tiny", packer, [model]).encode_one(document).sentences[0]
    np.testing.assert_allclose(found, total / np.linalg.norm(total), atol=1e-5)


def test_title_and_special_tokens_count_once_for_the_paper(bert: Path) -> None:
    windows = list(load_packer(bert).pack([DOCUMENTS[5]]))
    assert (windows[0].owner == OUTSIDE).sum() == 4  # [CLS] search [SEP] … [SEP]
    assert all((window.owner != OUTSIDE).all() and (window.owner == CONTEXT).any() for window in windows[1:])


def window_of(length: int) -> Window:
    return Window(0, np.zeros(length, np.int32), np.zeros(length, np.int32), range(1))


@given(st.lists(st.integers(1, 50), max_size=40), st.integers(1, 200))
def test_batches_keep_to_the_budget_and_lose_nothing(lengths: list[int], budget: int) -> None:
    made = list(batches([window_of(length) for length in lengths], budget))
    assert [len(window.ids) for batch in made for window in batch] == lengths
    assert all(len(batch) == 1 or len(batch) * max(len(w.ids) for w in batch) <= budget for batch in made)


class SmallMemory(TorchModel):
    """A device that holds a few papers at once."""

    holds = 2

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "cpu", first_token=False)
        self.sizes: list[int] = []

    def _forward(self, batch: list[Window]) -> list[Pass]:
        self.sizes.append(len(batch))
        if len(batch) > self.holds:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
        return super()._forward(batch)


def test_a_batch_that_does_not_fit_is_halved_and_stays_smaller(bert: Path) -> None:
    model = SmallMemory(bert)
    encoder = Encoder("tiny", load_packer(bert), [model])
    documents = [SHORT] * 12
    for encoded in encoder.encode(documents):
        assert_same(encoded, encoder_of(bert).encode_one(SHORT), 1e-5)
    model.sizes.clear()
    list(encoder.encode(documents))
    assert set(model.sizes) == {2}


def test_a_model_that_fits_no_paper_says_so(bert: Path) -> None:
    model = SmallMemory(bert)
    model.holds = 0
    with pytest.raises(ModelError, match="Not even one paper fits the memory of cpu; set the device to cpu"):
        list(Encoder("tiny", load_packer(bert), [model]).encode([SHORT] * 3))


class Broken:
    dimension, budget = 32, 64

    def run(self, windows: Sequence[Window]) -> list[Pass]:
        raise RuntimeError("device lost")


def test_other_faults_of_a_model_reach_the_caller(bert: Path) -> None:
    with pytest.raises(RuntimeError, match="device lost"):
        list(Encoder("tiny", load_packer(bert), [Broken()]).encode([SHORT] * 300))


class Counting:
    """A model that hands over to another and notes how much it did."""

    def __init__(self, model: TorchModel) -> None:
        self.model, self.dimension, self.budget, self.windows = model, model.dimension, 64, 0

    def run(self, windows: Sequence[Window]) -> list[Pass]:
        self.windows += len(windows)
        return self.model.run(windows)


def test_several_devices_share_the_work_and_keep_the_order(bert: Path) -> None:
    devices = [Counting(TorchModel(bert, "cpu", first_token=False)) for _ in range(3)]
    documents = [Document("", ("the " * (1 + number % 40),)) for number in range(600)]
    encoded = list(Encoder("tiny", load_packer(bert), devices).encode(documents))
    reference = encoder_of(bert)
    for number in (0, 17, 39, 300, 599):
        assert_same(encoded[number], reference.encode_one(documents[number]), 1e-5)
    assert sum(device.windows for device in devices) == 600
    assert all(device.windows for device in devices)


def test_documents_are_read_as_they_are_needed_and_left_when_the_caller_stops(bert: Path) -> None:
    taken = 0

    def endless() -> object:
        nonlocal taken
        while True:
            taken += 1
            yield SHORT

    counts: list[int] = []
    stream = encoder_of(bert).encode(endless(), progress=counts.append)
    for _ in range(3):
        next(stream)
    stream.close()
    assert taken < 2000
    assert counts == [1, 1]


def test_another_model_takes_its_facets_from_the_one_that_labels(
    bert: Path, mpnet: Path, labeller: FacetLabeller
) -> None:
    labels = encoder_of(bert, labeller=labeller)
    encoder = Encoder("both", load_packer(mpnet), encoder_of(mpnet).models, labels=labels)
    for document, encoded in zip(DOCUMENTS, encoder.encode(DOCUMENTS), strict=True):
        np.testing.assert_allclose(encoded.facets, labels.encode_one(document).facets, atol=1e-5)
        assert_same(encoded, encoder.encode_one(document), 1e-5)
    vectors = encoder_of(mpnet).encode_one(SHORT).sentences
    np.testing.assert_allclose(encoder.encode_one(SHORT).sentences, vectors, atol=1e-5)


def test_devices_are_found_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_devices("cpu") == ["cpu"]
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert find_devices("cuda") == ["cuda:0", "cuda:1"]
    assert find_devices("cuda:1") == ["cuda:1"]
    monkeypatch.setattr(devices, "may_have_card", lambda: True)
    assert find_devices("") == ["cuda:0", "cuda:1"]
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert find_devices("") == ["mps"]
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert find_devices("") == ["cpu"]
    with pytest.raises(ModelError, match=r"There is no device 'cuda:7' here"):
        find_devices("cuda:7")


def test_the_default_encoder_in_8_bits_is_close_to_full_precision() -> None:
    default = load_encoder("default", "cpu")
    folder = find_weights("default").folder
    document = Document(
        "Searching graphs of papers",
        (
            "Finding related work takes researchers many hours.",
            "We match the sentences of abstracts by optimal transport.",
            "On three collections it is better than whole-document vectors.",
        ),
    )
    model = TorchModel(folder, "cpu", first_token=False, trained=read_fine_tuned().tensors)
    full = Encoder("full", default.packer, [model]).encode_one(document)
    eight = default.encode_one(document)
    assert (full.sentences * eight.sentences).sum(axis=1).min() > 0.97
    assert full.paper @ eight.paper > 0.98
    likeness, rounded = full.sentences @ full.sentences.T, eight.sentences @ eight.sentences.T
    np.testing.assert_allclose(rounded, likeness, atol=0.05)
    assert default.dimension == 384
    assert default.id.startswith("all-MiniLM-L6-v2-aspects-")
    assert load_encoder("untrained", "cpu").id.startswith("all-MiniLM-L6-v2-53aa5117-")
