"""Encoding on Ray: the same vectors to the bit, shard by shard, also after a run that was killed."""

from __future__ import annotations

import builtins
import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from index_build import on_ray
from index_build.on_ray import RayEncoder, from_bytes, key_of, to_bytes
from search.corpus import layout
from search.errors import SettingsError
from search.settings import Settings
from search.types import Document
from tests import object_store, own_network
from tests.random_encoder import RandomEncoder

RAY = "ray is not installed: pip install -r requirements-ray.txt"
REFUSED = own_network.refusal() if importlib.util.find_spec("ray") else RAY
needs_ray = pytest.mark.skipif(bool(REFUSED), reason=REFUSED)
needs_store = pytest.mark.skipif(bool(object_store.REASON), reason=object_store.REASON)


def test_records_come_back_to_the_bit() -> None:
    encoded = RandomEncoder().encode_one(Document("title", ("one", "two")))
    back = from_bytes(to_bytes(encoded), 16)
    for name in ("paper", "sentences", "facets"):
        assert np.array_equal(getattr(back, name), getattr(encoded, name))
    assert key_of(Document("a", ("b",))) != key_of(Document("", ("a", "b")))


def test_a_missing_package_is_named_with_its_requirements(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real = builtins.__import__

    def without(name: str, *given: Any) -> Any:
        if name.partition(".")[0] == "ray":
            raise ImportError(name)
        return real(name, *given)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SettingsError, match=r"pip install -r requirements-ray\.txt"):
        RayEncoder(Settings(), str(tmp_path))


@pytest.fixture
def shards(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> RayEncoder:
    """The steps around the workers, which here are this process; shards of 8."""
    monkeypatch.setattr(on_ray, "SHARD", 8)
    monkeypatch.setattr(on_ray, "_require_ray", lambda: None)
    encoder = RayEncoder(Settings(), str(tmp_path / "shards"))

    def run(names: list[str]) -> None:
        worker = on_ray.EncodeShard(encoder._recipe, encoder._files, encoder._base)
        for name in names:
            worker({"shard": np.array([name])})

    monkeypatch.setattr(encoder, "_run", run)
    return encoder


def _documents(count: int) -> list[Document]:
    return [Document(f"Title {number}", (f"Sentence {number} of it.",)) for number in range(count)]


def test_shards_that_are_done_are_not_done_again(shards: RayEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    documents = _documents(20)
    expected = list(shards._recipe.load().encode(documents))
    run, asked = shards._run, []

    def stops(names: list[str]) -> None:
        asked.append(len(names))
        run(names[:2])
        raise KeyboardInterrupt

    monkeypatch.setattr(shards, "_run", stops)
    with pytest.raises(KeyboardInterrupt):
        list(shards.encode(documents))
    monkeypatch.setattr(shards, "_run", lambda names: asked.append(len(names)) or run(names))
    # Some are in the cache by now, so that other documents come, in other shards.
    found = list(shards.encode(documents[3:]))
    assert asked == [3, 1]
    for one, other in zip(found, expected[3:], strict=True):
        assert np.array_equal(one.sentences, other.sentences)
        assert np.array_equal(one.facets, other.facets)
    shards.clear()
    assert shards._shards(on_ray.DONE) == shards._shards(on_ray.TODO) == set()


def test_half_a_file_is_no_shard(shards: RayEncoder) -> None:
    list(shards.encode(_documents(8)))
    (done,) = shards._shards(on_ray.DONE)
    folder = Path(shards._base) / on_ray.DONE
    (folder / f"{done}.parquet").rename(folder / f"{done}.parquet.part-1")
    assert shards._shards(on_ray.DONE) == set()


@needs_ray
@pytest.mark.slow
@pytest.mark.parametrize("place", ["folder", pytest.param("store", marks=needs_store)])
def test_a_corpus_built_on_ray_has_the_same_vectors(place: str, app_corpus: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    shutil.copy(app_corpus / layout.STORE, corpus / layout.STORE)
    shards = [str(tmp_path / "shards")] if place == "folder" else ["bucket/shards", str(tmp_path / "store")]
    command = [sys.executable, "-m", "tests.ray_build", str(corpus), *shards]
    done = subprocess.run(command, cwd=on_ray.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    ours, theirs = layout.current_build(corpus), layout.current_build(app_corpus)
    for name in (layout.SENTENCE_VECTORS, layout.PAPER_VECTORS):
        assert np.array_equal(np.load(ours / name), np.load(theirs / name))
