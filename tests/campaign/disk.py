"""Disks that get full at any size: one sentence, what is served stays, and the work goes on later."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from index_build.verify import verify
from search.corpus import layout
from search.corpus.manifest import read_manifest
from tests.campaign.tally import Effort, Tally, repeat
from tests.test_disk_full import FEW, MANY, take_in, used
from tests.test_disk_full import run as run_apart
from tests.test_library_damage import FULL, ROOT

ROOM = 4000
"""Kilobytes: with more, the papers fit."""
LIBRARY_EVERY = 4
"""Of so many tries one fills the disk under a library."""


def run(effort: Effort) -> Tally:
    folder = effort.folder

    def attempt(number: int) -> tuple[str, str]:
        dice = random.Random(f"disk {number}")
        if number % LIBRARY_EVERY == 0:
            return "library", fill_library(folder / f"library-{number}", dice.randrange(400_000))
        with small_disk(folder / "disk") as place:
            return "corpus", fill_corpus(place, dice.randrange(ROOM))

    return repeat("disk", effort, attempt)


@contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    """A file system of its own in memory."""
    place.mkdir(exist_ok=True)
    mount, umount = shutil.which("mount") or "mount", shutil.which("umount") or "umount"
    subprocess.run([mount, "-t", "tmpfs", "-o", "size=64m", "tmpfs", place], check=True)
    try:
        yield place
    finally:
        subprocess.run([umount, "--lazy", place], check=True)


def resize(place: Path, kilobytes: int) -> None:
    mount = shutil.which("mount") or "mount"
    subprocess.run([mount, "-o", f"remount,size={kilobytes}k", place], check=True)


def fill_corpus(place: Path, room: int) -> str:
    corpus = place / "corpus"
    take_in(corpus, FEW)
    served = read_manifest(layout.current_build(corpus))
    resize(place, used(place) + room)
    code, told = run_apart("take_in", corpus, MANY)
    if (code, told[: len("The disk is full")]) != (3, "The disk is full"):
        return f"with {room} kB it ended with {code}: {told}"
    if read_manifest(layout.current_build(corpus)) != served or verify(corpus):
        return f"with {room} kB another build is served"
    resize(place, 65_536)
    if run_apart("take_in", corpus, MANY) != (0, "done") or verify(corpus):
        return f"after {room} kB it does not go on"
    return ""


def fill_library(place: Path, room: int) -> str:
    command = [sys.executable, "-c", FULL, str(place), str(room)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return "" if done.stdout == "good\n" else f"with {room} bytes: {done.stderr.strip()[-300:]}"
