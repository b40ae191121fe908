"""The vector index against brute force, on real vectors: the ones that come with the demo."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import faiss
import numpy as np
import pytest
from numpy.typing import NDArray

from index_build.prewarm import SHIPPED
from search.corpus import faiss_lists, faiss_making
from search.corpus.arrays import write_array
from search.corpus.faiss_index import VectorIndex
from search.corpus.faiss_making import build_index, nearest, recall, train_lists
from search.corpus.vector_file import VectorFile
from search.errors import CorpusError

Floats = NDArray[np.float32]


def unit(vectors: NDArray[np.floating]) -> Floats:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


@pytest.fixture(scope="module")
def real() -> Floats:
    """20,000 sentence vectors of the demo corpus."""
    with np.load(SHIPPED) as shipped:
        sentences = np.delete(shipped["vectors"], shipped["starts"][:-1], axis=0)
    return unit(sentences[:20_000].astype(np.float32))


@pytest.fixture(scope="module")
def queries(real: Floats) -> Floats:
    random = np.random.default_rng(2)
    chosen = real[random.choice(len(real), 100, replace=False)]
    return unit(chosen + 0.2 / np.sqrt(real.shape[1]) * random.standard_normal(chosen.shape))


@pytest.fixture(scope="module")
def flat(real: Floats, tmp_path_factory: pytest.TempPathFactory) -> VectorIndex:
    path = tmp_path_factory.mktemp("flat") / "sentences.faiss"
    build_index(real.astype(np.float16), path)
    return VectorIndex.open(path)


@pytest.fixture(scope="module")
def lists(real: Floats, tmp_path_factory: pytest.TempPathFactory) -> tuple[VectorIndex, Floats]:
    """50,000 vectors, the real ones and jittered copies, in an index of the kind for large corpora."""
    random = np.random.default_rng(3)
    copies = [real, *(unit(real + 0.02 * random.standard_normal(real.shape)) for _ in range(2))]
    many = np.concatenate(copies)[:50_000]
    path = tmp_path_factory.mktemp("lists") / "sentences.faiss"
    build_index(many.astype(np.float16), path, flat_limit=10_000)
    return VectorIndex.open(path, lambda: many), many


def test_flat_recall(flat: VectorIndex, real: Floats, queries: Floats) -> None:
    scores, rows = flat.search(queries, 100)
    assert recall(rows, nearest(queries, real, 100)) >= 0.99
    np.testing.assert_allclose(scores, np.take_along_axis(queries @ real.T, rows, axis=1), atol=1e-3)
    assert (np.diff(scores, axis=1) <= 0).all()


@pytest.mark.slow
def test_recall_of_lists(lists: tuple[VectorIndex, Floats], queries: Floats) -> None:
    index, vectors = lists
    assert "lists" in index.kind
    assert recall(index.search(queries, 100)[1], nearest(queries, vectors, 100)) >= 0.95


def test_lists_of_one_bit_find_what_the_vectors_say(lists: tuple[VectorIndex, Floats]) -> None:
    """Small on disk, and yet every score is that of the vectors themselves."""
    index, vectors = lists
    assert index.kind.endswith("1 bit")
    scores, rows = index.search(vectors[:20], 50)
    np.testing.assert_allclose(scores, np.take_along_axis(vectors[:20] @ vectors.T, rows, axis=1), atol=1e-5)
    assert (np.diff(scores, axis=1) <= 0).all()


def test_lists_of_eight_bits_from_before_are_searched_as_they_are(real: Floats, tmp_path: Path) -> None:
    index = train_lists(real, lists=32, codes="SQ8")
    faiss_lists.write_lists(index, [real], tmp_path / "old.faiss")
    faiss_lists.set_visited(tmp_path / "old.faiss", 16)
    old = VectorIndex.open(tmp_path / "old.faiss", lambda: pytest.fail("needs no other file"))
    assert old.kind == "32 lists, 16 visited, 8 bit"
    assert recall(old.search(real[:50], 10)[1], nearest(real[:50], real, 10)) > 0.9


def test_the_oracle_is_a_plain_sort(real: Floats, queries: Floats) -> None:
    plain = np.argsort(-(queries @ real.T), axis=1)[:, :10]
    assert recall(nearest(queries, real.astype(np.float16), 10), plain) > 0.99


@pytest.mark.parametrize("share", [0.5, 0.01])
def test_allowed_rows_restrict_the_search_itself(
    flat: VectorIndex, lists: tuple[VectorIndex, Floats], real: Floats, queries: Floats, share: float
) -> None:
    for index, vectors in ((flat, real), lists):
        random = np.random.default_rng(4)
        allowed = np.sort(random.choice(len(vectors), int(share * len(vectors)), replace=False))
        rows = index.search(queries, 100, allowed)[1]
        assert np.isin(rows, allowed).all()
        assert recall(rows, allowed[nearest(queries, vectors[allowed], 100)]) >= 0.95


def test_few_or_no_rows(flat: VectorIndex, queries: Floats) -> None:
    scores, rows = flat.search(queries[:3], 50, allowed=np.array([7, 4]))
    assert rows.shape == scores.shape == (3, 2)
    assert set(rows.ravel()) == {4, 7}
    assert flat.search(queries[:3], 50, allowed=np.array([], np.int64))[1].shape == (3, 0)
    assert flat.search(queries[:1], 10**6)[1].shape == (1, flat.count)


def test_many_threads_get_what_one_gets(lists: tuple[VectorIndex, Floats], queries: Floats) -> None:
    index, _ = lists
    allowed = [None, np.arange(0, index.count, 3), np.arange(100)]

    def search(turn: int) -> NDArray[np.int64]:
        return index.search(queries[turn : turn + 5], 20, allowed[turn % 3])[1]

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(search, range(60)))
    for turn, rows in enumerate(together):
        np.testing.assert_array_equal(rows, search(turn))


def test_a_vector_file_gives_any_rows(real: Floats, tmp_path: Path) -> None:
    vectors = real[:500].astype(np.float16)
    np.save(tmp_path / "some.npy", vectors)
    file = VectorFile(tmp_path / "some.npy")
    assert (len(file), file.shape) == (500, vectors.shape)
    random = np.random.default_rng(5)
    runs = np.concatenate([np.arange(start, start + 7) for start in (490, 3, 10, 10, 480)])
    for rows in (random.integers(0, 500, 300), runs, np.array([499]), np.array([], np.int64)):
        np.testing.assert_array_equal(file[rows], vectors[rows])
    for piece in (slice(5, 9), slice(None), slice(495, 600), slice(7, 7)):
        np.testing.assert_array_equal(file[piece], vectors[piece])


def test_rows_beyond_a_vector_file_are_an_error(tmp_path: Path) -> None:
    np.save(tmp_path / "some.npy", np.eye(4, dtype=np.float16))
    with pytest.raises(CorpusError, match=r"some\.npy"):
        VectorFile(tmp_path / "some.npy")[np.array([2, 4])]


def test_one_vector_is_an_index(tmp_path: Path) -> None:
    build_index(np.eye(1, 8, dtype=np.float16), tmp_path / "one.faiss")
    scores, rows = VectorIndex.open(tmp_path / "one.faiss").search(np.eye(1, 8), 5)
    assert rows.tolist() == [[0]]
    assert scores.tolist() == [[1.0]]


def test_what_is_no_index_is_named(tmp_path: Path) -> None:
    (tmp_path / "broken.faiss").write_bytes(b"not an index at all")
    for name in ("broken.faiss", "missing.faiss"):
        with pytest.raises(CorpusError, match=name):
            VectorIndex.open(tmp_path / name)


def test_lists_written_on_disk_are_those_that_faiss_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In several chunks and parts, from a file that is read, not held."""
    monkeypatch.setattr(faiss_making, "CHUNK", 700)
    monkeypatch.setattr(faiss_lists, "GATHERED", 20_000)
    vectors = np.random.default_rng(3).standard_normal((3000, 24)).astype(np.float16)
    write_array(tmp_path / "vectors.npy", vectors)
    build_index(VectorFile(tmp_path / "vectors.npy"), tmp_path / "lists.faiss", flat_limit=100)
    ours = faiss.read_index(str(tmp_path / "lists.faiss"))
    theirs = train_lists(vectors)
    theirs.add(vectors.astype(np.float32))
    theirs.nprobe = ours.nprobe
    assert ours.ntotal == 3000
    asked = vectors[:50].astype(np.float32)
    for expected, found in zip(theirs.search(asked, 9), ours.search(asked, 9), strict=True):
        assert np.array_equal(expected, found)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lists.faiss", "vectors.npy"]
