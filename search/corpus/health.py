"""Whether the files of an open build still are what they were when it was made.

Small files are compared before anything is read from them. The others are compared in the background; until
that is done, vectors and word scores are compared block by block as they are read.
"""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

from search.corpus.checksums import CHECKSUMS, Blocks, DamagedError, damaged, read_checksums
from search.corpus.layout import BUILDS, MANIFEST, current_name
from search.corpus.manifest import FileEntry, Manifest

SMALL = 2**20
"""Bytes up to which a file is compared before the build is opened: about a millisecond each."""


class Health:
    """Looks at the files of one build. Keeps no engine alive, and ends with the process."""

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        """Compares the small files; a DamagedError where one is not what the manifest says."""
        self.damage = ""
        """The first damage that was found, in one sentence; empty while there is none."""
        self._folder = folder
        large = [entry for entry in manifest.files if entry.size > SMALL]
        for entry in manifest.files:
            if entry.size <= SMALL or entry.path == CHECKSUMS:
                require_content(folder, entry)
        sums = read_checksums(folder)
        self.blocks = {
            entry.path: Blocks(folder / entry.path, sums[entry.path], self.tell)
            for entry in large
            if entry.path in sums
        }
        """Of the large files that have checksums by block."""
        self._whole = [entry for entry in large if entry.path not in self.blocks]
        self._thread = threading.Thread(target=self._look, name=f"health of {folder.name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all files were looked at; whether they were."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def tell(self, damage: str) -> None:
        self.damage = self.damage or damage

    def _look(self) -> None:
        try:
            for entry in self._whole:
                require_content(self._folder, entry)
            for blocks in self.blocks.values():
                blocks.require_all()
        except (DamagedError, OSError) as error:
            # A build that was removed since, as old ones are, is not damaged: its open files are still whole.
            if (self._folder / MANIFEST).is_file():
                self.tell(str(error))


def require_content(folder: Path, entry: FileEntry) -> None:
    """Compare a whole file with the checksum in the manifest."""
    path = folder / entry.path
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise damaged(path, f"cannot be read ({error.strerror})") from error
    if found != entry.sha256:
        raise damaged(path, "has another content than when it was built (its checksum differs)")


def builds_to_serve(corpus: Path) -> list[Path]:
    """The served build, then the others that are complete, the newest first."""
    current = current_name(corpus)
    complete = [path.parent for path in (corpus / BUILDS).glob(f"*/{MANIFEST}")]
    others = sorted(
        (each for each in complete if each.name != current), key=lambda each: each.name, reverse=True
    )
    return [corpus / BUILDS / current, *others]


def notice_of(damage: str, corpus: Path, served: Manifest) -> str:
    """What users are told when an older build is served in the place of a damaged one."""
    return (
        f"The newest build of this corpus is damaged, so the one before it is served "
        f"({served.papers:,} papers, of {served.created[:10]}). {damage.split('; ')[0]}. "
        f"To repair it, run `python -m index_build build --out {corpus}`."
    )
