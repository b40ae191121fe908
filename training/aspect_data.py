"""Batches for the aspect encoder: graded pools, co-cited pairs, and both validation sets."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from search.asked import CONTEXT
from search.lexical import LexicalIndex, weigh_terms
from search.tokens import Document
from search.types import PANELS, Facet
from training.papers import ACL, CITED, CSFCUBE, Cocited, normalised, read_documents, read_test_titles
from training.states import Batch, LowerLayers, States
from training.teacher import Vectors

ROUNDS = ("", "-more", "-fresh", "-later", "-wide")
JUDGEMENTS = [Path(__file__).parent / f"judgements{part}.jsonl" for part in ROUNDS]
"""In the order they were made; the last three were drawn with a trained encoder."""
SOURCE_MARK = ":"
"""Ids of the citation collection name their source before it; ids of the ACL Anthology have none."""
HELD_OUT_SHARE = 10
"""One pool in this many is only scored."""
NOT_ALIGNED = -1
MINED, MINED_AMONG = 10, 40
"""Negatives of a pair, out of so many nearest papers."""
NEAREST, FOLLOWING = 5, 100
"""Of a pool that nobody graded: so many nearest papers, and as many out of those that follow."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Papers with the hidden states they are trained from and, where there is a teacher, its vectors."""

    place: Mapping[str, int]
    """Paper id -> number."""
    documents: tuple[Document, ...]
    states: States
    window: NDArray[np.int64]
    """Paper -> its only window; -1 for one so long that it has several, which is never trained on."""
    teacher: Vectors | None

    def has(self, paper: str) -> bool:
        return paper in self.place and self.window[self.place[paper]] >= 0

    def batch(self, papers: Sequence[int], device: torch.device) -> Batch:
        return self.states.batch([int(self.window[paper]) for paper in papers], device)

    def taught(self, papers: Sequence[int], device: torch.device) -> tuple[Tensor, Tensor]:
        """The teacher's vectors of these papers' sentences, end to end, and of the papers."""
        assert self.teacher is not None
        sentences = np.concatenate([self.teacher.of(paper) for paper in papers])
        wholes = self.teacher.papers[list(papers)].astype(np.float32)
        return torch.from_numpy(sentences).to(device), torch.from_numpy(wholes).to(device)


def make_corpus(
    documents: Mapping[str, Document],
    lower: LowerLayers,
    cache: Path,
    progress: Callable[[int, int], None],
    teach: Callable[[Sequence[Document]], Vectors] | None = None,
) -> Corpus:
    texts = tuple(documents.values())
    states = lower.states(texts, cache, progress)
    owners = np.array([window.document for window in states.windows])
    window = np.full(len(texts), -1)
    for number, (owner, count) in enumerate(zip(owners, np.bincount(owners)[owners], strict=True)):
        if count == 1:
            window[owner] = number
    teacher = teach(texts) if teach else None
    return Corpus({paper: n for n, paper in enumerate(documents)}, texts, states, window, teacher)


@dataclass(frozen=True, slots=True)
class Pool:
    """A query's graded candidates, as numbers of a corpus."""

    id: str
    facet: str
    query: int
    sentences: tuple[int, ...]
    """The query's sentences that were asked about."""
    candidates: tuple[int, ...]
    grades: tuple[int, ...]
    words: NDArray[np.float32]
    """[c] BM25 of each candidate, from 0 to 1, as in search/fusion.py."""
    roles: tuple[NDArray[np.float32], ...]
    """For each candidate [n]: 1 where its sentence is one of the facet."""


@dataclass(frozen=True, slots=True)
class Graded:
    """A line of a file of judgements."""

    query: str
    facet: str
    sentences: tuple[int, ...]
    grades: Mapping[str, int]

    @property
    def id(self) -> str:
        return f"{self.query}_{self.facet}"

    @property
    def held_out(self) -> bool:
        """Only scored, never learned from; the name alone decides."""
        return hashlib.sha256(self.id.encode()).digest()[0] % HELD_OUT_SHARE == 0

    def with_zeros(self, most: int) -> Graded:
        """With at most so many unrelated candidates: most are, and each costs as much as a related one."""
        related = {paper: grade for paper, grade in self.grades.items() if grade > 0}
        unrelated = [paper for paper, grade in self.grades.items() if grade == 0]
        kept = sorted(unrelated, key=lambda paper: hashlib.sha256(f"{self.id} {paper}".encode()).digest())[
            :most
        ]
        return replace(self, grades=related | dict.fromkeys(kept, 0))


def read_graded(path: Path) -> list[Graded]:
    records = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [Graded(r["query"], r["facet"], tuple(r["sentences"]), r["grades"]) for r in records]


def read_judged(data: Path, graded: Sequence[Graded]) -> dict[str, Document]:
    """The papers of graded pools by id, from the file that has them; none of CSFCube's."""
    wanted = {paper for one in graded for paper in (one.query, *one.grades)}
    cited = {paper for paper in wanted if SOURCE_MARK in paper}
    documents: dict[str, Document] = {}
    for file, papers in ((ACL, wanted - cited), (CITED, cited)):
        if papers:
            documents |= read_documents(data / file, papers)
    forbidden = read_test_titles(data / CSFCUBE)
    return {id: one for id, one in documents.items() if normalised(one.title) not in forbidden}


