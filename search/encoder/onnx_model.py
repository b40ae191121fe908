"""The presets on processors, the default with its labeller, through ONNX Runtime: no torch, little memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from search.encoder.read_ahead import Pass
from search.encoder.weight_files import Tensors
from search.encoder.windows import Window
from search.errors import ModelError

Floats = NDArray[np.float32]
PLACES = ("starts.weight", "ends.weight", "depth.weight", "depth.bias")
"""The labeller's tensors that say where a sentence stands; the rest is in the graph."""


class OnnxModel:
    """Thread-safe. A run uses one thread: papers side by side make better use of the cores."""

    budget = 1  # one window per run, see search/encoder/onnx_graph.py

    def __init__(self, graph: Path, places: Tensors | None = None) -> None:
        """`graph` is a file made by `search.encoder.onnx_graph`; a graph that labels needs its `places`."""
        # From a file, because a session keeps the bytes it is given: 40 MB for nothing.
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3  # errors only
        try:
            self.session = onnxruntime.InferenceSession(
                str(graph), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # ONNX Runtime's have no common class of their own
            raise ModelError(f"The graph {graph} cannot be opened: {error}") from error
        shapes = {output.name: output.shape for output in self.session.get_outputs()}
        self.dimension = int(shapes["states"][-1])
        self.labels = "facets" in shapes
        self.places = {name: places[name] for name in PLACES} if places and self.labels else {}

    def run(self, windows: Sequence[Window]) -> list[Pass]:
        return [self._run(window) for window in windows]

    def _run(self, window: Window) -> Pass:
        feed: dict[str, Any] = {"ids": window.ids[None].astype(np.int64)}
        if self.labels:
            feed |= _stand(window, self.places)
        outputs = self.session.run(["states", *(["facets"] if self.labels else [])], feed)
        members = window.membership(first_only=False)
        facets = outputs[1][0][: len(members) - 1] if self.labels else None
        return Pass(members @ outputs[0][0], members[1:].sum(axis=1), facets)


def _stand(window: Window, tables: Tensors) -> dict[str, Any]:
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
        "place": _places(len(sentences), tables),
    }


def _places(count: int, tables: Tensors) -> Floats:
    """`FacetLabeller._place` in NumPy: from the start, from the end, in parts of the whole; [s, h]."""
    number = np.arange(count)
    last = len(tables["starts.weight"]) - 1
    starts = tables["starts.weight"][np.minimum(number, last)]
    ends = tables["ends.weight"][np.minimum(count - 1 - number, last)]
    depth = np.stack([number / count, np.full(count, count / 16)], axis=1)
    place = starts + ends + depth @ tables["depth.weight"].T + tables["depth.bias"]
    return np.asarray(place, np.float32)
