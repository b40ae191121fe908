"""The graph of a preset as a file: made once, made again when it is damaged, told when it cannot be made."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from search.downloads import cache_root
from search.encoder import loading, onnx_file
from search.encoder.loading import ModelFolders, load_encoder
from search.encoder.onnx_file import Ingredients, graph_file
from search.encoder.onnx_model import OnnxModel
from search.encoder.pretrained import find_weights
from search.errors import ModelError
from search.types import Document
from tests.tiny_models import make_bert, onnx_model

DOCUMENT = Document("We count otters", ("They are many.", "Counting them is new."))


@pytest.fixture
def ingredients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ingredients:
    monkeypatch.setenv("TRIPTYCH_CACHE", str(tmp_path / "cache"))
    return Ingredients(str(make_bert(tmp_path / "bert")), "hash")


def test_a_graph_is_made_once_and_is_the_one_made_here(
    ingredients: Ingredients, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = graph_file(ingredients)
    assert file.parent == cache_root() / "graphs"
    here = onnx_model(Path(ingredients.pretrained))
    ids = {"ids": np.array([[2, 5, 6, 3]])}
    for ours, theirs in zip(OnnxModel(file).session.run(None, ids), here.session.run(None, ids), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    monkeypatch.setattr(subprocess, "run", None)
    assert graph_file(ingredients) == file


def test_what_it_is_made_of_and_the_code_are_in_its_name(
    ingredients: Ingredients, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = {
        Ingredients("", "a").key,
        Ingredients("", "b").key,
        Ingredients("", "a", "default", "", "c").key,
        Ingredients("", "a", labeller="", labeller_hash="c").key,
    }
    (tmp_path / "other.py").write_text("changed")
    monkeypatch.setattr(onnx_file, "CODE", (str(tmp_path / "other.py"),))
    assert len(keys | {Ingredients("", "a").key}) == 5
    assert Ingredients("here", "a").key == Ingredients("there", "a").key


def test_a_model_that_cannot_be_read_is_one_sentence(ingredients: Ingredients) -> None:
    with pytest.raises(ModelError, match="No such file"):
        graph_file(Ingredients("/nowhere", "hash"))
    wrong = Ingredients(ingredients.pretrained, "hash", "default", "/nowhere", "hash")
    with pytest.raises(ModelError, match=r"The fine-tuned weights in /nowhere cannot be read"):
        graph_file(wrong)
    assert list((cache_root() / "graphs").iterdir()) == []


def test_a_cache_that_cannot_be_written_is_no_obstacle(
    ingredients: Ingredients, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("TRIPTYCH_CACHE", str(tmp_path / "file"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert OnnxModel(graph_file(ingredients)).dimension == 32


@pytest.mark.slow
def test_a_damaged_graph_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = load_encoder("default", "cpu").encode_one(DOCUMENT)
    folders = ModelFolders(pretrained=find_weights("default").folder)
    monkeypatch.setenv("TRIPTYCH_CACHE", str(tmp_path))
    for _ in range(2):
        loading._load_small.cache_clear()
        found = load_encoder("default", "cpu", folders).encode_one(DOCUMENT)
        np.testing.assert_array_equal(found.sentences, expected.sentences)
        (kept,) = (tmp_path / "graphs").iterdir()
        kept.write_bytes(kept.read_bytes()[:1_000_000])
