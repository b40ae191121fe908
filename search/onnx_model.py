"""The presets on processors, the default with its labeller, through ONNX Runtime: no torch, little memory."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from safetensors.numpy import load_file

from search.aspects import lay_over
from search.graph import Tensors, build_graph
from search.pipeline import Pass
from search.tokens import Window

Floats = NDArray[np.float32]


class OnnxModel:
    """Thread-safe. A run uses one thread: papers side by side make better use of the cores."""

    budget = 1  # one window per run, see search/graph.py

    def __init__(
        self,
        folder: Path,
        labeller: Tensors | None = None,
        layer: int = 0,
        exact: bool = False,
        trained: Tensors | None = None,
    ) -> None:
        """`trained` is laid over the weights in the folder."""
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self.dimension = int(config["hidden_size"])
        self.labeller = labeller
        packaged = load_file(folder / "model.safetensors")
        tensors = packaged | lay_over(packaged, trained or {})
        heads, epsilon = int(config["num_attention_heads"]), float(config["layer_norm_eps"])
        self.session = _open(build_graph(tensors, heads, labeller, layer, exact, epsilon))

    def run(self, windows: Sequence[Window]) -> list[Pass]:
        return [self._run(window) for window in windows]

    def _run(self, window: Window) -> Pass:
        feed: dict[str, Any] = {"ids": window.ids[None].astype(np.int64)}
        if self.labeller is not None:
            feed |= _stand(window, self.labeller)
        outputs = self.session.run(["states", *(["facets"] if self.labeller is not None else [])], feed)
        members = window.membership(first_only=False)
        facets = outputs[1][0][: len(members) - 1] if self.labeller is not None else None
        return Pass(members @ outputs[0][0], members[1:].sum(axis=1), facets)


def _open(graph: bytes) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3  # errors only
    # From a file, because a session keeps the bytes it is given: 40 MB for nothing.
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "graph.onnx"
        file.write_bytes(graph)
        return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])


def _stand(window: Window, labeller: Tensors) -> dict[str, Any]:
    """The labeller's inputs: what it sees (sentences, first and last token), whose it is, where it stands."""
    inside = window.owner >= 0
    inside[[0, -1]] = True
    seen = np.flatnonzero(inside)
    owner = window.owner[seen]
    sentences = np.array(window.rows or [0])  # a stretch of title has none, but the graph wants one
    return {
        "seen": seen,
        "assignment": (sentences[:, None] == owner).astype(np.float32),
        "opens": ((owner >= 0) & (np.diff(owner, prepend=-1) != 0)).astype(np.float32)[:, None],
        "place": _places(len(sentences), labeller),
    }


def _places(count: int, labeller: Tensors) -> Floats:
    """`FacetLabeller._place` in NumPy: from the start, from the end, in parts of the whole; [s, h]."""
    number = np.arange(count)
    last = len(labeller["starts.weight"]) - 1
    starts = labeller["starts.weight"][np.minimum(number, last)]
    ends = labeller["ends.weight"][np.minimum(count - 1 - number, last)]
    depth = np.stack([number / count, np.full(count, count / 16)], axis=1)
    place: Floats = starts + ends + depth @ labeller["depth.weight"].T + labeller["depth.bias"]
    return place.astype(np.float32)
