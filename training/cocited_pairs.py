"""Pairs of papers that one sentence cites: pairs to learn from, and held-out pairs to score.

`DATA_FORMAT` describes the files.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from search.errors import InputError
from search.types import Document
from training.corpus import Corpus, MakeCorpus, Words
from training.papers import (
    Cocited,
    find_lines,
    read_citing,
    read_cocited,
    read_documents,
    same_title,
)
from training.vector_cache import Encode, Vectors

DATA_FORMAT = """\
DATA has files of JSON lines, each plain (.jsonl) or gzipped (.jsonl.gz):
  papers         {"id": "p1", "title": "...", "abstract": "..."}
  cocite_pairs   {"a": "p1", "b": "p2", "contexts": [{"text": "the citing sentence", "n": 2}]}
                 n is how many papers the sentence cites (null: unknown)
  cite_pairs     {"citing": "p1", "cited": "p3"}   optional: such papers are never negatives of each other
Every paper of a pair needs an abstract. Pairs with at most 3 papers in the sentence are learned from, except
those of a fixed twelfth of the papers, chosen by a hash of the id: these are only scored."""
MOST_CITED_TOGETHER = 3
"""A sentence that cites more papers than this says little about any two of them."""
TEST_PAIRS = 300
"""Held-out pairs that are scored."""
TEST_PAPERS = 1000
"""Papers among which the partner is to be found."""
MINED, MINED_AMONG = 10, 40
"""Hard negatives of a pair, and the number of nearest papers they are taken from."""
HELD_OUT_BYTES = 21
"""Papers whose hash begins with a byte below this are held out: 21 of 256, one in twelve."""


def is_held_out(paper: str) -> bool:
    """Whether the pairs of this paper are only scored; its id alone decides."""
    return hashlib.sha256(paper.encode()).digest()[0] < HELD_OUT_BYTES


@dataclass(frozen=True, slots=True)
class CitationData:
    """The files in a folder, with all pairs."""

    papers: Path
    pairs: list[Cocited]
    citations: list[tuple[str, str]]

    @staticmethod
    def read(folder: Path) -> CitationData:
        """What the folder has; an error says which file is missing."""
        papers, pairs = (_needed(folder, name) for name in ("papers", "cocite_pairs"))
        citations = find_lines(folder, "cite_pairs")
        return CitationData(papers, read_cocited(pairs), read_citing(citations) if citations else [])

    def usable(self) -> list[Cocited]:
        """Pairs whose citing sentence names few papers."""
        return [pair for pair in self.pairs if pair.company <= MOST_CITED_TOGETHER]

    def learned(self) -> list[Cocited]:
        """Usable pairs of which neither paper is held out."""
        return [pair for pair in self.usable() if not (is_held_out(pair.first) or is_held_out(pair.second))]

    def held_out(self) -> list[Cocited]:
        """Usable pairs with a held-out paper, which comes first: it is the query."""
        return [
            pair if is_held_out(pair.first) else replace(pair, first=pair.second, second=pair.first)
            for pair in self.usable()
            if is_held_out(pair.first) or is_held_out(pair.second)
        ]

    def partners(self) -> Mapping[str, set[str]]:
        """Paper -> all papers it is co-cited with, also in sentences that cite many."""
        partners = defaultdict(set)
        for pair in self.pairs:
            partners[pair.first].add(pair.second)
            partners[pair.second].add(pair.first)
        return partners

    def documents(self, pairs: Sequence[Cocited]) -> dict[str, Document]:
        return read_documents(self.papers, {paper for pair in pairs for paper in (pair.first, pair.second)})


def _needed(folder: Path, name: str) -> Path:
    file = find_lines(folder, name)
    if file is None:
        raise InputError(
            f"There is neither {name}.jsonl nor {name}.jsonl.gz in {folder}: give the folder that holds it "
            "with `--data`."
        )
    return file


@dataclass(frozen=True, slots=True)
class CocitedPair:
    """Two papers of a corpus, and in each the sentence that is nearest to the one that cites both."""

    first: int
    second: int
    ours: int
    theirs: int


@dataclass(frozen=True, slots=True)
class CocitedPairs:
    """Pairs to learn from, each with hard negatives: papers near the first and not linked to it."""

    corpus: Corpus
    pairs: Sequence[CocitedPair]
    negatives: Sequence[Sequence[int]]


def pairs_to_learn(
    data: CitationData,
    make_corpus: MakeCorpus,
    encode: Encode,
    exclude: Set[str] = frozenset(),
    mined: int = MINED,
) -> CocitedPairs:
    """Pairs without held-out papers and without papers whose title, simplified, is in `exclude`."""
    cocited = data.learned()
    if not cocited:
        raise InputError(
            f"None of the {len(data.pairs)} co-cited pairs can be learned from: give more, as one paper in "
            f"twelve is held out, from sentences that cite at most {MOST_CITED_TOGETHER} papers."
        )
    documents = {
        id: one for id, one in data.documents(cocited).items() if same_title(one.title) not in exclude
    }
    cocited = [pair for pair in cocited if {pair.first, pair.second} <= documents.keys()]
    if not cocited:
        raise InputError("All co-cited pairs are of papers in the files given with `--exclude`.")
    corpus = make_corpus(documents)
    sentences = encode(corpus.documents)
    contexts = encode([Document("", (pair.contexts[0],)) for pair in cocited])
    pairs = align(cocited, corpus, contexts, sentences)
    negatives = _hard_negatives(pairs, data, corpus, sentences, mined) if mined else [[] for _ in pairs]
    return CocitedPairs(corpus, pairs, negatives)


def align(
    cocited: Sequence[Cocited], corpus: Corpus, contexts: Vectors, sentences: Vectors
) -> list[CocitedPair]:
    """Pairs with the sentences chosen by the untrained encoder: those nearest to the citing sentence.

    `contexts` has the vector of each pair's citing sentence, `sentences` those of the corpus.
    """
    pairs = []
    for number, one in enumerate(cocited):
        if corpus.has(one.first) and corpus.has(one.second):
            papers = corpus.place[one.first], corpus.place[one.second]
            context = contexts.of(number)[0]
            ours, theirs = (int((sentences.of(paper) @ context).argmax()) for paper in papers)
            pairs.append(CocitedPair(*papers, ours, theirs))
    return pairs


Likeness = Callable[[int], NDArray[np.float32]]
"""Paper -> [P], how like it all papers are."""


def nearest_unlinked(
    pairs: Sequence[CocitedPair], likeness: Likeness, linked: set[tuple[int, int]], count: int = MINED
) -> list[list[int]]:
    """For each pair the papers nearest to the first that are not linked to it."""
    near = []
    for pair in pairs:
        order = [int(paper) for paper in np.argsort(-likeness(pair.first))[:MINED_AMONG]]
        near.append([p for p in order if p != pair.first and (pair.first, p) not in linked][:count])
    return near


def _hard_negatives(
    pairs: Sequence[CocitedPair], data: CitationData, corpus: Corpus, sentences: Vectors, count: int
) -> list[list[int]]:
    """Papers near by vector or by words; of the same topic, hardly alike in the same facet."""
    wholes, ids = sentences.papers.astype(np.float32), list(corpus.place)
    words = Words(dict(zip(ids, corpus.documents, strict=True)))

    def by_words(paper: int) -> NDArray[np.float32]:
        document = corpus.documents[paper]
        return words.likeness(document, range(len(document.sentences)), ids)

    linked = _linked(data, corpus)
    by_vector = nearest_unlinked(pairs, lambda paper: wholes @ wholes[paper], linked, count)
    return [
        [paper for paper in dict.fromkeys(near + alike) if corpus.window[paper] >= 0]
        for near, alike in zip(by_vector, nearest_unlinked(pairs, by_words, linked, count), strict=True)
    ]


def _linked(data: CitationData, corpus: Corpus) -> set[tuple[int, int]]:
    """Papers that are co-cited in any sentence or cite one another, in both directions."""
    links = [(pair.first, pair.second) for pair in data.pairs] + data.citations
    places = [(corpus.place[a], corpus.place[b]) for a, b in links if {a, b} <= corpus.place.keys()]
    return {edge for a, b in places for edge in ((a, b), (b, a))}


@dataclass(frozen=True, slots=True)
class CocitedTest:
    """Held-out queries, each with the partner that is to be found in the pool."""

    corpus: Corpus
    queries: Sequence[tuple[int, int]]
    pool: Sequence[int]
    partners: Mapping[int, frozenset[int]]
    """Query -> all papers it is co-cited with: they may rank before the partner."""


def cocited_test(data: CitationData, make_corpus: MakeCorpus) -> CocitedTest:
    """Held-out papers whose partner is to be found among a thousand papers that are co-cited as well."""
    random = np.random.default_rng(17)  # part of the test: another number draws other pairs
    partners, unseen = data.partners(), data.held_out()
    if not unseen:
        raise InputError(
            f"None of the {len(data.pairs)} co-cited pairs is held out to be scored: give more, as one paper "
            f"in twelve is held out, from sentences that cite at most {MOST_CITED_TOGETHER} papers."
        )
    unseen = [unseen[number] for number in random.permutation(len(unseen))[:TEST_PAIRS]]
    documents = data.documents(data.usable())
    others = [list(documents)[number] for number in random.permutation(len(documents))[: 2 * TEST_PAPERS]]
    needed = {*others, *(paper for pair in unseen for paper in (pair.first, pair.second))}
    corpus = make_corpus({paper: one for paper, one in documents.items() if paper in needed})
    pairs = [pair for pair in unseen if corpus.has(pair.first) and corpus.has(pair.second)]
    if not pairs:
        raise InputError("All held-out pairs are of papers too long to be scored: give shorter abstracts.")
    wanted = dict.fromkeys(pair.second for pair in pairs)
    more = [paper for paper in others if paper not in wanted and corpus.has(paper)]
    pool = [*wanted, *more[: TEST_PAPERS - len(wanted)]]
    place = {paper: corpus.place[paper] for paper in pool}
    return CocitedTest(
        corpus,
        [(corpus.place[pair.first], corpus.place[pair.second]) for pair in pairs],
        list(place.values()),
        {
            corpus.place[pair.first]: frozenset(place[each] for each in partners[pair.first] & place.keys())
            for pair in pairs
        },
    )
