"""Arrays that take long to compute are kept between runs, under `TRIPTYCH_CACHE` or `~/.cache/triptych`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from search.downloads import cache_root


def evaluation_folder() -> Path:
    folder = cache_root() / "evaluation"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def kept(key: str, make: Callable[[], NDArray[np.float32]]) -> NDArray[np.float32]:
    """The array of a key; made once, then read from disk. The key names everything it depends on."""
    file = evaluation_folder() / f"{key.replace('/', '_')}.npy"
    if not file.exists():
        part = file.with_suffix(f".{os.getpid()}.part")
        with part.open("wb") as stream:
            np.save(stream, make())
        part.replace(file)
    found: NDArray[np.float32] = np.load(file)
    return found
