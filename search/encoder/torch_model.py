"""Any Hugging Face encoder through torch: on graphics cards, or on processors when it is not the default."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModel, AutoTokenizer
from transformers.utils import logging

from search.encoder.fine_tuned import lay_over
from search.encoder.pretrained import Habits
from search.encoder.read_ahead import Pass
from search.encoder.windows import Packer, Window, batches, longest
from search.errors import ModelError

CPU_BUDGET, GPU_BUDGET = 4096, 32768
"""Tokens in one pass, with pads, on a processor and on a graphics card; chosen by hand."""
MOST_CONTEXT = 128
"""Tokens of context that a window shares with its neighbour, at most; of a short window, a quarter. Chosen by
hand."""
SHIFTED_PLACES = {"roberta", "xlm-roberta", "camembert", "mpnet"}
"""Architectures whose first place is number `pad + 1` of the table."""

logging.set_verbosity_error()
logging.disable_progress_bar()


class TorchModel:
    """One model on one device. When a batch does not fit its memory, it goes on with smaller ones."""

    def __init__(
        self,
        folder: Path,
        device: str,
        first_token: bool,
        labeller: Any = None,
        trained: Mapping[str, NDArray[np.float32]] | None = None,
    ) -> None:
        """`trained` is laid over the weights in the folder."""
        self.device = torch.device(device)
        self.half = half_precision(self.device)
        on_card = self.device.type != "cpu"
        dtype = self.half if on_card and self.half else torch.float32
        try:
            model = AutoModel.from_pretrained(folder, local_files_only=True, dtype=dtype)
        except (OSError, ValueError, KeyError) as error:
            raise ModelError(f"The model in {folder} cannot be loaded ({error}).") from error
        if trained:
            changed = lay_over({name: one.float() for name, one in model.state_dict().items()}, trained)
            tensors = {name: torch.from_numpy(tensor) for name, tensor in changed.items()}
            model.load_state_dict(tensors, strict=False)
        self.model = model.eval().to(self.device)
        self.labeller = None if labeller is None else labeller.to(self.device, dtype)
        self.first_token = first_token
        self.dimension = int(self.model.config.hidden_size)
        self.pad = self.model.config.pad_token_id or 0
        self.budget = self.fits = GPU_BUDGET if on_card else CPU_BUDGET

    def run(self, windows: Sequence[Window]) -> list[Pass]:
        return [one for batch in batches(windows, self.fits) for one in self._fitting(batch)]

    def _fitting(self, batch: list[Window]) -> list[Pass]:
        try:
            return self._forward(batch)
        except RuntimeError as error:  # MPS has no error class of its own
            if "out of memory" not in str(error).lower():
                raise
            if len(batch) == 1:
                raise ModelError(
                    f"Not even one paper fits the memory of {self.device}; set the device to cpu."
                ) from error
        # Outside the handler: the failed attempt's tensors are freed by now.
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        half = -(-len(batch) // 2)
        self.fits = min(self.fits, half * longest(batch))
        return [one for part in (batch[:half], batch[half:]) for one in self._fitting(part)]

    @torch.inference_mode()
    def _forward(self, batch: list[Window]) -> list[Pass]:
        ids, mask, members = (torch.from_numpy(part).to(self.device) for part in self._collate(batch))
        with self._precision():
            output = self.model(ids, mask, output_hidden_states=self.labeller is not None)
            facets = None
            if self.labeller is not None:
                facets = self.labeller(output.hidden_states[self.labeller.layer], mask, members[:, 1:])
        sums = torch.bmm(members, output.last_hidden_state.float()).cpu().numpy()
        labels = None if facets is None else facets.float().cpu().numpy()
        tokens = members[:, 1:].sum(-1).cpu().numpy()
        heights = [1 + len(window.rows) for window in batch]
        return [
            Pass(
                sums[row, :height],
                tokens[row, : height - 1],
                None if labels is None else labels[row, : height - 1],
            )
            for row, height in enumerate(heights)
        ]

    def _collate(self, batch: list[Window]) -> tuple[Any, Any, Any]:
        """Ids [b, t], attention mask [b, t] and membership [b, 1 + s, t], padded."""
        members = [window.membership(self.first_token) for window in batch]
        width, height = longest(batch), max(len(rows) for rows in members)
        ids = np.full((len(batch), width), self.pad, np.int64)
        mask = np.zeros((len(batch), width), np.int64)
        every = np.zeros((len(batch), height, width), np.float32)
        for row, (window, rows) in enumerate(zip(batch, members, strict=True)):
            ids[row, : len(window.ids)] = window.ids
            mask[row, : len(window.ids)] = 1
            every[row, : len(rows), : len(window.ids)] = rows
        return ids, mask, every

    def _precision(self) -> contextlib.AbstractContextManager[Any]:
        """Processors keep their weights in full and multiply in half precision where they can."""
        if self.device.type == "cpu" and self.half:
            return torch.autocast("cpu", self.half)
        return contextlib.nullcontext()


def half_precision(device: torch.device) -> torch.dtype | None:
    """The 16-bit numbers the device is fast at, or None."""
    if device.type != "cpu":
        return torch.float16
    able = torch.cpu.get_capabilities()
    return torch.bfloat16 if able.get("avx512_bf16") or able.get("amx_bf16") else None


def load_packer(folder: Path, habits: Habits | None = None) -> Packer:
    """The tokenizer of any folder, with what the model calls [CLS] and [SEP], and its own habits."""
    from transformers import AutoConfig

    try:
        config = AutoConfig.from_pretrained(folder, local_files_only=True)
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, use_fast=True)
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"The tokenizer in {folder} cannot be loaded ({error}).") from error
    cls, sep = tokenizer.cls_token_id, tokenizer.sep_token_id
    if cls is None or sep is None or not tokenizer.is_fast:
        raise ModelError(f"The tokenizer in {folder} has no [CLS] and [SEP]; choose a BERT-like model.")
    places = getattr(config, "max_position_embeddings", None) or tokenizer.model_max_length
    if config.model_type in SHIFTED_PLACES:
        places -= (config.pad_token_id or 0) + 1
    inner = tokenizer.backend_tokenizer
    inner.no_truncation()
    inner.no_padding()
    unk = tokenizer.unk_token_id if tokenizer.unk_token_id is not None else sep
    habits = habits or Habits()
    limit = min(places, tokenizer.model_max_length, habits.longest or places)
    prompt = tuple(inner.encode(habits.prompt, add_special_tokens=False).ids) if habits.prompt else ()
    return Packer(inner, cls, sep, unk, limit, min(MOST_CONTEXT, limit // 4), prompt, habits.pools_prompt)


def find_cards(wanted: str) -> list[str]:
    """Graphics cards that are there: all for "", those of a kind ("cuda", "mps"), or the one named."""
    cuda = [f"cuda:{number}" for number in range(torch.cuda.device_count())]
    mps = ["mps"] if torch.backends.mps.is_available() else []
    if not wanted:
        return cuda or mps
    return [card for card in (*cuda, *mps) if wanted in (card, card.partition(":")[0])]
