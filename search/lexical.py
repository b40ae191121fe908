"""Search by words: BM25 over title and abstract, memory-mapped, with a tokenizer for science."""

from __future__ import annotations

import math
import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import bm25s
import numpy as np
from numpy.typing import NDArray

from search.errors import CorpusError

TOKENIZER = "science-1"
"""Goes into the manifest: raise it whenever `tokenize` gives other terms."""

_STOP_WORDS = frozenset(
    "a an and are as at be been but by can for from had has have in into is it its of on or our s such t "
    "that the their then there these they this those to was we were which while with".split()
)
_GREEK = {
    letter: unicodedata.name(letter).rsplit(" ", 1)[1].lower().replace("lamda", "lambda")
    for letter in "αβγδεζηθικλμνξοπρστυφχψω"
} | {"ς": "sigma"}
_PLAIN = str.maketrans(_GREEK | dict.fromkeys("‐‑‒–−", "-"))
_MARKS = re.compile(r"[\u0300-\u036f]")

_WORD = re.compile(
    r"[\u3040-\u30ff\u4e00-\u9fff]"  # scripts without spaces: a character is a term
    r"|[cf](?:\+\+|#)(?!\w)"  # C++, C#, F#
    r"|[^\W_]+(?:(?:[-._+]|(?<=\d),(?=\d)|(?<=\bn),(?=n\b))[^\W_]+)*"  # also joined: 1,2-dichloroethane
)
_JOINT = re.compile(r"[-_+]|(?<!\d)[.,]|[.,](?!\d)|,(?!\d{3}(?!\d))")
"""Where a joined word comes apart; the point of 3.5 and the comma of 1,000 do not."""


def tokenize(text: str) -> list[str]:
    """The search terms of a text, in order and with repetitions.

    Accents, ligatures, subscripts and Greek letters become plain letters (H₂O is h2o, β is beta).
    A joined word gives its parts and the whole, so "pre-training" is found by "pretraining" and by
    "training"; a plural gives its singular; function words are left out.
    """
    if not text.isascii():
        text = _MARKS.sub("", unicodedata.normalize("NFKD", text)).lower().translate(_PLAIN)
    terms: list[str] = []
    for word in _WORD.findall(text.lower()):
        if word.isalnum():
            if word not in _STOP_WORDS:
                terms.append(_singular(word))
        else:
            terms += _come_apart(word)
    return terms


def _come_apart(word: str) -> list[str]:
    """The parts of a joined word and the whole: "gpt-3.5" is gpt, 3.5 and gpt3.5."""
    parts = [part.replace(",", "") for part in _JOINT.split(word) if part] if word[-1] not in "+#" else [word]
    terms = [_singular(part) for part in parts if part not in _STOP_WORDS]
    whole = "".join(parts)
    if len(parts) > 1 and not whole.isdecimal():
        terms.append(_singular(whole))
    return terms


def _singular(word: str) -> str:
    """Harman's S-stemmer: the plural ending and nothing else ("studies" is study, "corpus" stays)."""
    if len(word) < 4 or word[-1] != "s" or word[-2] in "sui":
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word[:-1]
    return word[:-1]


def weigh_terms(texts: Iterable[tuple[str, float]]) -> dict[str, float]:
    """A query from several texts, each with its weight; a term repeated counts again, as in BM25."""
    terms: Counter[str] = Counter()
    for text, weight in texts:
        for term in tokenize(text):
            terms[term] += weight  # type: ignore[assignment]
    return dict(terms)


class LexicalIndex:
    """BM25 scores of every term in every paper, read from disk as they are needed.

    score(q, d) = Σ_t w_t · idf(t) · tf / (tf + k1·(1 - b + b·|d|/avg|d|)) with
    idf(t) = ln(1 + (N - df + 0.5) / (df + 0.5)): Lucene's form of Robertson et al. (1994), as compared
    in Kamphuis et al. (2020). `terms` maps a term to its weight w_t. Safe to use from many threads.
    """

    def __init__(self, index: bm25s.BM25) -> None:
        self._vocabulary: dict[str, int] = index.vocab_dict
        # Plain views of the mapped files: slicing them is several times faster than slicing a memmap.
        self._scores: NDArray[np.float32] = np.asarray(index.scores["data"])
        self._papers: NDArray[np.int32] = np.asarray(index.scores["indices"])
        self._starts: NDArray[np.int64] = np.asarray(index.scores["indptr"])
        self.paper_count: int = index.scores["num_docs"]

    @staticmethod
    def build(texts: Iterable[str], path: Path, k1: float = 1.2, b: float = 0.75) -> None:
        """Write the index of the papers' texts, in row order, into the folder `path`."""
        vocabulary: dict[str, int] = {"": 0}  # bm25s wants a term, even of a corpus without words
        papers = [
            array("i", (vocabulary.setdefault(term, len(vocabulary)) for term in tokenize(text)))
            for text in texts
        ]
        index = bm25s.BM25(k1=k1, b=b, method="lucene", csc_backend="scipy")
        with np.errstate(invalid="ignore"):  # no paper has a word: the average length is 0
            index.index((papers, vocabulary), create_empty_token=False, show_progress=False)
        index.save(path, show_progress=False)

    @classmethod
    def open(cls, path: Path) -> LexicalIndex:
        """The index in `path`, memory-mapped."""
        try:
            return cls(bm25s.BM25.load(path, mmap=True, show_progress=False))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise CorpusError(
                f"The word index {path} cannot be read ({error}); build the corpus again."
            ) from error

    def idf(self, term: str) -> float:
        """How telling a term is in this corpus: the part of the formula above."""
        column = self._vocabulary.get(term)
        papers = 0 if column is None else int(self._starts[column + 1] - self._starts[column])
        return math.log(1 + (self.paper_count - papers + 0.5) / (papers + 0.5))

    def scores(self, terms: Mapping[str, float]) -> NDArray[np.float32]:
        """The score of every paper, [P] in row order; 0 where no term occurs."""
        scores = np.zeros(self.paper_count, np.float32)
        for term, weight in terms.items():
            column = self._vocabulary.get(term)
            if column is not None:
                span = slice(self._starts[column], self._starts[column + 1])
                # A paper occurs once per term, so the buffered += loses nothing.
                scores[self._papers[span]] += np.float32(weight) * self._scores[span]
        return scores

    def search(
        self, terms: Mapping[str, float], k: int, allowed: NDArray[np.integer] | None = None
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """The up to `k` best papers that share a term: (scores, paper rows), best first.

        `allowed` holds the only paper rows that may be found.
        """
        scores = self.scores(terms)
        rows = np.flatnonzero(scores > 0) if allowed is None else allowed[scores[allowed] > 0]
        found = scores[rows]
        if k < len(rows):
            best = np.argpartition(found, len(rows) - k)[len(rows) - k :]
            rows, found = rows[best], found[best]
        order = np.lexsort((rows, -found))
        return found[order], rows[order].astype(np.int64)
