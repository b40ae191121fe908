"""Which records became one paper, why, and what each of them gave to it; and how to undo it."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from index_build.publish import only_writer
from search.corpus.layout import STORE
from search.corpus.store import Store
from search.corpus.store.identity import why_same
from search.references import NAMES
from search.types import Paper

_FIELDS = ("title", "abstract", "authors", "year", "venue", "fields", "doi", "arxiv_id", "pmid", "url")
COLUMNS = ("paper", "title", "year", "record", "source", "why", "gave")


@dataclass(frozen=True, slots=True)
class Joined:
    """One record of a paper that has several."""

    id: str
    source: str
    why: str
    """Why it is the same paper as a record before it; empty for the first."""
    gave: tuple[str, ...]
    """The fields of the paper that come from it."""


@dataclass(frozen=True, slots=True)
class Merge:
    paper: Paper
    records: tuple[Joined, ...]


@dataclass(frozen=True, slots=True)
class Report:
    merges: tuple[Merge, ...]
    records: dict[str, int]
    """All records by source."""
    joined: dict[str, int]
    """Those that joined a record before them, by source."""
    apart: int
    """Pairs that somebody split."""


def report(corpus: Path) -> Report:
    """What the import of a corpus has joined so far."""
    with Store.open(corpus / STORE) as store:
        merges = tuple(_merge(paper, records) for paper, records in store.joined())
        records, apart = store.records_by_source(), len(store.apart())
    joined = [record.source for merge in merges for record in merge.records[1:]]
    return Report(merges, records, {source: joined.count(source) for source in records}, apart)


def split(corpus: Path, id: str, other: str = "") -> tuple[str, ...]:
    """Keep records apart from the next build on; the ids that `id` was joined with."""
    with only_writer(corpus), Store.open(corpus / STORE, read_only=False) as store:
        return store.split(id, other)


def _merge(paper: Paper, records: Sequence[Paper]) -> Merge:
    whys = [_why(record, records[:place]) for place, record in enumerate(records)]
    given = _given(paper, records)
    joined = zip(records, whys, given, strict=True)
    return Merge(paper, tuple(Joined(record.id, record.source, why, gave) for record, why, gave in joined))


def _why(record: Paper, before: Sequence[Paper]) -> str:
    found = (why_same(other, record) for other in before)
    return next(filter(None, found), "through a record that both share" if before else "")


def _given(paper: Paper, records: Sequence[Paper]) -> list[tuple[str, ...]]:
    """For each record the fields whose value it was the first to have; lists may come from several."""
    gave: list[list[str]] = [[] for _ in records]
    for name, value, values in _values(paper, records):
        parts = set(value) if isinstance(value, tuple) else {value}
        for place, own in enumerate(values):
            mine = set(own) if isinstance(own, tuple) else {own}
            if parts & mine:
                gave[place].append(name)
                parts -= mine
    return [tuple(names) for names in gave]


def _values(paper: Paper, records: Sequence[Paper]) -> Iterator[tuple[str, object, list[object]]]:
    for name in _FIELDS:
        yield name, getattr(paper, name), [getattr(record, name) for record in records]
    for name in NAMES:
        values = [getattr(record.reference, name) for record in records]
        yield name, getattr(paper.reference, name), values


def rows(merges: Sequence[Merge]) -> list[dict[str, str]]:
    """One row for each record, under COLUMNS."""
    return [
        {
            "paper": merge.paper.id,
            "title": merge.paper.title,
            "year": str(merge.paper.year or ""),
            "record": record.id,
            "source": record.source,
            "why": record.why or "first record",
            "gave": ", ".join(record.gave),
        }
        for merge in merges
        for record in merge.records
    ]


def write_csv(merges: Sequence[Merge], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows(merges))


def describe(found: Report) -> str:
    """The report as text."""
    lines = [
        f"{source or 'unknown':<12} {count:,} records, {found.joined.get(source, 0):,} joined an earlier one"
        for source, count in found.records.items()
    ]
    if found.apart:
        lines.append(f"{found.apart:,} pairs are kept apart by hand")
    for merge in found.merges:
        year = f" ({merge.paper.year})" if merge.paper.year else ""
        lines += ["", f"{merge.paper.title or merge.paper.id}{year}"]
        for record in merge.records:
            gave = ", ".join(record.gave) or "nothing new"
            lines.append(f"  {record.id} [{record.source}]: {record.why or 'first record'}; gave {gave}")
    return "\n".join(lines)
