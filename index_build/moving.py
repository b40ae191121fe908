"""A corpus carried from a folder to a Milvus server and back, with its vectors: nothing is encoded again."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import cast

import numpy as np

from index_build.milvus import MilvusPublisher
from index_build.publisher import batches_of, terms_of
from search.corpus import layout
from search.corpus.folder import FolderCorpus
from search.corpus.manifest import Manifest
from search.corpus.milvus.corpus import MilvusCorpus
from search.corpus.served import Corpus, Served
from search.corpus.store import Store
from search.encoder import Encoder
from search.engine import Engine
from search.errors import CorpusError
from search.query.choosing import choose_facet
from search.settings import Settings
from search.types import PANELS, Document, Encoded, Paper, Progress, Query, Sentence

TOGETHER = 512
"""Papers that are written together: some 20 MB on their way."""
CHECKED = 50
"""Searches that are compared with the source before the pointer moves."""
TOP = 20
ROUNDING = 1e-3
"""By how much a score may differ: the server sums words in another order."""
ALIKE = 0.9
"""The share of the best TOP that must be the same where the server's index visits only what is near."""


@dataclass(frozen=True, slots=True)
class Moved:
    """What a corpus that was carried over has there."""

    manifest: Manifest
    replicas: int
    checked: int
    """Searches that were compared."""
    same: float
    """The share of their best TOP that is the same."""
    largest: float
    """The largest difference of two scores of one paper."""
    words: bool
    """Whether words find papers there, or only weigh those that were found otherwise."""
    seconds: tuple[float, float] = (0.0, 0.0)
    """Of the middle search, at the source and there."""
    was_there: bool = False


def publish_to(
    source: Path,
    target: MilvusCorpus,
    progress: Progress,
    keep: int = 2,
    replicas: int = 0,
    index: str = "",
    checked: int = CHECKED,
) -> Moved:
    """The served build of a folder on a server, compared with it, then served there.

    Killed at any moment, what is served there stays, and the same command goes on.
    """
    folder = FolderCorpus(source)
    build = folder.builds()[0]
    manifest = folder.manifest(build)
    here = folder.open(build, manifest)
    try:
        if target.current() == build:
            return replace(_compared(here, target, build, checked), was_there=True)
        if not manifest.average_terms:
            manifest = replace(manifest, average_terms=_average_terms(here, progress))
        publisher = MilvusPublisher(target.address, replicas, index)
        done = publisher.begin(manifest, here.apart)
        progress("publish", done, manifest.papers)
        for batch in batches_of(here, done, TOGETHER):
            publisher.add(batch)
            progress("publish", batch.first + len(batch.papers), manifest.papers)
        progress("load", 0, 1)
        sealed = publisher.seal(manifest.papers, manifest.sentences)
        progress("load", 1, 1)
        moved = _compared(here, target, build, checked)
        publisher.publish(sealed)
        publisher.prune(keep)
        target.forget()
        return replace(moved, replicas=publisher.replicas)
    finally:
        here.close()


def _average_terms(build: Served, progress: Progress) -> float:
    """How long papers are, where the build does not say: all are read once."""
    total, after, papers = 0, -1, build.manifest.papers
    while len(rows := build.next_rows(after, TOGETHER)):
        after = int(rows[-1])
        total += sum(sum(terms_of(paper).values()) for paper in build.papers_by_row(rows))
        progress("count", after + 1, papers)
    return total / papers if papers else 0.0


# -- compared


class _NoModel:
    """In the place of an encoder: papers of the corpus bring their vectors."""

    word_vectors = None
    id = ""

    def encode_one(self, document: Document) -> Encoded:
        raise CorpusError("A comparison needs no model.")


def engine_on(build: Served) -> Engine:
    """Searches by papers of the corpus, without a model."""
    return Engine(build, cast(Encoder, _NoModel()))


def _compared(here: Served, target: MilvusCorpus, build: str, checked: int) -> Moved:
    """Searches by papers spread over the corpus, on both; a CorpusError where they differ."""
    manifest = target.manifest(build)
    there = target.open(build, manifest)
    try:
        found = compare(engine_on(here), engine_on(there), checked)
    finally:
        there.close()
    same, largest = found.same, found.largest
    exact = there.is_exact and there.finds_words
    if largest > ROUNDING or same < (1.0 if exact else ALIKE):
        raise CorpusError(
            f"The corpus came out wrong on {target.address}: of the best {TOP} of {checked} searches "
            f"{same:.1%} are the same, and scores differ by up to {largest:.4f}. It is not served; "
            "publish it again."
        )
    return Moved(manifest, 0, checked, same, largest, there.finds_words, found.seconds)


@dataclass(frozen=True, slots=True)
class Compared:
    same: float
    """The share of the best TOP that both find."""
    largest: float
    """The largest difference of a paper's score."""
    seconds: tuple[float, float]
    """Of the middle search of each."""


