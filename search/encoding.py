"""Title and sentences -> contextual sentence vectors, a whole-paper vector and facets, in one pass."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from search.presets import Weights, find_weights
from search.tokens import CONTEXT, Document, Packer, Window
from search.types import FACETS

__all__ = ["Document", "Encoded", "Encoder", "load_encoder"]

RECIPE_VERSION = 1
"""Raise it when the same weights would give other vectors: old caches and corpora then no longer fit."""
LOOK_AHEAD = 1024
"""Documents sorted by length together."""
TOKENS_PER_BATCH = 4096

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Encoded:
    sentences: Floats
    """[n, d], unit rows."""
    paper: Floats
    """[d], unit length."""
    facets: Floats
    """[n, 5], probabilities in the order of FACETS."""


class Encoder:
    """The same code for corpus and query. Thread-safe."""

    def __init__(self, weights: Weights, device: str | None = None) -> None:
        from transformers import AutoModel
        from transformers.utils import logging

        logging.disable_progress_bar()
        self.device = torch.device(device or "cpu")
        self.model = AutoModel.from_pretrained(weights.folder, local_files_only=True).eval().to(self.device)
        self.packer = _packer(weights)
        self.labeller: Any = _labeller()
        self.dimension: int = self.model.config.hidden_size
        self.id = f"{weights.name}-{weights.sha256[:8]}-r{RECIPE_VERSION}"
        self.facets_id: str = "none" if self.labeller is None else self.labeller.id
        if self.labeller is not None:
            self.id += f"-{self.labeller.id}"

    def encode_one(self, document: Document) -> Encoded:
        return next(self.encode([document]))

    def encode(
        self, documents: Iterable[Document], progress: Callable[[int], None] | None = None
    ) -> Iterator[Encoded]:
        """Vectors and facets in the order of the documents; memory stays bounded by the look-ahead."""
        stream = iter(documents)
        while chunk := list(islice(stream, LOOK_AHEAD)):
            yield from self._encode_chunk(chunk)
            if progress:
                progress(len(chunk))

    def _encode_chunk(self, documents: Sequence[Document]) -> list[Encoded]:
        sums = [np.zeros((1 + len(document.sentences), self.dimension), np.float32) for document in documents]
        facets = [np.zeros((len(document.sentences), len(FACETS)), np.float32) for document in documents]
        windows = sorted(self.packer.pack(documents), key=lambda window: len(window.ids))
        for batch in batches(windows, TOKENS_PER_BATCH):
            ids, mask, pool = collate(batch)
            pooled, probabilities = self._forward(ids, mask, pool)
            for window, vectors, labels, members in zip(batch, pooled, probabilities, pool, strict=True):
                rows = window.rows
                sums[window.document][0] += vectors[0]
                sums[window.document][1 + rows.start : 1 + rows.stop] += vectors[1 : 1 + len(rows)]
                share = members[1 : 1 + len(rows)].sum(axis=1, keepdims=True)
                facets[window.document][rows.start : rows.stop] += share * labels[: len(rows)]
        return [
            Encoded(unit(total[1:]), unit(total[0]), label / label.sum(axis=1, keepdims=True))
            for total, label in zip(sums, facets, strict=True)
        ]

    @torch.inference_mode()
    def _forward(self, ids: NDArray[Any], mask: NDArray[Any], pool: Floats) -> tuple[Floats, Floats]:
        """Summed token vectors [b, 1 + s, d] and facet probabilities [b, s, 5] of a batch."""
        on_device = [torch.from_numpy(array).to(self.device) for array in (ids, mask, pool)]
        output = self.model(on_device[0], on_device[1], output_hidden_states=self.labeller is not None)
        pooled = torch.bmm(on_device[2], output.last_hidden_state).float().cpu().numpy()
        if self.labeller is None:
            return pooled, np.full((*pooled.shape[:1], pooled.shape[1] - 1, len(FACETS)), 0.2, np.float32)
        hidden = output.hidden_states[self.labeller.layer]
        return pooled, self.labeller(hidden, on_device[1], on_device[2][:, 1:]).float().cpu().numpy()


@lru_cache(maxsize=4)
def load_encoder(name: str = "default", device: str | None = None) -> Encoder:
    """An encoder by preset or model folder."""
    return Encoder(find_weights(name), device)


def batches(windows: Sequence[Window], tokens: int) -> Iterator[list[Window]]:
    """Runs of windows, each of at most `tokens` tokens counting pads (or one window)."""
    batch: list[Window] = []
    for window in windows:
        widest = max((len(other.ids) for other in [*batch[-1:], window]), default=0)
        if batch and widest * (len(batch) + 1) > tokens:
            yield batch
            batch = []
        batch.append(window)
    if batch:
        yield batch


def collate(batch: Sequence[Window]) -> tuple[NDArray[Any], NDArray[Any], Floats]:
    """Ids [b, t], attention mask [b, t] and pooling matrix [b, 1 + s, t]: row 0 the paper, then sentences.

    A row of the pooling matrix has ones at the tokens it sums; sums, because unit vectors follow.
    """
    width = max(len(window.ids) for window in batch)
    height = max(len(window.rows) for window in batch)
    ids = np.zeros((len(batch), width), np.int64)
    mask = np.zeros((len(batch), width), np.int64)
    pool = np.zeros((len(batch), 1 + height, width), np.float32)
    for row, window in enumerate(batch):
        length = len(window.ids)
        ids[row, :length] = window.ids
        mask[row, :length] = 1
        pool[row, 0, :length] = window.owner != CONTEXT
        for place, sentence in enumerate(window.rows, start=1):
            pool[row, place, :length] = window.owner == sentence
    return ids, mask, pool


def unit(vectors: Floats) -> Floats:
    """Rows scaled to length one."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return (vectors / np.maximum(lengths, 1e-12)).astype(np.float32)


def _packer(weights: Weights) -> Packer:
    tokenizer = Tokenizer.from_file(str(weights.folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    cls, sep, unk = (tokenizer.token_to_id(token) or 0 for token in ("[CLS]", "[SEP]", "[UNK]"))
    return Packer(tokenizer, cls, sep, unk, limit=512, overlap=128)


def _labeller() -> Any:
    """The facet labeller, or None where its weights are not there yet."""
    from search.facets import MODELS, WEIGHTS, load_labeller

    folder = Path(os.environ.get("TRIPTYCH_FACETS") or MODELS)
    return load_labeller() if (folder / WEIGHTS).exists() else None
