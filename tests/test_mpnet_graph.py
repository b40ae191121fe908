"""MPNet as an ONNX graph made without torch, against the torch model it is made from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from onnx import TensorProto
from safetensors.torch import save_file
from transformers import MPNetConfig, MPNetModel
from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

from search.encoder.onnx_graph import Graph, distance_bucket
from search.encoder.windows import CONTEXT, OUTSIDE, Window
from tests.tiny_models import onnx_model

LONGEST = 64


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def model() -> MPNetModel:
    torch.manual_seed(4)
    config = MPNetConfig(
        vocab_size=100,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=LONGEST + 2,
        layer_norm_eps=1e-5,
        initializer_range=0.5,  # large, so that context and distance matter
    )
    made = MPNetModel(config, add_pooling_layer=False).eval()
    with torch.no_grad():
        for name, parameter in made.named_parameters():
            if name.endswith("bias"):
                parameter.normal_(std=0.2)
        words = made.embeddings.word_embeddings.weight
        words.copy_(words.half().float())  # the graph keeps words in 16 bits
    return made


@pytest.fixture(scope="module")
def folder(model: MPNetModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mpnet")
    save_file(model.state_dict(), folder / "model.safetensors")
    model.config.save_pretrained(folder)
    return folder


def window(lengths: list[int], first: int = 0, context: int = 0) -> Window:
    """Sentences of these lengths between two special tokens, after some tokens of context; no pads."""
    random = np.random.default_rng(sum(lengths))
    inner = np.repeat(np.arange(first, first + len(lengths)), lengths)
    owner = np.concatenate([[OUTSIDE], np.full(context, CONTEXT), inner, [OUTSIDE]]).astype(np.int32)
    ids = random.integers(5, 100, len(owner)).astype(np.int32)
    return Window(0, ids, owner, range(first, first + len(lengths)))


WINDOWS = [window([3]), window([2, 4], first=1, context=2), window([11, 5, 14]), window([30, 32])]


def torch_sums(model: MPNetModel, one: Window) -> np.ndarray:
    """One by one: the vectors of all tokens but the context's, then of each sentence's tokens."""
    with torch.inference_mode():
        states = model(torch.from_numpy(one.ids.astype(np.int64))[None]).last_hidden_state[0].numpy()
    rows = [states[one.owner != CONTEXT], *(states[one.owner == sentence] for sentence in one.rows)]
    return np.array([row.sum(axis=0) for row in rows])


def test_the_windows_reach_from_one_bucket_a_step_to_the_longest_text() -> None:
    lengths = [len(one.ids) for one in WINDOWS]
    assert min(lengths) < 8 < 20 < max(lengths) == LONGEST


def test_the_exact_graph_gives_the_sums_of_the_torch_model(model: MPNetModel, folder: Path) -> None:
    for one, found in zip(WINDOWS, onnx_model(folder, exact=True).run(WINDOWS), strict=True):
        np.testing.assert_allclose(found.sums, torch_sums(model, one), atol=1e-4, rtol=1e-5)
        assert found.tokens.tolist() == [(one.owner == sentence).sum() for sentence in one.rows]
        assert found.facets is None


def test_eight_bits_hardly_turn_a_vector(model: MPNetModel, folder: Path) -> None:
    rounded = False
    for one, found in zip(WINDOWS, onnx_model(folder).run(WINDOWS), strict=True):
        sums = torch_sums(model, one)
        lengths = np.linalg.norm(sums, axis=1) * np.linalg.norm(found.sums, axis=1)
        assert ((sums * found.sums).sum(axis=1) / lengths).min() > 0.98
        rounded |= not np.allclose(found.sums, sums, atol=1e-3)
    assert rounded


@pytest.mark.parametrize(("by_row", "drowned"), [(True, False), (False, True)])
def test_rows_scaled_one_by_one_survive_a_huge_one(by_row: bool, drowned: bool) -> None:
    random = np.random.default_rng(5)
    x = random.normal(size=(1, 6, 16)).astype(np.float32)
    x[0, 0] *= 1000
    weight, bias = random.normal(size=(8, 16)).astype(np.float32), random.normal(size=8).astype(np.float32)
    graph = Graph(heads=1, exact=False, epsilon=1e-5, by_row=by_row)
    x_in = graph.input("x", TensorProto.FLOAT, [1, "t", 16])
    graph.output(graph.linear(x_in, weight, bias), "y", [1, "t", 8])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(graph.serialise(), options, providers=["CPUExecutionProvider"])
    found = session.run(["y"], {"x": x})[0]
    wrong = np.abs(found - (x @ weight.T + bias))[0, 1:].max()
    assert bool(wrong > 1) is drowned


def test_buckets_are_those_of_transformers() -> None:
    steps = np.arange(-300, 301)  # memory minus context, in both
    theirs = MPNetEncoder.relative_position_bucket(torch.from_numpy(steps), num_buckets=32)
    np.testing.assert_array_equal(distance_bucket(steps, 32), theirs.numpy())
    assert set(distance_bucket(steps, 32)) == set(range(32)) - {16}  # no step is 0 and forward at once
