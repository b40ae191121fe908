"""A transformer as its authors use it: token means per sentence and the first token, in its own scale.

The product's encoder is tuned for speed and gives unit vectors; published distances need the raw ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from search.errors import ModelError
from search.types import Document

Floats = NDArray[np.float32]
LIMIT = 512
"""Tokens; the longest input of BERT-like models."""
BATCH = 16
"""Documents in one pass; chosen by hand."""


class Reader:
    """Reads `[CLS] title [SEP] sentence sentence ... [SEP]` (Cohan et al. 2020, Mysore et al. 2022)."""

    def __init__(self, folder: Path) -> None:
        from transformers import AutoModel, AutoTokenizer
        from transformers.utils import logging

        logging.disable_progress_bar()
        try:
            self.tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            self.model = AutoModel.from_pretrained(folder, local_files_only=True).eval()
        except (OSError, ValueError) as error:
            reason = str(error).split("\n")[0]
            raise ModelError(f"The model in {folder} cannot be loaded ({reason}): give another.") from None
        # RoBERTa and its kin start counting places at 2.
        self.limit = min(LIMIT, getattr(self.model.config, "max_position_embeddings", LIMIT) - 2)

    def read(self, documents: Sequence[Document]) -> list[tuple[Floats, Floats]]:
        """Per document its sentences [n, d] and its first token [d], in the order given."""
        inputs = [self._pack(document) for document in documents]
        order = sorted(range(len(inputs)), key=lambda place: len(inputs[place][0]))
        found: dict[int, tuple[Floats, Floats]] = {}
        for start in range(0, len(order), BATCH):
            some = order[start : start + BATCH]
            hidden = self._run([inputs[place][0] for place in some])
            for place, states in zip(some, hidden, strict=True):
                spans = inputs[place][1]
                means = [
                    states[first:last].mean(axis=0) if last > first else states[0] for first, last in spans
                ]
                found[place] = np.stack(means), states[0]
        return [found[place] for place in range(len(documents))]

    def _pack(self, document: Document) -> tuple[list[int], list[tuple[int, int]]]:
        """Token ids and each sentence's span in them; what exceeds the model is cut off, as the papers do."""
        title, *sentences = self.tokenizer(
            [document.title, *document.sentences], add_special_tokens=False, truncation=False, verbose=False
        )["input_ids"]
        opening, closing = self._marks()
        ids = [opening, *title[: self.limit // 2], *([closing] if title else [])]
        spans = []
        for sentence in sentences:
            part = sentence[: self.limit - 1 - len(ids)]
            spans.append((len(ids), len(ids) + len(part)))
            ids += part
        return [*ids, closing], spans

    def _marks(self) -> tuple[int, int]:
        """The tokens a text opens and closes with."""
        known = self.tokenizer
        opening = known.cls_token_id if known.cls_token_id is not None else known.bos_token_id
        closing = known.sep_token_id if known.sep_token_id is not None else known.eos_token_id
        if opening is None or closing is None:
            raise ModelError(
                f"{known.name_or_path} has no tokens to open and close a text: it is no encoder."
            )
        return opening, closing

    def _run(self, batch: Sequence[Sequence[int]]) -> Floats:
        """Last hidden states [b, t, d]."""
        width = max(map(len, batch))
        ids = torch.full((len(batch), width), self.tokenizer.pad_token_id or 0)
        mask = torch.zeros((len(batch), width), dtype=torch.long)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = torch.tensor(tokens)
            mask[row, : len(tokens)] = 1
        with torch.inference_mode():
            states: Floats = self.model(input_ids=ids, attention_mask=mask).last_hidden_state.float().numpy()
        return states
