"""The vector cache: what goes in comes out, a torn tail is cut, and nothing whole is lost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from index_build.cache import ENTRIES, RECORDS, VectorCache, cache_folder, keys_of
from search.corpus.store import StoredDocument
from search.errors import CorpusError
from search.types import Encoded

DIMENSION = 8


def make(count: int, seed: int = 0) -> tuple[list[StoredDocument], list[Encoded]]:
    random = np.random.default_rng(seed)
    documents, encoded = [], []
    for number in range(count):
        sentences = int(random.integers(1, 5))
        texts = tuple(f"sentence {place}" for place in range(sentences))
        key = random.bytes(16).hex()
        documents.append(StoredDocument(number, f"title {number}", texts, key))
        vectors = random.normal(size=(sentences + 1, DIMENSION)).astype(np.float32)
        facets = random.dirichlet(np.ones(5), sentences).astype(np.float32)
        encoded.append(Encoded(vectors[1:], vectors[0], facets))
    return documents, encoded


def fill(folder: Path, documents: list[StoredDocument], encoded: list[Encoded]) -> None:
    with VectorCache(folder, DIMENSION) as cache:
        cache.append(keys_of(documents), encoded)


def assert_holds(folder: Path, documents: list[StoredDocument], encoded: list[Encoded]) -> None:
    with VectorCache(folder, DIMENSION) as cache:
        for found, expected in zip(cache.get(keys_of(documents)), encoded, strict=True):
            np.testing.assert_allclose(found.sentences, expected.sentences, atol=2e-3)
            np.testing.assert_allclose(found.paper, expected.paper, atol=2e-3)
            np.testing.assert_allclose(found.facets, expected.facets, atol=1e-3)


def test_vectors_come_back_in_any_order(tmp_path: Path) -> None:
    documents, encoded = make(50)
    fill(tmp_path, documents[:20], encoded[:20])
    fill(tmp_path, documents[20:], encoded[20:])
    assert_holds(tmp_path, documents[::-1], encoded[::-1])


def test_appended_documents_are_readable_after_a_refresh(tmp_path: Path) -> None:
    documents, encoded = make(3)
    with VectorCache(tmp_path, DIMENSION) as cache:
        cache.append(keys_of(documents), encoded)
        cache.refresh()
        assert len(list(cache.get(keys_of(documents)))) == len(cache) == 3


def test_only_new_texts_are_missing_and_each_once(tmp_path: Path) -> None:
    documents, encoded = make(6)
    fill(tmp_path, documents[:3], encoded[:3])
    with VectorCache(tmp_path, DIMENSION) as cache:
        asked = keys_of([documents[4], documents[0], documents[5], documents[4], documents[2]])
        assert list(cache.missing(asked)) == [0, 2]
        with pytest.raises(KeyError):
            list(cache.get(asked))


@pytest.mark.parametrize(("file", "cut"), [(ENTRIES, 1), (ENTRIES, 33), (RECORDS, 2), (RECORDS, 60)])
def test_a_torn_tail_is_cut_and_the_rest_kept(tmp_path: Path, file: str, cut: int) -> None:
    documents, encoded = make(20)
    fill(tmp_path, documents, encoded)
    with (tmp_path / file).open("r+b") as torn:
        torn.truncate(torn.seek(0, 2) - cut)
    with VectorCache(tmp_path, DIMENSION) as cache:
        missing = cache.missing(keys_of(documents))
    assert 1 <= len(missing) <= 2
    whole = 20 - len(missing)
    assert_holds(tmp_path, documents[:whole], encoded[:whole])
    fill(tmp_path, documents[whole:], encoded[whole:])
    assert_holds(tmp_path, documents, encoded)


def test_records_without_an_entry_are_written_again(tmp_path: Path) -> None:
    documents, encoded = make(5)
    fill(tmp_path, documents[:2], encoded[:2])
    with (tmp_path / RECORDS).open("ab") as crashed:
        crashed.write(b"\1" * 37)
    with (tmp_path / ENTRIES).open("ab") as crashed:
        crashed.write(bytes(64))
    fill(tmp_path, documents[2:], encoded[2:])
    assert_holds(tmp_path, documents, encoded)


def test_damaged_vectors_are_not_used(tmp_path: Path) -> None:
    documents, encoded = make(5)
    fill(tmp_path, documents, encoded)
    records = bytearray((tmp_path / RECORDS).read_bytes())
    records[7] ^= 1
    (tmp_path / RECORDS).write_bytes(records)
    with VectorCache(tmp_path, DIMENSION) as cache:
        assert len(list(cache.get(keys_of(documents[1:])))) == 4
        with pytest.raises(CorpusError, match=RECORDS):
            list(cache.get(keys_of(documents)))


def test_encoders_have_folders_of_their_own(tmp_path: Path) -> None:
    names = {cache_folder(tmp_path, name).name for name in ("mini-1", "org/model-1", "org/model-2")}
    assert len(names) == 3
    assert all("/" not in name for name in names)
