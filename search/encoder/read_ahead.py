"""Documents -> passes of a model, in order: tokenising, model and the reader of the results overlap."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from queue import SimpleQueue
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from search.encoder.windows import Packer, Window, batches
from search.types import Document

TYPICAL_TOKENS = 256
"""Tokens of a typical title and abstract; turns a number of tokens into a number of documents."""
BATCHES_AHEAD = 16
"""Batches that are read ahead and sorted by length together, so that few pads are needed; chosen by hand."""
LEAST_AHEAD = 64
"""Documents that are read ahead at least; chosen by hand."""
CHUNKS_AHEAD = 2
"""Chunks that are being worked on while an earlier one is read by the caller."""


@dataclass(frozen=True, slots=True)
class Pass:
    """What a model says of one window."""

    sums: NDArray[np.float32]
    """[1 + s, d]: sums of token vectors, of the paper and of each sentence in `window.rows`."""
    tokens: NDArray[np.float32]
    """[s]: how many of its tokens each sentence has here."""
    facets: NDArray[np.float32] | None
    """[s, 5], or None when the model does not label."""


class Model(Protocol):
    dimension: int
    budget: int
    """Tokens it likes to get at once."""

    def run(self, windows: Sequence[Window]) -> list[Pass]: ...


Read = tuple[Document, list[tuple[Window, Pass]]]


def read_ahead(models: Sequence[Model], packer: Packer, documents: Iterable[Document]) -> Iterator[Read]:
    """Each document with its windows' passes, in the order given.

    One thread tokenises, one thread per model works; whichever model is free takes the next batch.
    Only a few chunks are in memory, and documents are taken from the iterable in the caller's thread.
    """
    size = max(LEAST_AHEAD, BATCHES_AHEAD * models[0].budget // TYPICAL_TOKENS) * len(models)
    free: SimpleQueue[Model] = SimpleQueue()
    for model in models:
        free.put(model)

    def work(batch: list[Window]) -> list[tuple[Window, Pass]]:
        model = free.get()
        try:
            return list(zip(batch, model.run(batch), strict=True))
        finally:
            free.put(model)

    def tokenise(chunk: list[Document]) -> list[Future[list[tuple[Window, Pass]]]]:
        windows = sorted(packer.pack(chunk), key=lambda window: len(window.ids), reverse=True)
        return [workers.submit(work, batch) for batch in batches(windows, models[0].budget)]

    reader, workers = ThreadPoolExecutor(1), ThreadPoolExecutor(len(models))
    waiting: deque[tuple[list[Document], Future[list[Future[list[tuple[Window, Pass]]]]]]] = deque()
    stream = iter(documents)
    try:
        while True:
            if chunk := list(islice(stream, size)):
                waiting.append((chunk, reader.submit(tokenise, chunk)))
            if waiting and (not chunk or len(waiting) > CHUNKS_AHEAD):
                done, submitted = waiting.popleft()
                yield from in_order(done, (one for future in submitted.result() for one in future.result()))
            elif not chunk:
                return
    finally:  # also when the caller stops early or a model fails
        for pool in (reader, workers):
            pool.shutdown(wait=True, cancel_futures=True)


def in_order(documents: list[Document], passes: Iterable[tuple[Window, Pass]]) -> Iterator[Read]:
    """Passes in any order, put back to their documents."""
    of_document: list[list[tuple[Window, Pass]]] = [[] for _ in documents]
    for window, one in passes:
        of_document[window.document].append((window, one))
    return zip(documents, of_document, strict=True)
