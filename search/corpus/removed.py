"""Papers of older segments that are no more, or stand in a later segment in another form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from search.corpus.arrays import map_array, write_array
from search.corpus.bm25 import number_of
from search.corpus.checksums import damaged
from search.corpus.manifest import Segment


@dataclass(frozen=True, slots=True)
class Removed:
    """Of one segment."""

    rows: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    """Rows within the segment, ascending."""
    terms: Mapping[int, int] = field(default_factory=dict)
    """How many of these papers have each term, by the term's number: so much rarer it has become."""

    def having(self, term: str) -> int:
        return self.terms.get(number_of(term), 0) if self.terms else 0

    def write(self, build: Path, segment: Segment) -> None:
        rows, terms = _files(build, segment)
        write_array(rows, self.rows.astype(np.int32))
        write_array(terms, np.array(sorted(self.terms.items()), np.uint64).reshape(-1, 2))


def read_removed(build: Path, segment: Segment) -> Removed:
    """What the build in `build` has removed of one of its segments."""
    if not segment.removed:
        return Removed()
    path, of_terms = _files(build, segment)
    rows = np.array(map_array(path, np.int32))
    if (
        len(rows) != segment.removed
        or (np.diff(rows) <= 0).any()
        or rows[0] < 0
        or rows[-1] >= segment.papers
    ):
        raise damaged(path, f"names {len(rows)} papers, not {segment.removed} of {segment.papers}")
    counts = map_array(of_terms, np.uint64, columns=True)
    if counts.shape[1] != 2:
        raise damaged(of_terms, "holds no counts of terms")
    return Removed(rows, Counter(dict(counts.tolist())))


def _files(build: Path, segment: Segment) -> tuple[Path, Path]:
    """They lie in the build's own folder: a segment's files are shared with older builds."""
    name = f"removed-{segment.folder or 0}"
    return build / f"{name}.npy", build / f"{name}.terms.npy"
