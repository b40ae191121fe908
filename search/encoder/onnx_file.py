"""The graph of a preset as a file: made once, in a process of its own, and kept in the cache.

Making it takes libraries and arrays of 200 MB that nobody needs afterwards; the other process returns them.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from search.downloads import cache_root
from search.errors import ModelError

HERE = Path(__file__).parent
CODE = ("onnx_graph.py", "fine_tuned.py")
"""The files here that decide what is in a graph: a change in them makes it anew."""


@dataclass(frozen=True, slots=True)
class Ingredients:
    """What a graph is made of: folders, and the hashes of what is read from them."""

    pretrained: str
    pretrained_hash: str
    preset: str = ""
    """Whose fine-tuned weights are laid over; empty for none."""
    fine_tuned: str = ""
    fine_tuned_hash: str = ""
    labeller: str = ""
    """Empty for an encoder that does not label."""
    labeller_hash: str = ""

    @property
    def key(self) -> str:
        parts = [self.pretrained_hash, self.preset, self.fine_tuned_hash, self.labeller_hash]
        digest = hashlib.sha256("\n".join(parts).encode())
        for name in CODE:
            digest.update((HERE / name).read_bytes())
        return digest.hexdigest()[:16]


def graph_file(ingredients: Ingredients) -> Path:
    """The file with the graph, from the cache or made now."""
    folder = _writable(cache_root() / "graphs")
    file = folder / f"{ingredients.key}.onnx"
    if not file.is_file():
        draft = folder / f"{ingredients.key}.{os.getpid()}.part"
        _make_elsewhere(asdict(ingredients), draft)
        draft.replace(file)
    return file


def _writable(folder: Path) -> Path:
    """The folder, or one for this start only where the cache cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return Path(mkdtemp(prefix="triptych-"))
    return folder if os.access(folder, os.W_OK) else Path(mkdtemp(prefix="triptych-"))


def _make_elsewhere(ingredients: Mapping[str, Any], out: Path) -> None:
    root = str(HERE.parents[1])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH", ""))))
    done = subprocess.run(
        [sys.executable, "-m", "search.encoder.onnx_file", json.dumps(ingredients), str(out)],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        out.unlink(missing_ok=True)
        reason = done.stderr.strip().splitlines()[-1:] or [f"it ended with code {done.returncode}"]
        raise ModelError(reason[0])


def main(ingredients: Ingredients, out: Path) -> None:
    from search.encoder.fine_tuned import read_fine_tuned
    from search.encoder.labeller_weights import read_labeller
    from search.encoder.onnx_graph import graph_of_folder

    preset = ingredients.preset
    trained = read_fine_tuned(preset, Path(ingredients.fine_tuned)) if preset else None
    labeller = read_labeller(Path(ingredients.labeller)) if ingredients.labeller else None
    graph = graph_of_folder(
        Path(ingredients.pretrained),
        labeller.tensors if labeller else None,
        labeller.layer if labeller else 0,
        trained=trained.tensors if trained else None,
    )
    with out.open("wb") as file:
        file.write(graph)
        os.fsync(file.fileno())


if __name__ == "__main__":
    try:
        main(Ingredients(**json.loads(sys.argv[1])), Path(sys.argv[2]))
    except ModelError as error:
        sys.exit(str(error))
