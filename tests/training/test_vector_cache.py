"""Vectors of a finished encoder, computed once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from search.types import Document, Encoded
from tests.random_encoder import RandomEncoder
from tests.training.made import LONG, say_nothing, some_document
from training import vector_cache
from training.vector_cache import Vectors, cached_encoder, encode_all

FIVE = [some_document(number) for number in range(5)]


class Stopping(RandomEncoder):
    """Gives up before the document with this number."""

    def __init__(self, last: int) -> None:
        super().__init__()
        self.last = last

    def encode(self, documents: Iterable[Document], progress: Any = None) -> Iterator[Encoded]:
        for one in super().encode(documents):
            if self.encoded > self.last:
                raise KeyboardInterrupt
            yield one


@pytest.fixture(autouse=True)
def _small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_cache, "PAPERS_PER_FILE", 2)


def test_kept_files_are_read(tmp_path: Path) -> None:
    first, again = RandomEncoder(), RandomEncoder()
    vectors = encode_all(FIVE, first, tmp_path, say_nothing)
    kept = encode_all(FIVE, again, tmp_path, say_nothing)
    assert (first.encoded, again.encoded) == (5, 0)
    for paper, document in enumerate(FIVE):
        encoded = first.encode_one(document)
        for found in (vectors, kept):
            np.testing.assert_array_equal(found.of(paper), encoded.sentences.astype(np.float16))
            np.testing.assert_array_equal(found.papers[paper], encoded.paper.astype(np.float16))


def test_only_what_is_new_is_encoded(tmp_path: Path) -> None:
    encode_all(FIVE, RandomEncoder(), tmp_path, say_nothing)
    changed, other = RandomEncoder(), RandomEncoder("random-2")
    encode_all([*FIVE[:2], LONG, *FIVE[3:]], changed, tmp_path, say_nothing)
    encode_all(FIVE, other, tmp_path, say_nothing)
    assert (changed.encoded, other.encoded) == (2, 5)


def test_a_stopped_encoding_goes_on_after_its_last_file(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        encode_all(FIVE, Stopping(3), tmp_path, say_nothing)
    again = RandomEncoder()
    encode_all(FIVE, again, tmp_path, say_nothing)
    assert again.encoded == 3


def test_an_encoder_by_name_is_loaded_when_it_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = RandomEncoder()
    asked: list[str] = []

    class Labelled:
        def without_labels(self) -> RandomEncoder:
            return encoder

    monkeypatch.setattr(vector_cache, "load_encoder", lambda name: asked.append(name) or Labelled())
    encode = cached_encoder("untrained", tmp_path / "vectors")
    assert asked == []
    assert len(encode(FIVE).papers) == 5
    assert (asked, encoder.encoded) == (["untrained"], 5)


def test_an_objective_is_in_the_panel_of_background() -> None:
    facets = np.eye(5, dtype=np.float16)[[0, 1, 2, 3, 4, 2]]
    vectors = Vectors(np.zeros((6, 2), np.float16), np.zeros((2, 2), np.float16), facets, np.array([0, 4, 6]))
    assert vectors.in_panel(0, "background").tolist() == [1, 1, 0, 0]
    assert vectors.in_panel(0, "method").tolist() == [0, 0, 1, 0]
    assert vectors.in_panel(1, "method").tolist() == [0, 1]