def make_pools(graded: Sequence[Graded], corpus: Corpus, words: Words, labelled: Vectors) -> list[Pool]:
    """Pools over a corpus; papers it does not have are left out, and so are pools of one grade only.

    `labelled` are the corpus's papers with the facets of their sentences.
    """
    pools = []
    for one in graded:
        kept = [paper for paper in one.grades if corpus.has(paper)]
        grades = tuple(one.grades[paper] for paper in kept)
        if corpus.has(one.query) and len(set(grades)) > 1:
            query, candidates = corpus.place[one.query], tuple(corpus.place[paper] for paper in kept)
            found = words.likeness(corpus.documents[query], one.sentences, kept)
            roles = tuple(labelled.roles(paper, one.facet) for paper in candidates)
            pools.append(Pool(one.id, one.facet, query, one.sentences, candidates, grades, found, roles))
    return pools


def ask_more(pools: Sequence[Pool], corpus: Corpus, words: Words, labelled: Vectors, seed: int) -> list[Pool]:
    """For each pool one that nobody graded, for the teacher to rank: the same paper, another facet of it.

    Its candidates are the nearest by the teacher and by words, and some of those that follow.
    """
    assert corpus.teacher is not None
    ids = list(corpus.place)
    usable = corpus.window >= 0
    made = []
    for number, pool in enumerate(pools):
        random = np.random.default_rng([seed, number])
        facets = {
            panel: np.flatnonzero(labelled.roles(pool.query, panel))
            for panel in PANELS
            if panel != pool.facet
        }
        possible = [panel for panel, places in facets.items() if len(places)]
        if not possible:
            continue
        facet = str(random.choice(possible))
        asked = tuple(int(place) for place in facets[Facet(facet)])
        lexical = words.likeness(corpus.documents[pool.query], asked, ids)
        near = corpus.teacher.of(pool.query)[list(asked)] @ corpus.teacher.sentences.T.astype(np.float32)
        match = np.maximum.reduceat(near, corpus.teacher.offsets[:-1], axis=1).mean(0)
        order = [
            [int(paper) for paper in np.argsort(-score) if usable[paper] and paper != pool.query]
            for score in (match + lexical, lexical)
        ]
        following = random.permutation(order[0][NEAREST:FOLLOWING])[:NEAREST]
        chosen = dict.fromkeys([*order[0][:NEAREST], *order[1][: NEAREST // 2], *map(int, following)])
        roles = tuple(labelled.roles(paper, facet) for paper in chosen)
        made.append(
            Pool(
                f"{ids[pool.query]}_{facet}",
                facet,
                pool.query,
                asked,
                tuple(chosen),
                (),
                lexical[list(chosen)],
                roles,
            )
        )
    return made


class Words:
    """BM25 over some papers as the engine counts it: ticked sentences fully, title and the others less."""

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self.place = {paper: number for number, paper in enumerate(documents)}
        texts = (f"{one.title} {' '.join(one.sentences)}" for one in documents.values())
        self._folder = tempfile.TemporaryDirectory()
        LexicalIndex.build(texts, Path(self._folder.name) / "words")
        self.index = LexicalIndex.open(Path(self._folder.name) / "words")

    def likeness(self, query: Document, ticked: Sequence[int], papers: Sequence[str]) -> NDArray[np.float32]:
        """[c] for these papers, over the most the query could reach."""
        texts = [(query.title, CONTEXT)]
        texts += [(text, 1.0 if place in ticked else CONTEXT) for place, text in enumerate(query.sentences)]
        terms = weigh_terms(texts)
        most = sum(weight * self.index.idf(term) for term, weight in terms.items())
        scores = self.index.scores(terms)[[self.place[paper] for paper in papers]]
        return scores / np.float32(max(most, 1))


@dataclass(frozen=True, slots=True)
class Aligned:
    """A pair as numbers of a corpus, and the sentence of each that the one citing both is nearest to."""

    first: int
    second: int
    ours: int = NOT_ALIGNED
    theirs: int = NOT_ALIGNED

    @property
    def aligned(self) -> bool:
        """False where one paper cites the other: no sentence says why."""
        return self.ours != NOT_ALIGNED


def align(pairs: Sequence[Cocited], corpus: Corpus, contexts: Vectors, sentences: Vectors) -> list[Aligned]:
    """Pairs with their sentences chosen by an auxiliary encoder: argmax of the likeness to the context.

    `contexts` holds the vector of each pair's citing sentence, `sentences` those of the corpus.
    """
    aligned = []
    for number, pair in enumerate(pairs):
        if corpus.has(pair.first) and corpus.has(pair.second):
            papers = corpus.place[pair.first], corpus.place[pair.second]
            context = contexts.of(number)[0]
            nearest = [int((sentences.of(paper) @ context).argmax()) for paper in papers]
            aligned.append(Aligned(*papers, *nearest))
    return aligned


def mine_neighbours(
    pairs: Sequence[Aligned],
    likeness: Callable[[int], NDArray[np.float32]],
    linked: set[tuple[int, int]],
) -> list[list[int]]:
    """For each pair papers near the first that are not linked to it: same topic, hardly the same aspect.

    `likeness` gives all papers' to one.
    """
    near = []
    for pair in pairs:
        order = [int(paper) for paper in np.argsort(-likeness(pair.first))[:MINED_AMONG]]
        near.append([p for p in order if p != pair.first and (pair.first, p) not in linked][:MINED])
    return near
