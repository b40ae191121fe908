"""An encoder (BERT or MPNet) and perhaps the facet labeller as one 8-bit ONNX graph, made without torch.

One paper per run: activations are quantised with one scale per tensor, so papers in a common batch would
change one another's vectors; alone there is also nothing to pad and nothing to mask. Weights have one scale
per output column. MPNet's few huge activations would leave the others no levels, so its tokens are first
scaled one by one. Lookup tables, norms, softmax and sums stay in floating point.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

from search.encoder.fine_tuned import lay_over

Array = NDArray[Any]
Tensors = Mapping[str, Array]

BERT_NAMES = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "out": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "grow": "intermediate.dense",
    "shrink": "output.dense",
    "norm": "output.LayerNorm",
}
"""A layer's parts as the labeller names them -> as BERT's weights name them."""
MPNET_NAMES = BERT_NAMES | {
    "query": "attention.attn.q",
    "key": "attention.attn.k",
    "value": "attention.attn.v",
    "out": "attention.attn.o",
    "attention_norm": "attention.LayerNorm",
}
MPNET_BUCKETS = "encoder.relative_attention_bias.weight"
FARTHEST = 128
"""MPNet puts all tokens at least this far from one another into one bucket."""
WEIGHT_LEVELS = 63
"""Weights use 7 bits: with 8, processors without VNNI instructions overflow when they add pairs."""
LEAST_SCORE = -60.0
"""The lowest score of a word, relative to the highest in the abstract, when its words are weighed:
exp(-60) is about 1e-26, so that the weights of a sentence never add up to zero in 32 bits."""
MICROSOFT = "com.microsoft"


class Graph:
    """Collects nodes and constants; each method adds what its name says and returns the output's name."""

    def __init__(self, heads: int, exact: bool, epsilon: float, by_row: bool) -> None:
        self.heads = heads
        self.epsilon = epsilon
        self.by_row = by_row
        self.exact = exact
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        self.quantised: dict[str, list[str]] = {}
        self.scaled: dict[str, list[str]] = {}

    def input(self, name: str, kind: int, shape: Sequence[int | str]) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, x: str, name: str, shape: Sequence[int | str]) -> None:
        self.nodes.append(helper.make_node("Identity", [x], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def constant(self, value: Array) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, op: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], domain=domain, **attributes))
        return name

    def linear(self, x: str, weight: Array, bias: Array) -> str:
        """`x @ weight.T + bias`, in 8-bit integers unless exact; weight [out, in] as torch keeps it."""
        if self.exact:
            return self.add("Add", self.add("MatMul", x, self.constant(weight.T)), self.constant(bias))
        if not self.by_row:
            return self.integers(x, weight, self.constant(bias))
        rows, sizes = self.rows(x)
        product = self.add("Mul", self.integers(rows, weight), sizes)
        return self.add("Add", product, self.constant(bias))

    def integers(self, x: str, weight: Array, bias: str = "") -> str:
        levels, scale, zero = self.levels(x)
        columns, column_scale = quantise(weight.T)
        inputs = [levels, self.constant(columns), scale, self.constant(column_scale), zero, "", bias]
        return self.add("MatMulIntegerToFloat", *inputs[: 7 if bias else 5], domain=MICROSOFT)

    def rows(self, x: str) -> list[str]:
        """x with every row scaled to a largest of 1, and the scales; once for all that read the same x."""
        if x not in self.scaled:
            size = self.add("ReduceMax", self.add("Abs", x), axes=[-1], keepdims=1)
            self.scaled[x] = [self.add("Div", x, size), size]
        return self.scaled[x]

    def levels(self, x: str) -> list[str]:
        """x in unsigned 8-bit levels, with scale and zero point; once for all that read the same x."""
        if x not in self.quantised:
            self.quantised[x] = [f"{x}_{part}" for part in ("levels", "scale", "zero")]
            self.nodes.append(helper.make_node("DynamicQuantizeLinear", [x], self.quantised[x]))
        return self.quantised[x]

    def norm_of_sum(self, x: str, y: str, weight: Array, bias: Array) -> str:
        inputs = [x, y, self.constant(weight), self.constant(bias)]
        return self.add("SkipLayerNormalization", *inputs, domain=MICROSOFT, epsilon=self.epsilon)

    def layer(self, x: str, parts: Mapping[str, tuple[Array, Array]], nearness: str = "") -> str:
        """One transformer layer: attention, then a feed-forward net, each added and normalised.

        `nearness` [1, heads, t, t] is added to the attention scores where a model has it.
        """
        inputs = [self.linear(x, *parts[name]) for name in ("query", "key", "value")]
        inputs += ["", "", nearness] if nearness else []
        seen = self.add("MultiHeadAttention", *inputs, domain=MICROSOFT, num_heads=self.heads)
        x = self.norm_of_sum(self.linear(seen, *parts["out"]), x, *parts["attention_norm"])
        inner = self.add("Gelu", self.linear(x, *parts["grow"]), domain=MICROSOFT)
        return self.norm_of_sum(self.linear(inner, *parts["shrink"]), x, *parts["norm"])

    def serialise(self) -> bytes:
        graph = helper.make_graph(self.nodes, "encoder", self.inputs, self.outputs, self.constants)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
        made: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()
        return made


