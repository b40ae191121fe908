"""Hidden states of the lower layers, and batches of similar length."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from tests.training.made import load
from training.hidden_states import by_length
from training.labeller import Prepared


def test_kept_states_are_those_of_the_whole_encoder(prepared: Prepared, word_bert: Path) -> None:
    states = prepared.checks["dev"]
    window = states.windows[0]
    with torch.inference_mode():
        hidden = (
            load(word_bert)
            .eval()(torch.from_numpy(window.ids.astype(np.int64))[None], output_hidden_states=True)
            .hidden_states[1][0]
        )
    kept = torch.from_numpy(np.array(states.hidden[: len(window.ids)])).float()
    torch.testing.assert_close(kept, hidden, rtol=5e-3, atol=5e-3)  # kept in 16 bits


def test_batches_keep_to_their_size() -> None:
    lengths = np.array([5, 1, 9, 3, 4, 20])
    batches = by_length(lengths, np.arange(6), tokens=12)
    assert sorted(number for batch in batches for number in batch) == list(range(6))
    assert all(lengths[batch].max() * len(batch) <= 12 or len(batch) == 1 for batch in batches)
    assert len(batches) < 6
