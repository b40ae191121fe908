"""Papers into the working store, batch by batch: what was reported as stored survives a crash."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self

from index_build import sources
from index_build.filters import Rule
from index_build.publish import only_writer
from index_build.sources import Reject
from index_build.sources.rejects import attempt
from search.corpus.layout import REJECTS, STORE
from search.corpus.store import AddReport, Store
from search.errors import InputError
from search.text.sentences import split_paper
from search.types import Paper, Progress

BATCH = 1000
"""Papers stored in one transaction, which a crash can lose; chosen by hand."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What became of every record of an import."""

    stored: AddReport = field(default_factory=AddReport)
    rejected: dict[str, int] = field(default_factory=dict)
    """By reason; each is in the rejects file."""
    filtered: dict[str, int] = field(default_factory=dict)
    """By rule."""
    rejects_file: Path | None = None
    seconds: float = 0.0

    @property
    def read(self) -> int:
        return self.stored.total + sum(self.rejected.values()) + sum(self.filtered.values())


def import_files(
    corpus: Path,
    paths: Sequence[Path],
    rules: Sequence[Rule] = (),
    limit: int | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Import files and folders; `limit` counts the papers that pass the rules."""
    files = [file for path in paths for file in sources.files_of(path)]
    size = sum(file.stat().st_size for file in files)
    done = 0

    def count_bytes(number: int) -> None:
        nonlocal done
        done += number

    def report(step: str, papers: int, total: int) -> None:
        expected = round(papers * size / done) if done else 0
        if progress:
            progress(step, papers, min(expected, limit or expected))

    items = (item for file in files for item in sources.read(file, count_bytes))
    return import_papers(corpus, items, [str(file) for file in files], rules, limit, report)


def import_papers(
    corpus: Path,
    items: Iterable[Paper | Reject],
    origins: Sequence[str] = (),
    rules: Sequence[Rule] = (),
    limit: int | None = None,
    progress: Progress | None = None,
    expected: int = 0,
) -> Summary:
    """Split, filter and store what a source gives; `origins` are the files it is read from."""
    started = time.monotonic()
    if limit is not None and limit < 1:
        raise InputError(f"The limit is {limit} papers; it must be at least 1.")
    filtered: Counter[str] = Counter()
    with (
        only_writer(corpus),
        _open_store(corpus / STORE) as store,
        _RejectsFile(corpus / REJECTS, origins) as rejects,
    ):
        kept = _kept(items, rules, rejects, filtered, limit)
        report = AddReport()
        total = 0
        for batch in _batches(kept):
            report += store.add(batch)
            rejects.flush()
            total += len(batch)
            if progress:
                progress("import", total, limit or expected)
    return Summary(
        stored=report,
        rejected=dict(rejects.reasons.most_common()),
        filtered=dict(filtered.most_common()),
        rejects_file=rejects.path if rejects.reasons else None,
        seconds=time.monotonic() - started,
    )


def _open_store(path: Path) -> Store:
    return Store.open(path, read_only=False) if path.exists() else Store.create(path)


def _kept(
    items: Iterable[Paper | Reject],
    rules: Sequence[Rule],
    rejects: _RejectsFile,
    filtered: Counter[str],
    limit: int | None,
) -> Iterator[Paper]:
    """Papers with their sentences that pass all rules; the others are counted on the way."""
    count = 0
    for item in items:
        if isinstance(item, Reject):
            rejects.add(item)
            continue
        paper = attempt(partial(split_paper, item), rejects.origin, item.id, item.title)
        if isinstance(paper, Reject):
            rejects.add(paper)
            continue
        reason = next((reason for rule in rules if (reason := rule(paper))), "")
        if reason:
            filtered[reason] += 1
            continue
        yield paper
        count += 1
        if count == limit:
            return


def _batches(papers: Iterator[Paper]) -> Iterator[list[Paper]]:
    while batch := list(islice(papers, BATCH)):
        yield batch


class _RejectsFile:
    """One line of JSON for each record that was not read; an import replaces the lines of its own files."""

    def __init__(self, path: Path, origins: Iterable[str]) -> None:
        self.path = path
        self.reasons: Counter[str] = Counter()
        self._origins = frozenset(origins)
        self._draft = path.with_name(path.name + ".part")

    def __enter__(self) -> Self:
        self._draft.unlink(missing_ok=True)  # a stranger's may be a link to a file of ours
        self._file = self._draft.open("w", encoding="utf-8")
        if self.path.exists():
            with self.path.open(encoding="utf-8", errors="replace") as old:
                self._file.writelines(line for line in old if not self._is_outdated(line))
        return self

    def _is_outdated(self, line: str) -> bool:
        """Of a file that is read again, or cut off when a run ended early."""
        try:
            return json.loads(line)["source"] in self._origins
        except (ValueError, KeyError, TypeError, RecursionError):
            return True

    @property
    def origin(self) -> str:
        """The file, where there is only one."""
        return next(iter(self._origins)) if len(self._origins) == 1 else "import"

    def add(self, reject: Reject) -> None:
        self.reasons[reject.reason] += 1
        self._file.write(json.dumps(asdict(reject), ensure_ascii=False) + "\n")

    def flush(self) -> None:
        self._file.flush()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._draft.replace(self.path)
        if not self.path.stat().st_size:
            self.path.unlink()