def quantise(weight: Array) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Columns as integers times one scale each: weight[:, j] ≈ levels[:, j] * scale[j]."""
    scale = np.maximum(np.abs(weight).max(axis=0) / WEIGHT_LEVELS, 1e-12).astype(np.float32)
    return np.round(weight / scale).astype(np.int8), scale


def build_graph(
    encoder: Tensors,
    heads: int,
    labeller: Tensors | None = None,
    layer: int = 0,
    exact: bool = False,
    epsilon: float = 1e-12,
) -> bytes:
    """The serialised graph; `layer` is the hidden state the labeller branches off.

    In: ids [1, t]; and with a labeller seen [u], the tokens it looks at, assignment [s, u], 1 where such a
    token belongs to a sentence, opens [u, 1], 1 at a sentence's first, and place [s, h], where each stands.
    Out: states [1, t, h], the last hidden state; and facets [1, s, 5], probabilities.
    """
    mpnet = MPNET_BUCKETS in encoder
    graph = Graph(heads, exact, epsilon, by_row=mpnet)
    ids = graph.input("ids", TensorProto.INT64, [1, "t"])
    length = graph.add("Shape", ids, start=1)
    x = _embed(graph, encoder, ids, length)
    names = MPNET_NAMES if mpnet else BERT_NAMES
    nearness = _nearness(graph, encoder, length) if mpnet else ""
    for number in range(_depth(encoder, "encoder.layer.")):
        if labeller is not None and number == layer:
            graph.output(_label(graph, x, labeller), "facets", [1, "s", len(labeller["head.bias"])])
        x = graph.layer(x, _parts(encoder, f"encoder.layer.{number}.", names), nearness)
    graph.output(x, "states", [1, "t", encoder["embeddings.word_embeddings.weight"].shape[1]])
    return graph.serialise()


def graph_of_folder(
    folder: Path,
    labeller: Tensors | None = None,
    layer: int = 0,
    exact: bool = False,
    trained: Tensors | None = None,
) -> bytes:
    """The graph of the model in a folder; `trained` is laid over its weights."""
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    packaged = load_file(folder / "model.safetensors")
    tensors = packaged | lay_over(packaged, trained or {})
    heads, epsilon = int(config["num_attention_heads"]), float(config["layer_norm_eps"])
    return build_graph(tensors, heads, labeller, layer, exact, epsilon)


def _embed(graph: Graph, tensors: Tensors, ids: str, length: str) -> str:
    """Words and places, summed and normalised; BERT has the one token type added in."""
    words = graph.constant(tensors["embeddings.word_embeddings.weight"].astype(np.float16))
    table = tensors["embeddings.position_embeddings.weight"]
    if MPNET_BUCKETS in tensors:
        table = table[2:]  # its first place is number 2, after the pad's
    else:
        table = table + tensors["embeddings.token_type_embeddings.weight"][0]
    word = graph.add("Cast", graph.add("Gather", words, ids), to=TensorProto.FLOAT)
    zero = graph.constant(np.zeros(1, np.int64))
    place = graph.add("Slice", graph.constant(table), zero, length)
    norm = tensors["embeddings.LayerNorm.weight"], tensors["embeddings.LayerNorm.bias"]
    return graph.norm_of_sum(word, graph.add("Unsqueeze", place, zero), *norm)


def _nearness(graph: Graph, tensors: Tensors, length: str) -> str:
    """MPNet's bias by distance, [1, heads, t, t]: the corner of the table for the longest text."""
    longest = len(tensors["embeddings.position_embeddings.weight"]) - 2
    place = np.arange(longest)
    buckets = tensors[MPNET_BUCKETS]
    table = buckets[distance_bucket(place[None, :] - place[:, None], len(buckets))]
    zeros, axes = graph.constant(np.zeros(2, np.int64)), graph.constant(np.array([2, 3]))
    ends = graph.add("Concat", length, length, axis=0)
    return graph.add("Slice", graph.constant(table.transpose(2, 0, 1)[None]), zeros, ends, axes)


