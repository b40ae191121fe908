"""Hidden states of an encoder's lower layers, computed once for each corpus and kept on disk.

The lower layers are never trained, so training needs only their output.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from search.encoder.loading import packer_of
from search.encoder.pretrained import sha256_of
from search.encoder.windows import Packer, Window
from search.types import Document

TOKENS_PER_BATCH = 8192
"""Tokens that go through the lower layers at once, counting pads; chosen by hand."""


@dataclass(frozen=True, slots=True)
class Batch:
    """`b` windows with at most `t` tokens and `n` sentences."""

    hidden: Tensor
    """[b, t, h]"""
    mask: Tensor
    """[b, t]: 1 for tokens, 0 for pads."""
    assignment: Tensor
    """[b, n, t]: 1 where a token belongs to a sentence."""
    targets: Tensor
    """[b, n, 5]: wanted probabilities of the facets; a row of zeros carries no loss."""


@dataclass(frozen=True, slots=True)
class States:
    """The windows of a corpus, and their hidden states one after another in a file.

    Window w has the rows offsets[w]:offsets[w + 1] of hidden [tokens, h].
    """

    windows: tuple[Window, ...]
    offsets: NDArray[np.int64]
    hidden: NDArray[np.float16]
    targets: tuple[NDArray[np.float32], ...] = ()
    """For each document [n, 5]: wanted probabilities of the facets; empty where nothing is labelled."""

    def __len__(self) -> int:
        return len(self.windows)

    def length(self, number: int) -> int:
        return len(self.windows[number].ids)

    def batch(self, numbers: Sequence[int], device: torch.device) -> Batch:
        width = max(self.length(number) for number in numbers)
        height = max(len(self.windows[number].rows) for number in numbers)
        hidden = np.zeros((len(numbers), width, self.hidden.shape[1]), np.float16)
        mask = np.zeros((len(numbers), width), np.float32)
        assignment = np.zeros((len(numbers), height, width), np.float32)
        labels = self.targets[0].shape[1] if self.targets else 0
        wanted = np.zeros((len(numbers), height, labels), np.float32)
        for row, number in enumerate(numbers):
            window, length = self.windows[number], self.length(number)
            hidden[row, :length] = self.hidden[self.offsets[number] : self.offsets[number + 1]]
            mask[row, :length] = 1
            for place, sentence in enumerate(window.rows):
                assignment[row, place, :length] = window.owner == sentence
            if self.targets:
                mine = self.targets[window.document][window.rows.start : window.rows.stop]
                wanted[row, : len(window.rows)] = mine
        parts = (torch.from_numpy(part).to(device).float() for part in (hidden, mask, assignment, wanted))
        return Batch(*parts)


@dataclass(frozen=True, slots=True)
class LowerLayers:
    """The lower layers of an encoder."""

    model: Any
    packer: Packer
    folder: Path
    layer: int

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    @staticmethod
    def cut(encoder: Any, folder: Path, layer: int) -> LowerLayers:
        """Keep only the first `layer` layers of this encoder, which was loaded from `folder`."""
        encoder.encoder.layer = encoder.encoder.layer[:layer]
        ends = ("<s>", "</s>") if encoder.config.model_type == "mpnet" else ("[CLS]", "[SEP]")
        return LowerLayers(encoder.eval(), packer_of(folder, *ends, "[UNK]"), folder, layer)

    @torch.inference_mode()
    def states(
        self,
        documents: Sequence[Document],
        cache: Path,
        progress: Callable[[int, int], None],
        targets: Sequence[NDArray[np.float32]] = (),
    ) -> States:
        """Hidden states of the documents; those in the cache are read."""
        windows = tuple(self.packer.pack(documents))
        lengths = np.array([len(window.ids) for window in windows])
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        path = cache / f"{self._key(windows)}.npy"
        if not path.exists():
            cache.mkdir(parents=True, exist_ok=True)
            draft = path.with_suffix(f".{os.getpid()}.part")
            try:
                self._write(windows, lengths, offsets, draft, progress)
                draft.replace(path)
            finally:
                draft.unlink(missing_ok=True)  # where writing failed, half a file takes up room
        return States(windows, offsets, np.load(path, mmap_mode="r"), tuple(targets))

    def _write(
        self,
        windows: Sequence[Window],
        lengths: NDArray[np.int64],
        offsets: NDArray[np.int64],
        path: Path,
        progress: Callable[[int, int], None],
    ) -> None:
        """Plainly, not through mapped memory: on a full disk, a mapped write ends the process."""
        shape, done = (int(offsets[-1]), int(self.model.config.hidden_size)), 0
        with path.open("wb") as out:
            header = {"descr": "<f2", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(out, header)
            start = out.tell()
            for numbers in by_length(lengths, np.arange(len(windows)), TOKENS_PER_BATCH):
                for number, states in zip(numbers, self._states_of(windows, lengths, numbers), strict=True):
                    out.seek(start + int(offsets[number]) * shape[1] * states.itemsize)
                    out.write(states.tobytes())
                done += len(numbers)
                progress(done, len(windows))

    def _states_of(
        self, windows: Sequence[Window], lengths: NDArray[np.int64], numbers: NDArray[np.int64]
    ) -> Iterator[NDArray[np.float16]]:
        """For each of these windows [tokens, h]."""
        width = int(lengths[numbers].max())
        ids = torch.zeros(len(numbers), width, dtype=torch.long)
        mask = torch.zeros(len(numbers), width, dtype=torch.long)
        for row, number in enumerate(numbers):
            ids[row, : lengths[number]] = torch.from_numpy(windows[number].ids.astype(np.int64))
            mask[row, : lengths[number]] = 1
        with autocast(self.device):
            hidden = self.model(ids.to(self.device), mask.to(self.device)).last_hidden_state
        for row, number in enumerate(numbers):
            yield hidden[row, : lengths[number]].half().cpu().numpy().astype("<f2", copy=False)

    def _key(self, windows: Sequence[Window]) -> str:
        digest = hashlib.sha256(
            json.dumps([sha256_of(self.folder / "model.safetensors"), self.layer]).encode()
        )
        for window in windows:
            digest.update(window.ids.tobytes())
        return digest.hexdigest()[:16]


def autocast(device: torch.device) -> torch.autocast:
    """Half precision where it is faster: on graphics cards, and 1.7 times on processors with bfloat16."""
    faster = device.type == "cuda" or (device.type == "cpu" and torch.cpu._is_avx512_bf16_supported())
    return torch.autocast(device.type, dtype=torch.bfloat16, enabled=faster)


def by_length(lengths: NDArray[np.int64], numbers: NDArray[np.int64], tokens: int) -> list[NDArray[np.int64]]:
    """Batches of similar length, each of at most `tokens` tokens counting pads, or of one example."""
    ordered = numbers[np.argsort(lengths[numbers], kind="stable")]
    batches, start = [], 0
    for end in range(1, len(ordered) + 1):
        full = end == len(ordered) or lengths[ordered[end]] * (end + 1 - start) > tokens
        if full:
            batches.append(ordered[start:end])
            start = end
    return batches
