"""From answers on disk into the corpus: as often as one likes, without the network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from index_build.fetch import zotero
from index_build.fetch.addresses import place_of
from index_build.fetch.catalogue import source_of
from index_build.fetch.journal import Journal, KeptPage, Run, raw_folder
from index_build.fetch.marking import WITHDRAWN
from index_build.fetch.readers import READERS
from index_build.importing import Summary, import_papers
from index_build.publish import only_writer
from index_build.sources.rejects import Reason, Reject, log, reject
from search.corpus.layout import STORE
from search.corpus.store import Store
from search.errors import CorpusError
from search.settings import Settings
from search.types import Paper, Progress

TOGETHER = 500
"""Records whose origins are noted at a time; chosen by hand."""


@dataclass(frozen=True, slots=True)
class TakenIn:
    summary: Summary
    withdrawn: int
    """Papers of the corpus that the source has withdrawn since."""


def take_in(
    corpus: Path, journal: Journal, run: Run, settings: Settings, progress: Progress | None = None
) -> TakenIn:
    """The papers of one run into the store, and what the source has withdrawn marked there."""
    mark, was_behind = behind_mark(corpus), is_behind(corpus)
    mark.touch()  # until it is known that nothing changed, or a build has it
    origin = source_of(run.wish).told(run.wish)
    items = _with_origins(_papers(journal, run, settings), journal, origin)
    origins = [str(raw_folder(corpus) / journal.file_of(run, page.key)) for page in journal.pages(run)]
    summary = import_papers(corpus, items, origins, progress=progress, expected=run.received)
    gone = [id for page in journal.pages(run) for id in page.gone]
    marked = mark_withdrawn(corpus, gone) if gone else 0
    journal.took_in(run)
    stored = summary.stored
    if stored.total == stored.unchanged and not marked and not was_behind:
        mark.unlink()
    return TakenIn(summary, marked)


def behind_mark(corpus: Path) -> Path:
    """The file that is there while papers that were taken in are in no build yet."""
    return raw_folder(corpus) / "not-served"


def is_behind(corpus: Path) -> bool:
    """Whether a build is due, because one was stopped before it was served."""
    return behind_mark(corpus).exists()


def _papers(journal: Journal, run: Run, settings: Settings) -> Iterator[Paper | Reject]:
    """The papers of all pages, each with what the source says of its abstract."""
    pages = journal.pages(run)
    if run.wish.source == "zotero":
        bodies = [_body(journal, run, page) for page in pages]
        place = place_of("zotero", settings)
        items = zotero.read_library(bodies, place.title)
        yield from (_told_by(item, place.title, "") for item in items)
        return
    for page in pages:
        name = page.source or run.wish.source
        place = place_of(name, settings)
        file = str(journal.folder / journal.file_of(run, page.key))
        count, body = 0, _body(journal, run, page)
        try:
            for item in READERS[name].read(body, file):
                count += 1
                yield _told_by(item, place.title, place.rights)
        except Exception as error:  # no answer ends an import
            log.warning("%s after %d records: %r", file, count, error)
            yield reject(file, f"after record {count}", Reason.FAULT)
            continue
        if count < page.records - len(page.gone) and not page.source:
            yield reject(file, f"after record {count}", Reason.UNFINISHED)


def _body(journal: Journal, run: Run, page: KeptPage) -> bytes:
    kept = journal.kept(run, page.key)
    if kept is None:
        raise CorpusError(
            f"An answer of {run.wish.source} is missing or damaged in {journal.folder}: fetch it anew with "
            "the same command."
        )
    return kept.body


def _told_by(item: Paper | Reject, source: str, rights: str) -> Paper | Reject:
    """Who gave the abstract, and under what: as the record says it, else as the source does of all."""
    if isinstance(item, Reject) or not item.abstract:
        return item
    licence = item.reference.licence or rights
    return replace(item, reference=replace(item.reference, abstract_from=source, abstract_licence=licence))


def _with_origins(items: Iterator[Paper | Reject], journal: Journal, origin: str) -> Iterator[Paper | Reject]:
    """Papers with every way they ever came: a record that is read anew forgets none."""
    while some := list(islice(items, TOGETHER)):
        names = [f"{item.source} {item.id}" if isinstance(item, Paper) else "" for item in some]
        journal.add_origins(filter(None, names), origin)
        known = journal.origins(names)
        for name, item in zip(names, some, strict=True):
            if isinstance(item, Paper):
                item = replace(item, reference=replace(item.reference, origins=known[name]))
            yield item


def mark_withdrawn(corpus: Path, ids: list[str]) -> int:
    """Marks the records with these ids; how many of them were not marked before."""
    with only_writer(corpus), Store.open(corpus / STORE, read_only=False) as store:
        fresh = [
            replace(paper, reference=replace(paper.reference, status=WITHDRAWN))
            for paper in store.records(ids)
            if not paper.reference.status
        ]
        if fresh:
            store.add(fresh)
    return len(fresh)
