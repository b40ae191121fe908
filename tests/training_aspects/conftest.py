"""One tiny encoder and corpus for each file of tests, in full precision."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from search import torch_model
from tests.tiny_models import make_bert
from tests.training_aspects.made import CUT, DOCUMENTS, load, no_progress, random_vectors
from training import aspect_loop, states
from training.aspect_data import Corpus, Words, make_corpus
from training.states import LowerLayers


@pytest.fixture(scope="module", autouse=True)
def _one_thread_in_full_precision() -> Iterator[None]:
    """Half precision where a processor has it would hide small mistakes."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch_model, "half_precision", lambda device: None)
        for module in (states, aspect_loop):
            patch.setattr(module, "autocast", lambda device: torch.autocast(device.type, enabled=False))
        yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bert(tmp_path_factory.mktemp("bert"), places=512)


@pytest.fixture(scope="module")
def lower(bert: Path) -> LowerLayers:
    return LowerLayers.cut(load(bert), bert, CUT)


@pytest.fixture(scope="module")
def corpus(lower: LowerLayers, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    cache = tmp_path_factory.mktemp("states")
    return make_corpus(DOCUMENTS, lower, cache, no_progress, random_vectors)


@pytest.fixture(scope="module")
def words() -> Words:
    return Words(DOCUMENTS)
