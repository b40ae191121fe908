"""What single words mean: rows of the embedding table of the small model, read from its file as needed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from tokenizers import Tokenizer

from search.errors import ModelError

Floats = NDArray[np.float32]
TABLE = "embeddings.word_embeddings.weight"


class WordVectors:
    """Thread-safe. Only words that the tokenizer does not cut have a vector of their own."""

    def __init__(self, folder: Path, tokenizer: Tokenizer) -> None:
        """`folder` holds a BERT in one safetensors file, as published."""
        self._tokenizer = tokenizer
        try:
            file: Any = safe_open(folder / "model.safetensors", "numpy")
            self._table = file.get_slice(TABLE)
        except (SafetensorError, OSError) as error:
            raise ModelError(f"The words of the model in {folder} cannot be read: {error}") from error
        self.vector = lru_cache(maxsize=10_000)(self._vector)

    def _vector(self, word: str) -> Floats | None:
        """Of unit length; None for a word that is cut."""
        ids = self._tokenizer.encode(word, add_special_tokens=False).ids
        if len(ids) != 1:
            return None
        row = np.asarray(self._table[ids[0] : ids[0] + 1], np.float32)[0]
        return row / max(float(np.linalg.norm(row)), 1e-12)

    def likeness(self, ours: Sequence[str], theirs: Sequence[str]) -> Floats:
        """Cosines [ours, theirs]; 0 where a word has no vector."""
        nothing = np.zeros(self._table.get_shape()[1], np.float32)
        left, right = (
            np.array([nothing if (found := self.vector(word)) is None else found for word in words])
            for words in (ours, theirs)
        )
        return left @ right.T
