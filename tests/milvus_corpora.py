"""Small corpora for tests of Milvus: random vectors, a paper too long for a field, one of two records."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from index_build.moving import Moved, publish_to
from index_build.steps import build
from search.corpus import layout
from search.corpus.folder import FolderBuild, FolderCorpus
from search.corpus.milvus.corpus import MilvusCorpus
from search.corpus.store import Store
from search.text.sentences import split_paper
from search.types import Facet, Paper, Reference, Section
from tests.miniature import all_papers
from tests.random_encoder import RandomEncoder

METHODS = (Section(0, 52, Facet.METHOD),)
LONG = "A paper of many sentences that fit no single field"


def papers() -> list[Paper]:
    text = " ".join(f"The sentence number {number} tells of another river." for number in range(130))
    long = split_paper(
        Paper(
            "long", LONG, text, ("Many, Ada",), 2012, "Long Reads", sections=(Section(0, 52, Facet.METHOD),)
        )
    )
    long = replace(long, reference=Reference(origins=("arXiv today",)))
    first, *others = all_papers()
    twice = replace(first, id="second:record", doi="10.5555/twice"), replace(first, doi="10.5555/twice")
    return [twice[1], *others, twice[0], long]


def make_folder(folder: Path, *more: Paper, few: bool = False) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / layout.STORE
    with Store.open(path, read_only=False) if path.is_file() else Store.create(path) as store:
        store.add([*(papers()[:6] if few else papers()), *more])
    build(folder, encoder=RandomEncoder(dimension=384))
    return folder


def one_more(number: int) -> Paper:
    text = f"The paper number {number} came later. It tells of a new river."
    return split_paper(Paper(f"later:{number}", f"A later paper, number {number}", text))


def opened(folder: Path) -> FolderBuild:
    corpus = FolderCorpus(folder)
    name = corpus.builds()[0]
    return corpus.open(name, corpus.manifest(name))


def publish(folder: Path, target: MilvusCorpus, keep: int = 2) -> Moved:
    return publish_to(folder, target, lambda step, done, total: None, keep)