def distance_bucket(steps: NDArray[np.int64], buckets: int) -> NDArray[np.int64]:
    """T5's buckets, as MPNet uses them: half for each direction, near distances one each, far ones by log."""
    half = buckets // 2
    near = half // 2
    distance = np.abs(steps)
    log = np.log(np.maximum(distance, 1) / near) / np.log(FARTHEST / near)
    far = np.minimum(near + (log * (half - near)).astype(np.int64), half - 1)
    return np.where(steps > 0, half, 0) + np.where(distance < near, distance, far)


def _label(graph: Graph, hidden: str, tensors: Tensors) -> str:
    """`search.encoder.labeller` on the tokens it sees; in torch a mask hides the others from it."""
    seen = graph.input("seen", TensorProto.INT64, ["u"])
    assignment = graph.input("assignment", TensorProto.FLOAT, ["s", "u"])
    place = graph.input("place", TensorProto.FLOAT, ["s", "h"])
    opens = graph.input("opens", TensorProto.FLOAT, ["u", 1])
    x = graph.add("Gather", hidden, seen, axis=1)
    x = graph.add("Add", x, graph.add("MatMul", graph.add("Transpose", assignment, perm=[1, 0]), place))
    x = graph.add("Add", x, graph.add("Mul", opens, graph.constant(tensors["first"])))
    names = {part: part for part in BERT_NAMES}
    for number in range(_depth(tensors, "words.")):
        x = graph.layer(x, _parts(tensors, f"words.{number}.", names))
    x = graph.add("Add", _pool(graph, x, assignment, tensors), place)
    for number in range(_depth(tensors, "sentences.")):
        x = graph.layer(x, _parts(tensors, f"sentences.{number}.", names))
    return graph.add("Softmax", graph.linear(x, tensors["head.weight"], tensors["head.bias"]), axis=-1)


def _pool(graph: Graph, x: str, assignment: str, tensors: Tensors) -> str:
    """`FacetLabeller._pooled`: words to sentences."""
    one = graph.constant(np.ones(1, np.int64))
    if "pool.weight" not in tensors:
        lengths = graph.add("ReduceSum", assignment, one, keepdims=1)
        return graph.add("Div", graph.add("MatMul", assignment, x), lengths)
    weight, bias = tensors["pool.weight"], tensors["pool.bias"]
    scores = graph.add("Add", graph.add("MatMul", x, graph.constant(weight.T)), graph.constant(bias))
    top = graph.add("ReduceMax", scores, axes=[1], keepdims=1)
    parts = np.repeat(np.eye(len(weight), dtype=np.float32), weight.shape[1] // len(weight), axis=1)
    below = graph.add(
        "Max", graph.add("Sub", scores, top), graph.constant(np.array([LEAST_SCORE], np.float32))
    )
    weights = graph.add("MatMul", graph.add("Exp", below), graph.constant(parts))
    total = graph.add("MatMul", assignment, graph.add("Mul", weights, x))
    return graph.add("Div", total, graph.add("MatMul", assignment, weights))


def _depth(tensors: Tensors, prefix: str) -> int:
    return len({name.removeprefix(prefix).split(".")[0] for name in tensors if name.startswith(prefix)})


def _parts(tensors: Tensors, prefix: str, names: Mapping[str, str]) -> dict[str, tuple[Array, Array]]:
    """Weight and bias of each part of one layer."""
    return {
        part: (tensors[f"{prefix}{name}.weight"], tensors[f"{prefix}{name}.bias"])
        for part, name in names.items()
    }