def compare(one: Engine, other: Engine, count: int) -> Compared:
    """The same searches on both, in turn."""
    shares, largest = [1.0], 0.0
    spent: tuple[list[float], list[float]] = [0.0], [0.0]
    for number, row in enumerate(one.store.spread(count)):
        id = one.store.headings_by_row([row])[0].id
        query = _query(one, id, number)
        scores: list[dict[str, float]] = []
        for engine, seconds in zip((one, other), spent, strict=True):
            begun = time.perf_counter()
            scores.append({result.paper.id: result.score for result in engine.search(query).results})
            seconds.append(time.perf_counter() - begun)
        ours, theirs = scores
        lowest = min(ours.values(), default=0.0)
        # A paper as good as the last one may stand in its place.
        tied = sum(abs(score - lowest) < ROUNDING for id, score in theirs.items() if id not in ours)
        both = ours.keys() & theirs.keys()
        shares.append(min(1.0, (len(both) + tied) / len(ours)) if ours else float(not theirs))
        largest = max([largest, *(abs(ours[id] - theirs[id]) for id in both)])
    middle, others = (float(np.median(seconds[1:] or seconds)) for seconds in spent)
    return Compared(float(np.mean(shares[1:] or shares)), largest, (middle, others))


def _query(engine: Engine, id: str, number: int) -> Query:
    """By all of the paper, or by one of its panels: in turn."""
    paper = engine.example(id)
    panels = [panel for panel in PANELS if any(each.panel is panel for each in paper.sentences)]
    turn = number % (1 + len(panels))
    return Query((choose_facet(paper, panels[turn - 1]) if turn else paper,), top=TOP)


# -- back


class _Carried:
    """In the place of an encoder: each text has the vectors that it has in an opened build."""

    def __init__(self, build: Served) -> None:
        self._build = build
        manifest = build.manifest
        self.id, self.facets_id, self.dimension = manifest.encoder, manifest.facets, manifest.dimension
        self._rows: dict[bytes, int] = {}

    def take(self, paper: Paper, row: int) -> None:
        title = paper.title if paper.abstract else ""
        self._rows.setdefault(_key(title, [each.text for each in paper.sentences]), row)

    def encode(self, documents: Iterable[Document]) -> Iterator[Encoded]:
        left = iter(documents)
        while some := list(islice(left, TOGETHER)):
            rows = np.array([self._rows[_key(each.title, each.sentences)] for each in some], np.int64)
            whole, sentences = self._build.whole_vectors(rows), self._build.sentences(rows)
            papers = self._build.papers_by_row(rows)
            for place, paper in enumerate(papers):
                mine = slice(sentences.offsets[place], sentences.offsets[place + 1])
                labels = np.array([each.probabilities for each in paper.sentences], np.float32)
                yield Encoded(
                    sentences.vectors[mine].astype(np.float32), whole[place].astype(np.float32), labels
                )


def _key(title: str, sentences: Sequence[str]) -> bytes:
    joined = "\x1e".join((title, *sentences))
    return hashlib.blake2b(joined.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def bring_back(
    source: Corpus,
    folder: Path,
    settings: Settings,
    progress: Progress,
    build: Callable[..., Manifest],
) -> Moved:
    """The served build of a server as a corpus in a folder, which papers can be added to."""
    name = source.builds()[0]
    there = source.open(name, source.manifest(name))
    manifest = there.manifest
    carried = _Carried(there)
    path = folder / layout.STORE
    with Store.open(path, read_only=False) if path.is_file() else Store.create(path) as store:
        for batch in batches_of(there, 0, TOGETHER):
            for place, paper in enumerate(batch.papers):
                carried.take(paper, batch.first + place)
            pairs = zip(batch.papers, batch.ids, strict=True)
            store.add([record for pair in pairs for record in _records(*pair)])
            progress("import", batch.first + len(batch.papers), manifest.papers)
    made = build(folder, _as_made(settings, manifest), progress, carried)
    if (made.papers, made.sentences) != (manifest.papers, manifest.sentences):
        raise CorpusError(
            f"The folder {folder} has {made.papers:,} papers instead of {manifest.papers:,}: bring the "
            "corpus into an empty folder."
        )
    back = FolderCorpus(folder)
    here = back.open(made.build_id, made)
    found = compare(engine_on(there), engine_on(here), CHECKED)
    here.close()
    there.close()
    return Moved(made, 1, CHECKED, found.same, found.largest, True, found.seconds)


def _as_made(settings: Settings, manifest: Manifest) -> Settings:
    return replace(settings, encoder=manifest.encoder_name, bm25_k1=manifest.bm25_k1, bm25_b=manifest.bm25_b)


def _records(paper: Paper, ids: Sequence[str]) -> list[Paper]:
    """The paper under each of its ids: equal records become one paper again."""
    bare = replace(paper, sentences=tuple(map(_as_split, paper.sentences)))
    return [bare, *(replace(bare, id=id) for id in ids if id != paper.id)]


def _as_split(sentence: Sentence) -> Sentence:
    """As before it was labelled; what its source said stays."""
    return replace(sentence, facet=sentence.facet if sentence.hinted else None, probabilities=())


def describe(moved: Moved, place: Path | str) -> str:
    """What was carried over, in lines for the terminal."""
    manifest = moved.manifest
    lines = [
        f"{place} serves {manifest.papers:,} papers with {manifest.sentences:,} sentences, build "
        f"{manifest.build_id}{', as before' if moved.was_there else ''}.",
        f"Compared by {moved.checked} searches: {moved.same:.1%} of the best {TOP} are the same, scores "
        f"differ by {moved.largest:.5f} at most; the middle one took {1000 * moved.seconds[0]:,.0f} ms "
        f"at the source and {1000 * moved.seconds[1]:,.0f} ms there.",
    ]
    if moved.replicas == 1 and isinstance(place, str):
        lines.append("One copy of each part: while a node is lost, the corpus does not answer.")
    if not moved.words:
        lines.append(
            "This server has no sparse vectors: words weigh the papers that sentences find and bring in none."
        )
    return "\n".join(lines)
