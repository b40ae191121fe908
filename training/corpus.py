"""Papers to train on: their hidden states, and how well their words match a query."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from search.corpus.bm25 import LexicalIndex
from search.query.vectorised import CONTEXT
from search.text.tokenizer import weigh_terms
from search.types import Document
from training.hidden_states import Batch, LowerLayers, States


@dataclass(frozen=True, slots=True)
class Corpus:
    """Papers by number, with the hidden states that the upper layers read."""

    place: Mapping[str, int]
    """Paper id -> number."""
    documents: tuple[Document, ...]
    states: States
    window: NDArray[np.int64]
    """Paper -> the number of its window; -1 for a paper that needs several, which is never trained on."""

    def has(self, paper: str) -> bool:
        """Whether the paper is here and can be trained on."""
        return paper in self.place and self.window[self.place[paper]] >= 0

    def length(self, paper: int) -> int:
        """Tokens of the paper."""
        return self.states.length(int(self.window[paper]))

    def batch(self, papers: Sequence[int], device: torch.device) -> Batch:
        return self.states.batch([int(self.window[paper]) for paper in papers], device)


MakeCorpus = Callable[[Mapping[str, Document]], Corpus]


def make_corpus(
    documents: Mapping[str, Document],
    lower: LowerLayers,
    cache: Path,
    progress: Callable[[int, int], None],
) -> Corpus:
    texts = tuple(documents.values())
    states = lower.states(texts, cache, progress)
    owners = np.array([window.document for window in states.windows])
    window = np.full(len(texts), -1)
    for number, (owner, count) in enumerate(zip(owners, np.bincount(owners)[owners], strict=True)):
        if count == 1:
            window[owner] = number
    return Corpus({paper: n for n, paper in enumerate(documents)}, texts, states, window)


class Words:
    """BM25 over some papers, with the weights of search: the chosen sentences count fully, the rest less."""

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self.place = {paper: number for number, paper in enumerate(documents)}
        texts = (f"{one.title} {' '.join(one.sentences)}" for one in documents.values())
        # The files stay readable after they are deleted; where a system forbids deleting them, they stay.
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            LexicalIndex.build(texts, Path(folder) / "words")
            self.index = LexicalIndex.open(Path(folder) / "words")

    def likeness(self, query: Document, chosen: Sequence[int], papers: Sequence[str]) -> NDArray[np.float32]:
        """[c]: BM25 of these papers divided by the highest score the query can give, so from 0 to 1."""
        texts = [(query.title, CONTEXT)]
        texts += [(text, 1.0 if place in chosen else CONTEXT) for place, text in enumerate(query.sentences)]
        terms = weigh_terms(texts)
        most = sum(weight * self.index.idf(term) for term, weight in terms.items())
        scores = self.index.scores(terms)[[self.place[paper] for paper in papers]]
        return scores / np.float32(max(most, 1))
