"""How much memory and disk a build takes, told before it begins."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from search.errors import CorpusError

LEAST, MOST = 512, 2048
"""Megabytes that a build takes beside the model, unless a setting says otherwise."""
SHARE = 4
"""Without a setting a build takes one part in this many of the machine's memory. Chosen by hand."""
POSTING = 60
"""Bytes of one term of one paper while it is sorted, on average."""
TEXT, TERMS = 3000, 110
"""Bytes of a paper in the store, and its different terms: the means of the ACL Anthology, rounded up."""
SPARE = 1.1


@dataclass(frozen=True, slots=True)
class Memory:
    """Megabytes, shared out among what runs at the same time."""

    total: int

    @property
    def database(self) -> int:
        """Of each of the two databases; DuckDB needs some for each of its threads."""
        return max(self.total // 4, 256)

    @property
    def postings(self) -> int:
        """Terms of papers that are sorted together."""
        return max(self.total // 4, 64) * 10**6 // POSTING


def memory_of(setting: int) -> Memory:
    """`setting` in megabytes; 0 takes a share of the machine's."""
    if setting:
        return Memory(setting)
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 10**6
    except (AttributeError, ValueError, OSError):  # Windows
        machine = SHARE * LEAST
    return Memory(min(max(machine // SHARE, LEAST), MOST))


def disk_needed(papers: int, sentences: int, dimension: int, cached: bool) -> int:
    """Bytes that a build of so many new papers takes on disk at its peak, from above."""
    vector, code = 2 * dimension, dimension + 16
    of_sentence = vector + 2 * code + 60 + (0 if cached else vector + 10)
    of_paper = vector + 2 * code + TEXT + TERMS * 24 + (0 if cached else vector + 40)
    return int(SPARE * (papers * of_paper + sentences * of_sentence))


ASKED_FROM = 100_000_000
"""Bytes of a build from which the room on the disk is looked at beforehand; a smaller one soon finds out.
Chosen by hand."""


def require_disk(corpus: Path, needed: int) -> None:
    free = shutil.disk_usage(corpus).free
    if needed > max(free, ASKED_FROM):
        raise CorpusError(
            f"The build needs about {needed / 1e9:,.1f} GB on disk and {corpus} has {free / 1e9:,.1f} GB "
            "left: free some space or build elsewhere with `--out DIR`; what is served stays as it is."
        )
