"""From the working store straight to a build on a Milvus server: the folder has no build of its own.

The folder keeps papers and vectors, so that more can be added and nothing is encoded twice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from index_build.cache import VectorCache, cache_folder
from index_build.memory import memory_of
from index_build.milvus import MilvusPublisher
from index_build.moving import TOGETHER
from index_build.publish import only_writer
from index_build.publisher import Batch, terms_of
from index_build.steps import Encodes, batches, encode, encoder_of, plan
from search.corpus import layout
from search.corpus.manifest import Manifest
from search.corpus.milvus.corpus import MilvusCorpus
from search.corpus.store import Store
from search.errors import CorpusError
from search.settings import Settings
from search.types import Progress

BEGUN = "begun.json"
"""Which build a server is given, so that a run that was killed goes on with it."""


def build_there(
    corpus: Path,
    target: MilvusCorpus,
    settings: Settings,
    progress: Progress | None = None,
    encoder: Encodes | None = None,
    replicas: int = 0,
    index: str = "",
) -> Manifest:
    """Serve on a server what the working store of `corpus` holds now; `replicas` and `index` as in `publish`.

    When that is what is served there, nothing is done. Killed at any moment, the build before it stays, and
    the same call goes on. Counts are compared before the pointer moves; with no build here, searches are not.
    """
    report = progress or (lambda step, done, total: None)
    memory = f"{memory_of(settings.build_memory_mb).database}MB"
    with only_writer(corpus), Store.open(corpus / layout.STORE, memory_limit=memory) as store:
        encoder = encoder or encoder_of(settings, report)
        planned = _begun(corpus, target, plan(store, settings, encoder))
        if target.current() == planned.build_id:
            return target.manifest(planned.build_id)
        numbers = store.stamps().numbers
        if not len(numbers):
            raise CorpusError(f"There are no papers in {corpus} yet; add some, then build.")
        with VectorCache(cache_folder(corpus, encoder.id), encoder.dimension) as cache:
            keys = encode(store, numbers, cache, encoder, report)
            planned = _counted(planned, store, numbers, report)
            publisher = MilvusPublisher(target.address, replicas, index)
            publisher.begin(planned, store.apart())
            report("publish", 0, planned.papers)
            for block in batches(store, numbers, cache, keys):
                for batch in _in_parts(block):
                    publisher.add(batch)
                    report("publish", batch.first + len(batch.papers), planned.papers)
        report("load", 0, 1)
        sealed = publisher.seal(planned.papers, planned.sentences)
        report("load", 1, 1)
        publisher.publish(sealed)
        publisher.prune(settings.keep_builds)
        publisher.close()
        target.forget()
    return sealed


def _begun(corpus: Path, target: MilvusCorpus, planned: Manifest) -> Manifest:
    """The build under the name that it had when the same was begun for the same server."""
    path, place = corpus / BEGUN, str(target.address)
    try:
        known = json.loads(path.read_bytes())
        if (known["place"], known["fingerprint"]) == (place, planned.fingerprint):
            return replace(planned, build_id=str(known["build_id"]), created=str(known["created"]))
    except (OSError, ValueError, TypeError, KeyError):
        pass
    kept = {"place": place} | {
        name: getattr(planned, name) for name in ("fingerprint", "build_id", "created")
    }
    draft = path.with_suffix(".part")
    draft.write_text(json.dumps(kept), encoding="utf-8")
    os.replace(draft, path)
    return planned


def _counted(planned: Manifest, store: Store, numbers: NDArray[np.int64], report: Progress) -> Manifest:
    """With the counts that a server needs beforehand: words are weighed as they come."""
    papers = sentences = terms = 0
    for block in store.blocks(numbers):
        papers += len(block)
        sentences += sum(len(each.paper.sentences) for each in block)
        terms += sum(sum(terms_of(each.paper).values()) for each in block)
        report("count", papers, len(numbers))
    return replace(planned, papers=papers, sentences=sentences, average_terms=terms / papers)


def _in_parts(batch: Batch) -> Iterator[Batch]:
    """As many papers at a time as are sent together."""
    ends = np.cumsum([0, *(len(paper.sentences) for paper in batch.papers)])
    for start in range(0, len(batch.papers), TOGETHER):
        some = slice(start, min(start + TOGETHER, len(batch.papers)))
        yield Batch(
            batch.first + start,
            batch.papers[some],
            batch.ids[some],
            batch.whole[some],
            batch.sentences[ends[some.start] : ends[some.stop]],
            batch.terms[some],
        )
