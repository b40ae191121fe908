"""What a build takes over from the served one, and what it makes anew.

A build is a few segments. What was added since goes into a new one, together with the small ones before it,
so that each segment is several times as large as the next and there are never many.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from index_build.publisher import terms_of
from search.corpus import layout
from search.corpus.arrays import map_array
from search.corpus.bm25 import number_of
from search.corpus.manifest import Manifest, Segment, check_build
from search.corpus.removed import Removed, read_removed
from search.corpus.store import Snapshot
from search.corpus.store.merged import Stamps
from search.errors import CorpusError

WHOLE = 10_000
"""Papers up to which everything is made anew: that takes seconds, and one segment is searched fastest."""
TIMES = 4
"""How many times larger than what follows a segment is at least; smaller ones are made anew with it."""
CHANGED = 0.2
"""Share of new and removed papers from which everything is made anew. These were chosen by hand."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A segment that stays, with what has been removed of it."""

    segment: Segment
    removed: Removed


@dataclass(frozen=True, slots=True)
class Growth:
    """From the served build to the next."""

    base: Path | None
    """The served build's folder, whose segments are kept; None where all is made anew."""
    kept: tuple[Kept, ...]
    added: Stamps
    """Of the papers that the new segment holds."""
    average_terms: float = 0.0
    """As in the build that segments are kept of: scores of all segments are to be of one kind."""

    @property
    def papers(self) -> int:
        return len(self.added.numbers) + sum(each.segment.papers - each.segment.removed for each in self.kept)


def plan_growth(
    corpus: Path, current: Manifest | None, planned: Manifest, now: Stamps, whole: bool
) -> Growth:
    """The segments that stay and the papers that make up a new one; all papers where `whole`."""
    everything = Growth(None, (), now)
    if whole or current is None or len(now.keys) <= WHOLE or not _is_alike(current, planned):
        return everything
    try:
        base = layout.current_build(corpus)
        check_build(base)
        paths = [base / segment.folder / layout.STAMPS for segment in current.parts]
        stamps = [map_array(path, np.uint64, columns=True) for path in paths]
    except (CorpusError, OSError):  # damaged, or of a version that kept no stamps
        return everything
    owners = owners_of(stamps, now)
    standing = [int((owners == number).sum()) for number in range(len(stamps))]
    count = len(stamps)
    while count and standing[count - 1] < TIMES * (len(now.keys) - sum(standing[:count])):
        count -= 1
    rows = sum(each.papers for each in current.parts[:count])
    added = len(now.keys) - sum(standing[:count])
    if not count or added + rows - sum(standing[:count]) > CHANGED * len(now.keys):
        return everything
    kept = [
        _kept(base, segment, np.array(stamps[number]), now, owners == number)
        for number, segment in enumerate(current.parts[:count])
    ]
    new = (owners < 0) | (owners >= count)
    return Growth(
        base, tuple(kept), Stamps(now.keys[new], now.stamps[new], now.numbers[new]), current.average_terms
    )


def _is_alike(current: Manifest, planned: Manifest) -> bool:
    """Whether segments of both can stand side by side."""
    same = ("encoder", "facets", "tokenizer", "dimension", "bm25_k1", "bm25_b")
    return current.average_terms > 0 and all(
        getattr(current, name) == getattr(planned, name) for name in same
    )


def owners_of(stamps: Sequence[NDArray[np.uint64]], now: Stamps) -> NDArray[np.int64]:
    """[P] of each paper the last segment that has it as it is now; -1 where none has."""
    owners = np.full(len(now.keys), -1)
    for number, mine in enumerate(stamps):
        owners[_places(mine, now) >= 0] = number
    return owners


def _places(mine: NDArray[np.uint64], now: Stamps) -> NDArray[np.int64]:
    """[P] the row in a segment of each paper as it is now; -1 where it is not there, or in another form."""
    order = np.argsort(mine[:, 0], kind="stable")
    if not len(order):
        return np.full(len(now.keys), -1)
    place = order[np.minimum(np.searchsorted(mine[:, 0], now.keys, sorter=order), len(order) - 1)]
    return np.where((mine[place, 0] == now.keys) & (mine[place, 1] == now.stamps), place, -1)


def _kept(
    base: Path, segment: Segment, stamps: NDArray[np.uint64], now: Stamps, is_owner: NDArray[np.bool_]
) -> Kept:
    standing = np.zeros(segment.papers, bool)
    standing[_places(stamps, now)[is_owner]] = True
    rows = np.flatnonzero(~standing).astype(np.int32)
    before = read_removed(base, segment)
    terms = Counter(before.terms)
    with Snapshot.open(base / segment.folder / layout.STORE) as store:
        terms.update(_terms(store, np.setdiff1d(rows, before.rows)))
        terms.subtract(_terms(store, np.setdiff1d(before.rows, rows)))
    counts = {number: count for number, count in terms.items() if count}
    return Kept(replace(segment, removed=len(rows)), Removed(rows, counts))


def _terms(store: Snapshot, rows: NDArray[np.integer]) -> Counter[int]:
    """How many of these papers have each term."""
    found: Counter[int] = Counter()
    for start in range(0, len(rows), 1000):
        for paper in store.papers_by_row(rows[start : start + 1000]):
            found.update(map(number_of, terms_of(paper)))
    return found


def take_over(growth: Growth, folder: Path) -> None:
    """The kept segments in a new build's folder, without copying where the system can."""
    for kept in growth.kept:
        assert growth.base is not None
        source, target = growth.base / kept.segment.folder, folder / kept.segment.folder
        for name in FILES:
            for path in _files(source / name):
                copy = target / path.relative_to(source)
                copy.parent.mkdir(exist_ok=True)
                _link(path, copy)
        if kept.segment.removed:
            kept.removed.write(folder, kept.segment)


FILES = (
    layout.STORE, layout.SENTENCE_VECTORS, layout.PAPER_VECTORS, layout.SENTENCE_INDEX, layout.PAPER_INDEX,
    layout.LEXICAL, layout.OFFSETS, layout.PANELS, layout.STAMPS,
)  # fmt: skip
"""What a segment is made of: files, and one folder of files."""


def _files(path: Path) -> list[Path]:
    return sorted(path.iterdir()) if path.is_dir() else [path]


def _link(path: Path, target: Path) -> None:
    try:
        os.link(path, target)
    except OSError:  # another file system, or one without links
        shutil.copyfile(path, target)
