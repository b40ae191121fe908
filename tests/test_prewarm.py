"""The vectors that come with the software: small, true to the originals, and used only where they fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from index_build import prewarm, steps
from index_build.cache import keys_of
from index_build.verify import verify
from search.corpus import layout
from search.corpus.faiss_making import nearest, recall
from search.corpus.store import Snapshot, Store
from search.encoder.loading import load_encoder
from search.text.sentences import split_paper
from search.types import Encoded, Paper
from tests.random_encoder import RandomEncoder

PAPERS = [
    split_paper(Paper(f"p{n}", f"A paper with the number {n}", f"Case {n} is open. We close case {n}."))
    for n in range(60)
]


def make(corpus: Path, papers: list[Paper], encoder: RandomEncoder) -> None:
    with Store.create(corpus / layout.STORE) as store:
        store.add(papers)
    steps.build(corpus, encoder=encoder)


@pytest.fixture(scope="module")
def shipped_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("prewarm")
    make(folder / "corpus", PAPERS[:50], RandomEncoder(dimension=64))
    size = prewarm.prewarm(folder / "corpus", folder / "vectors.npz")
    assert size == (folder / "vectors.npz").stat().st_size
    return folder / "vectors.npz"


def test_vectors_and_facets_come_back(shipped_file: Path, tmp_path: Path) -> None:
    encoder = RandomEncoder(dimension=64)
    shipped = prewarm.load_shipped(encoder.id, shipped_file)
    assert shipped is not None
    make(tmp_path, PAPERS, RandomEncoder(dimension=64))
    with Snapshot.open(layout.current_build(tmp_path) / layout.STORE) as snapshot:
        documents = list(snapshot.documents())
    keys = keys_of(documents)
    assert shipped.has(keys).tolist() == [True] * 50 + [False] * 10
    for document, found in zip(documents[:50], shipped.get(keys[:50]), strict=True):
        expected = encoder.encode_one(document)  # type: ignore[arg-type]
        np.testing.assert_allclose(found.sentences, expected.sentences, atol=0.004)
        np.testing.assert_allclose(found.paper, expected.paper, atol=0.004)
        np.testing.assert_allclose(found.facets, expected.facets, atol=0.006)
        np.testing.assert_allclose(np.linalg.norm(found.sentences, axis=1), 1, atol=1e-5)


def test_a_build_encodes_only_what_is_not_shipped(
    shipped_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prewarm, "SHIPPED", shipped_file)
    encoder = RandomEncoder(dimension=64)
    make(tmp_path / "same", PAPERS, encoder)
    assert encoder.encoded == 10
    assert verify(tmp_path / "same") == []
    other = RandomEncoder("random-2", dimension=64)
    make(tmp_path / "other", PAPERS, other)
    assert other.encoded == 60


def test_what_is_shipped_is_small_and_fits_the_default_encoder() -> None:
    assert prewarm.SHIPPED.stat().st_size <= 15_000_000
    shipped = prewarm.load_shipped(load_encoder("default").id)
    assert shipped is not None, "the default weights changed: make the vectors again with prewarm"
    assert len(shipped.keys) > 4_000


def test_neighbours_of_real_vectors_survive_eight_bits() -> None:
    with np.load(prewarm.SHIPPED) as file:
        real = file["vectors"][:10_000] * file["scales"][:10_000, None]
    # Turned, so that they no longer lie on the steps they were rounded to; all distances stay.
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((real.shape[1],) * 2))[0]
    vectors = (real @ turn / np.linalg.norm(real, axis=1, keepdims=True)).astype(np.float32)
    key = np.array([b"key"], "S16")
    facets = np.full((len(vectors), 5), 0.2, np.float32)
    (rounded,) = prewarm.compress("any", key, [Encoded(vectors, vectors[0], facets)]).get(key)
    true = nearest(vectors[:200], vectors, 20)
    assert recall(nearest(rounded.sentences[:200], rounded.sentences, 20), true) >= 0.98
