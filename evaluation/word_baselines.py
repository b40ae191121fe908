"""The term-level baselines of the CSFCube paper: the query's facet sentences against whole abstracts.

`fabs_tfidf`, `fabs_bm25`, `fabs_cbow200` and `fabs_tfidfcbow200` (Mysore et al. 2021) differ in how the
words of the two texts become one number; term statistics and word vectors come from the collection.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from evaluation.array_cache import kept
from evaluation.collections import Collection, PoolQuery, data_hash, facet_positions
from evaluation.metrics import Found
from search.errors import InputError, ModelError
from search.types import Paper

Floats = NDArray[np.float32]
DIMENSION = 200
"""Numbers in a word vector, as in CSFCube's baselines cbow200."""
_WORD = re.compile(r"[^\W_]+")


def words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def abstract_text(paper: Paper) -> str:
    return f"{paper.title} {paper.abstract}"


def query_text(collection: Collection, query: PoolQuery) -> str:
    """The sentences asked about; a query without a facet is its title and whole abstract."""
    paper = collection.papers[query.paper_id]
    if query.facet is None:
        return abstract_text(paper)
    return " ".join(paper.sentences[place].text for place in facet_positions(paper, query.facet))


def bm25(collection: Collection, queries: Sequence[PoolQuery]) -> Found:
    """Okapi BM25 with the usual k1 = 1.5, b = 0.75 of `rank_bm25`."""
    places = {paper: place for place, paper in enumerate(collection.papers)}
    index = BM25Okapi([words(abstract_text(paper)) for paper in collection.papers.values()])
    found: Found = {}
    for query in queries:
        rows = [places[paper] for paper in query.grades]
        scores = index.get_batch_scores(words(query_text(collection, query)), rows)
        found[query.id] = dict(zip(query.grades, map(float, scores), strict=True))
    return found


def tfidf(collection: Collection, queries: Sequence[PoolQuery]) -> Found:
    """Cosine of TF-IDF vectors."""
    return _by_cosine(collection, queries, *_tfidf_rows(collection, queries, idf=True)[:2])


def cbow(collection: Collection, queries: Sequence[PoolQuery], weighted: bool, vectors: Path | None) -> Found:
    """Cosine of (TF-IDF weighted) means of CBOW word vectors, trained here or read from a file."""
    papers, asked, vocabulary = _tfidf_rows(collection, queries, idf=weighted)
    table = read_vectors(vectors, vocabulary) if vectors else _trained(collection, vocabulary)
    return _by_cosine(collection, queries, csr_matrix(papers @ table), csr_matrix(asked @ table))


def _trained(collection: Collection, vocabulary: Sequence[str]) -> Floats:
    papers = tuple(collection.papers.values())
    return kept(f"cbow{DIMENSION}-15-{data_hash(papers)}", lambda: train_vectors(papers, vocabulary))


def train_vectors(papers: Sequence[Paper], vocabulary: Sequence[str]) -> Floats:
    """CBOW with negative sampling (Mikolov et al. 2013) on the abstracts at hand: [words, 200].

    A word of the vocabulary that was too rare to train has zeros.
    """
    try:
        from gensim.models import Word2Vec
    except ImportError:
        raise ModelError(
            "gensim, which trains word vectors, is missing: run `pip install -r requirements-dev.txt`."
        ) from None
    texts = [words(paper.title) for paper in papers]
    texts += [words(sentence.text) for paper in papers for sentence in paper.sentences]
    # One worker and a fixed seed: the same vectors on every run.
    model = Word2Vec(texts, vector_size=DIMENSION, window=5, min_count=2, sg=0, epochs=15, workers=1, seed=1)
    none = np.zeros(DIMENSION, np.float32)
    trained = dict(zip(model.wv.index_to_key, model.wv.vectors, strict=True))
    return np.stack([trained.get(word, none) for word in vocabulary])


def read_vectors(file: Path, vocabulary: Sequence[str]) -> Floats:
    """Vectors [words, d] from word2vec's text format: a word and its numbers per line, a header or none."""
    wanted = {word: place for place, word in enumerate(vocabulary)}
    table: Floats | None = None
    try:
        with file.open(encoding="utf-8") as lines:
            for word, *numbers in (line.rstrip().split(" ") for line in lines):
                if len(numbers) > 1 and word in wanted:
                    if table is None:
                        table = np.zeros((len(vocabulary), len(numbers)), np.float32)
                    table[wanted[word]] = [float(number) for number in numbers]
    except (OSError, ValueError) as error:
        raise InputError(f"The word vectors {file} cannot be read: {error}.") from None
    if table is None:
        raise InputError(f"{file} has no vector for any word of the collection: give word2vec's text format.")
    return table


def _tfidf_rows(
    collection: Collection, queries: Sequence[PoolQuery], idf: bool
) -> tuple[csr_matrix, csr_matrix, Sequence[str]]:
    """Weighted term counts of papers and queries, and the words of the columns."""
    vectorizer = TfidfVectorizer(analyzer=words, use_idf=idf, min_df=2)
    papers = vectorizer.fit_transform(map(abstract_text, collection.papers.values()))
    asked = vectorizer.transform([query_text(collection, query) for query in queries])
    return papers, asked, list(vectorizer.get_feature_names_out())


def _by_cosine(
    collection: Collection, queries: Sequence[PoolQuery], papers: csr_matrix, asked: csr_matrix
) -> Found:
    places = {paper: place for place, paper in enumerate(collection.papers)}
    papers, asked = normalize(papers), normalize(asked)
    found: Found = {}
    for row, query in enumerate(queries):
        pool = papers[[places[paper] for paper in query.grades]]
        likeness = np.asarray((pool @ asked[row].T).todense()).ravel()
        found[query.id] = dict(zip(query.grades, map(float, likeness), strict=True))
    return found
