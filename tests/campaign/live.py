"""Fetches from sources that go wrong, and fetches that are killed: nothing lost, or the gap is named."""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import signal
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from index_build.fetch.updating import Update, fetch_all
from index_build.fetch.values import Wish
from search.corpus.layout import STORE
from search.corpus.store import Store
from search.settings import Settings
from tests.campaign.tally import Effort, Tally, repeat
from tests.live import world
from tests.live.client import Servers

MOST_RUNS = 6
"""How often a fetch that a source ended is gone on with before that counts as a failure."""
WISHES = {
    "arxiv": Wish("arxiv", text="cat:cs.CL", since="2025-12-20", until="2026-04-30"),
    "arxiv category": Wish("arxiv", category="cs.CL"),
    "arxiv feed": Wish("arxiv", category="cs.CL", feed=True),
    "openalex": Wish("openalex", text="rivers"),
    "pubmed": Wish("pubmed", text="rivers", since="2025-12-20", until="2026-04-30"),
    "europepmc": Wish("europepmc", text="rivers"),
    "semanticscholar": Wish("semanticscholar", text="rivers"),
    "crossref": Wish("crossref", text="rivers"),
    "biorxiv": Wish("biorxiv", server="biorxiv", since="2026-01-01", until="2026-03-31"),
    "openreview": Wish("openreview", text="Rivers.org/2026/Meeting"),
    "zotero": Wish("zotero"),
    "citations": Wish("citations", text="W4000000"),
    "doi": Wish("doi"),
}
"""One for each way to ask; the list of identifiers is made for each try."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a try takes place."""

    servers: Servers
    folder: Path
    wish: Wish
    records: list[world.Record]
    settings: Settings

    @property
    def corpus(self) -> Path:
        return self.settings.corpus


def set_up(servers: Servers, folder: Path, kind: str, number: int, **plan: Any) -> Stage:
    """The servers with the records of this try, and an empty corpus."""
    dice = random.Random(f"stage {number}")
    count = dice.choice((1, 6, 7, 8, 14, 20, 31, 40))
    seed = number % 999
    wish = WISHES[kind]
    records = world.make(count, seed)
    if kind == "doi":
        spellings = [_spelled(dice, record) for record in records]
        wish = Wish("doi", ids=(*spellings, "10.5555/nobody.knows", "word"))
    citations = {"cites:W4000000": list(range(count))}
    servers.reset(records=count, seed=seed, citations=citations, **plan)
    shutil.rmtree(folder / "try", ignore_errors=True)
    return Stage(servers, folder, wish, records, servers.settings(folder / "try"))


def _spelled(dice: random.Random, record: world.Record) -> str:
    return dice.choice(
        (
            f"https://doi.org/{record.doi.upper()}",
            f"doi:{record.doi}",
            f"arXiv:{record.arxiv_id}v2",
            f"https://arxiv.org/pdf/{record.arxiv_id}",
            f"https://pubmed.ncbi.nlm.nih.gov/{record.pmid}/",
            record.pmid,
        )
    )


def run(effort: Effort) -> Tally:
    os.environ["TRIPTYCH_CACHE"] = str(effort.folder / "cache")
    servers = Servers()
    kinds = list(WISHES)

    def attempt(number: int) -> tuple[str, str]:
        kind = kinds[number % len(kinds)]
        share = random.Random(f"share {number}").uniform(0.05, 0.6)
        stage = set_up(servers, effort.folder, kind, number, share=share)
        found = _until_done(stage)
        problem = "; ".join(servers.excess()[:3]) or judge(stage, found)
        return kind, problem

    try:
        tally = repeat("sources", effort, attempt)
    finally:
        servers.close()
    return tally


def _until_done(stage: Stage) -> Update:
    for _ in range(MOST_RUNS):
        found = fetch_all(stage.corpus, [stage.wish], stage.settings)
        if not found.failed:
            return found
    raise AssertionError(f"not done after {MOST_RUNS} runs: {found.failed}")


def judge(stage: Stage, found: Update) -> str:
    """What is wrong with the corpus; nothing where each record is there once or the gap was named."""
    titles = Counter(stored_titles(stage.corpus))
    doubled = [title for title, times in titles.items() if times > 1]
    if doubled:
        return f"doubled: {doubled[:2]}"
    strange = set(titles) - {record.title for record in stage.records}
    if strange:
        return f"strange: {sorted(strange)[:2]}"
    lost = [record.title for record in stage.records if record.title not in titles]
    missing = [word for done in found.done for word, why in done.fetched.missing.items()]
    named = found.gaps or (stage.wish.source == "doi" and len(missing) >= len(lost) + 2)
    if lost and not named:
        return f"lost without a word: {len(lost)} of {len(stage.records)}, such as {lost[0]}"
    return ""


def stored_titles(corpus: Path) -> list[str]:
    if not (corpus / STORE).is_file():
        return []
    with Store.open(corpus / STORE) as store:
        rows = store._connection.cursor().execute("SELECT DISTINCT paper FROM records").fetchall()
        papers = [store.paper(id) for (id,) in rows]
    return [paper.title for paper in papers if paper]


# -- killed


def run_killed(effort: Effort) -> Tally:
    os.environ["TRIPTYCH_CACHE"] = str(effort.folder / "cache")
    servers = Servers()
    kinds = list(WISHES)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.campaign.live"])

    def attempt(number: int) -> tuple[str, str]:
        kind = kinds[number % len(kinds)]
        dice = random.Random(f"kill {number}")
        calm = set_up(servers, effort.folder, kind, number)
        fetch_all(calm.corpus, [calm.wish], calm.settings)
        wanted = fingerprint(calm.corpus)
        stage = set_up(servers, effort.folder, kind, number, delay=0.01)
        kills = 0
        for _ in range(5):
            process = context.Process(target=_work, args=(stage.corpus, stage.wish, stage.settings))
            process.start()
            process.join(dice.uniform(0.02, 0.7))
            if process.exitcode is None and process.pid:
                os.kill(process.pid, signal.SIGKILL)
                kills += 1
            process.join()
            time.sleep(0.02)  # the server finishes with the request that nobody waits for
        fetch_all(stage.corpus, [stage.wish], stage.settings)
        problem = "; ".join(servers.excess()[:3])
        if not problem and fingerprint(stage.corpus) != wanted:
            problem = f"another corpus after {kills} kills"
        return kind, problem

    try:
        return repeat("fetch-kill", effort, attempt)
    finally:
        servers.close()


def _work(corpus: Path, wish: Wish, settings: Settings) -> None:
    fetch_all(corpus, [wish], settings)


def fingerprint(corpus: Path) -> str:
    with Store.open(corpus / STORE) as store:
        return store.fingerprint()
