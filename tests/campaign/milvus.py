"""Kills a Milvus server while a corpus is published to it: what was served stays, and the rest goes on."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path

from index_build.moving import engine_on
from search.corpus.milvus.corpus import MilvusCorpus
from search.engine import Engine
from search.errors import CorpusError
from search.types import Query
from tests import milvus_corpora
from tests.campaign.tally import Effort, Tally, repeat
from tests.milvus_servers import MilvusServer, lacks, lacks_real, running

LONGEST = {"real": 25.0, "small": 4.0}
"""Seconds within which the server is killed: about as long as an undisturbed publish takes."""
LOADING = 180.0
"""Seconds after which a server that was started again must have loaded what it served."""


def run(effort: Effort, kind: str = "real") -> Tally:
    _require(kind)
    folder = milvus_corpora.make_folder(effort.folder / "corpus", few=True)
    with running(kind, effort.folder / "data") as server:
        milvus_corpora.publish(folder, MilvusCorpus(server.address()))
        papers = [MilvusCorpus(server.address()).manifest(_build(server)).papers]

        def attempt(number: int) -> tuple[str, str]:
            grown = milvus_corpora.make_folder(folder, milvus_corpora.one_more(number), few=True)
            moment = random.Random(f"moment {number}").uniform(0, LONGEST[kind])
            what = _killed_after(moment, server, grown)
            server.start()
            engine = loaded(server.address())
            served = engine.store.manifest.papers
            if served not in (papers[-1], papers[-1] + 1):
                return what, f"{served} papers are served after the crash"
            if len(search(engine).split()) < 3:
                return what, "nothing is found after the crash"
            target = MilvusCorpus(server.address())
            milvus_corpora.publish(grown, target)
            done = target.open(target.builds()[0], target.manifest(target.builds()[0]))
            papers.append(papers[-1] + 1)
            if done.manifest.papers != papers[-1]:
                return what, f"{done.manifest.papers} papers instead of {papers[-1]} in the end"
            return what, done.health.damage

        return repeat(f"milvus {kind}", effort, attempt)


def _require(kind: str) -> None:
    if missing := lacks_real() if kind == "real" else lacks("pymilvus", "milvus_lite"):
        raise SystemExit(missing)


def run_small(effort: Effort) -> Tally:
    """The same with the small server, in seconds."""
    return run(effort, "small")


SEARCHES, READERS = 1_000, 8


def run_searched(effort: Effort, kind: str = "real") -> Tally:
    """Publishes while many search: no error, and every answer is that of one build."""
    _require(kind)
    folder = milvus_corpora.make_folder(effort.folder / "corpus", few=True)
    tally, begun = Tally(f"milvus searched {kind}"), time.monotonic()
    with running(kind, effort.folder / "data") as server:
        corpus = MilvusCorpus(server.address())
        milvus_corpora.publish(folder, corpus)
        engines = {name: _engine(corpus, name) for name in corpus.builds()}
        answers: list[tuple[str, str]] = []
        lock, published = threading.Lock(), threading.Event()

        def read() -> None:
            while len(answers) < SEARCHES or not published.is_set():
                try:
                    name = corpus.builds()[0]
                    with lock:
                        engines[name] = engines.get(name) or _engine(corpus, name)
                    found = search(engines[name])
                except Exception as error:
                    name, found = "error", repr(error)
                answers.append((name, found))

        readers = [threading.Thread(target=read) for _ in range(READERS)]
        for reader in readers:
            reader.start()
        grown = milvus_corpora.make_folder(folder, milvus_corpora.one_more(1), few=True)
        milvus_corpora.publish(grown, corpus)
        published.set()
        for reader in readers:
            reader.join()
        expected = {name: search(engine) for name, engine in engines.items()}
    for name, found in answers:
        tally.tries[f"build {sorted(expected).index(name) + 1}" if name in expected else name] += 1
        if found != expected.get(name):
            tally.failures.append(f"{name} answered {found[:200]}")
    tally.seconds = time.monotonic() - begun
    return tally


def run_searched_small(effort: Effort) -> Tally:
    return run_searched(effort, "small")


def _engine(corpus: MilvusCorpus, name: str) -> Engine:
    return engine_on(corpus.open(name, corpus.manifest(name)))


def search(engine: Engine) -> str:
    example = engine.example(engine.store.headings_by_row([0])[0].id)
    found = engine.search(Query((example,), top=30))
    return " ".join([found.build_id, *(result.paper.id for result in found.results)])


def _build(server: MilvusServer) -> str:
    return MilvusCorpus(server.address()).builds()[0]


def _killed_after(seconds: float, server: MilvusServer, folder: Path) -> str:
    """Publish while the server is killed; where that came."""
    timer = threading.Timer(seconds, server.kill)
    timer.start()
    try:
        milvus_corpora.publish(folder, MilvusCorpus(server.address()))
        return "after the end"
    except CorpusError:
        return "on the way"
    finally:
        timer.join()


def loaded(address: str, token: str = "", certificate: Path | None = None) -> Engine:
    """A reader of the served build, once the server has loaded it again."""
    end = time.monotonic() + LOADING
    while True:
        try:
            corpus = MilvusCorpus(address, token, certificate)
            return _engine(corpus, corpus.builds()[0])
        except CorpusError:
            if time.monotonic() > end:
                raise
            time.sleep(0.5)
