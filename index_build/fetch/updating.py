"""Fetches that were made before, gone on with or brought up to date, and what came of them in one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from index_build.fetch.catalogue import source_of
from index_build.fetch.fetching import Fetched, fetch, require_allowed
from index_build.fetch.journal import Journal, has_journal, now, only_fetcher
from index_build.fetch.pace import Stop, nobody
from index_build.fetch.taking_in import TakenIn, behind_mark, is_behind, take_in
from index_build.fetch.values import Wish
from index_build.importing import Summary
from search.corpus.manifest import Manifest, served
from search.corpus.store import AddReport
from search.errors import CorpusError, SourceError
from search.settings import Settings
from search.types import Progress


@dataclass(frozen=True, slots=True)
class Done:
    """One wish that was fetched and taken in."""

    wish: Wish
    fetched: Fetched
    taken: TakenIn


@dataclass(slots=True)
class Update:
    done: list[Done] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    """The wishes that could not be asked for, in words, and why."""
    manifest: Manifest | None = None
    """The build that was made; None where nothing changed."""

    @property
    def stored(self) -> AddReport:
        return sum((each.taken.summary.stored for each in self.done), AddReport())

    @property
    def withdrawn(self) -> int:
        return sum(each.taken.withdrawn for each in self.done)

    @property
    def gaps(self) -> list[str]:
        return [gap for each in self.done for gap in each.fetched.gaps]

    @property
    def is_well(self) -> bool:
        return not self.failed and not self.gaps

    @property
    def has_news(self) -> bool:
        stored = self.stored
        return bool(stored.total - stored.unchanged or self.withdrawn)

    def line(self) -> str:
        """What cron mails."""
        stored, asked = self.stored, len(self.done) + len(self.failed)
        serves = f"; serves {self.manifest.papers:,} papers" if self.manifest else ""
        return (
            f"{now()} {len(self.done)} of {asked} fetches up to date: {stored.added:,} papers added, "
            f"{stored.replaced:,} changed, {self.withdrawn:,} withdrawn, {len(self.gaps)} gaps{serves}."
        )


def fetch_all(
    corpus: Path,
    wishes: Sequence[Wish],
    settings: Settings,
    progress: Progress | None = None,
    stop: Stop = nobody,
    news: bool = False,
) -> Update:
    """Fetches each wish and takes its papers in; one source that fails does not keep the others."""
    require_allowed(settings)
    report = progress or (lambda step, done, total: None)
    update = Update()
    with only_fetcher(corpus), Journal(corpus) as journal:
        for wish in wishes:
            told = source_of(wish).told(wish)
            try:
                fetched = fetch(corpus, wish, settings, report, stop, news)
                taken = take_in(corpus, journal, fetched.run, settings, progress)
                update.done.append(Done(wish, fetched, taken))
            except SourceError as error:
                update.failed[told] = str(error)
    return update


def take_in_again(corpus: Path, settings: Settings, progress: Progress | None = None) -> list[Summary]:
    """Every answer that is kept, into the corpus once more, without the network."""
    _require_fetches(corpus)
    with only_fetcher(corpus), Journal(corpus) as journal:
        return [take_in(corpus, journal, run, settings, progress).summary for run in journal.runs()]


def serve(corpus: Path, settings: Settings, progress: Progress | None = None) -> Manifest:
    """A build of what the store holds now; with the encoder of the build before, where there is one."""
    from index_build.steps import as_built, build  # not before it is needed: models take seconds to load

    settings = as_built(settings) if served(corpus) is not None else settings
    manifest = build(corpus, settings, progress)
    behind_mark(corpus).unlink(missing_ok=True)
    return manifest


def update(corpus: Path, settings: Settings, progress: Progress | None = None, stop: Stop = nobody) -> Update:
    """Everything fetched before, only what is new or changed; a build is made where anything is."""
    _require_fetches(corpus)
    with Journal(corpus) as journal:
        wishes = journal.wishes()
    found = fetch_all(corpus, wishes, settings, progress, stop, news=True)
    if found.has_news or is_behind(corpus):
        found.manifest = serve(corpus, settings, progress)
    return found


def _require_fetches(corpus: Path) -> None:
    if not has_journal(corpus):
        raise CorpusError(
            f"Nothing was fetched into {corpus} yet: begin with "
            f"`python -m index_build fetch SOURCE --out {corpus}`."
        )
