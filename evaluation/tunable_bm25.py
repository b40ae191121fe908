"""BM25 whose k1 and b can be changed without indexing again, for tuning on validation queries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer

from search.lexical import tokenize


class TunableBM25:
    """One table of counts [papers, terms]; the formula and the terms are those of `search.lexical`."""

    def __init__(self, texts: Sequence[str]) -> None:
        counter = CountVectorizer(analyzer=tokenize)
        self._counts = counter.fit_transform(texts).tocsc()
        self._columns: dict[str, int] = counter.vocabulary_
        lengths = np.asarray(self._counts.sum(axis=1)).ravel()
        self._relative = lengths / lengths.mean()
        frequency = np.diff(self._counts.indptr)
        self._idf = np.log(1 + (len(texts) - frequency + 0.5) / (frequency + 0.5))

    def scores(self, text: str, k1: float, b: float) -> NDArray[np.float32]:
        """score(q, d) = sum_t idf(t) tf / (tf + k1 (1 - b + b |d| / avg |d|)) for every text, [P]."""
        scores = np.zeros(len(self._relative), np.float32)
        for term in tokenize(text):
            if (column := self._columns.get(term)) is not None:
                span = slice(self._counts.indptr[column], self._counts.indptr[column + 1])
                rows, counts = self._counts.indices[span], self._counts.data[span]
                scores[rows] += (
                    self._idf[column] * counts / (counts + k1 * (1 - b + b * self._relative[rows]))
                )
        return scores
