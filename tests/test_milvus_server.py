"""The real Milvus server of a package, encrypted and with a token: vectors, filters, the pointer, a crash.

`python -m tests.campaign milvus` kills it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from index_build.milvus import MilvusPublisher
from index_build.moving import compare, engine_on, publish_to
from search.corpus.milvus.build import MilvusBuild
from search.corpus.milvus.corpus import MilvusCorpus
from search.corpus.milvus.shapes import ABOUT, DETAILS, collection_of
from search.errors import CorpusError
from search.types import Filters
from tests import milvus_corpora
from tests.campaign.milvus import loaded, search
from tests.milvus_servers import MilvusServer, make_certificate, needs_real, running

pytestmark = [needs_real, pytest.mark.slow]
TOKEN = "root:Milvus"
"""What a new server takes."""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, certificate: Path) -> Iterator[MilvusServer]:
    folder = tmp_path_factory.mktemp("milvus") / "data"
    key = certificate.with_name("key.pem")
    encrypted = ("tls_mode=1", f"server_pem_path={certificate}", f"server_key_path={key}")
    with running("real", folder, "authorization_enabled=true", *encrypted) as found:
        yield found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return milvus_corpora.make_folder(tmp_path_factory.mktemp("folder") / "corpus")


@pytest.fixture(scope="module")
def published(server: MilvusServer, folder: Path, certificate: Path) -> MilvusCorpus:
    corpus = MilvusCorpus(_address(server), TOKEN, certificate)
    moved = milvus_corpora.publish(folder, corpus)
    assert (moved.replicas, moved.words) == (1, False)
    return corpus


def _address(server: MilvusServer) -> str:
    return server.address(scheme="milvus+tls")


def _open(corpus: MilvusCorpus) -> MilvusBuild:
    name = corpus.builds()[0]
    return corpus.open(name, corpus.manifest(name))


def test_vectors_filters_and_scores_are_those_of_the_folder(published: MilvusCorpus, folder: Path) -> None:
    there, here = _open(published), milvus_corpora.opened(folder)
    vectors = here.whole_vectors(here.spread(3)).astype(np.float32)
    for filters in (
        Filters(),
        Filters(year_to=2012),
        Filters(venues=("Long Reads",)),
        Filters(ids=("long",)),
    ):
        assert there.count(filters) == here.count(filters)
        for name in ("near_sentences", "near_papers"):
            (ours, rows), (theirs, others) = (
                getattr(each, name)(vectors, 5, filters) for each in (there, here)
            )
            for mine, other in zip(rows, others, strict=True):
                assert set(mine[mine >= 0]) == set(other[other >= 0])
            width = theirs.shape[1]
            assert np.where(rows[:, :width] < 0, 0, ours[:, :width]) == pytest.approx(theirs, abs=2e-3)
    rows = here.next_rows(-1, 100)
    terms = {"river": 1.0, "study": 0.5}
    assert there.words(terms).of(rows) == pytest.approx(here.words(terms).of(rows), abs=1e-4)
    assert len(there.words(terms).best(5)[0]) == 0  # this server has no sparse vectors
    assert compare(engine_on(here), engine_on(there), 8).largest < 1e-3


def test_a_wrong_token_is_said(server: MilvusServer, published: MilvusCorpus, certificate: Path) -> None:
    with pytest.raises(CorpusError, match="refuses the token"):
        MilvusCorpus(_address(server), "root:wrong", certificate).builds()


def test_two_copies_need_two_nodes(server: MilvusServer, published: MilvusCorpus) -> None:
    """One standing server has one; who insists on two is told."""
    publisher = MilvusPublisher(published.address, replicas=2)
    name = collection(published)
    with pytest.raises(CorpusError, match="could not do it"):
        publisher._load(name, 2)
    publisher._load(name, 1)
    assert _open(published).manifest.papers


def collection(corpus: MilvusCorpus) -> str:
    return collection_of(corpus.address.name, corpus.builds()[0], ABOUT)


def test_vectors_of_eight_bits_are_taken_and_searched(
    server: MilvusServer, folder: Path, certificate: Path
) -> None:
    """A corpus as small as this is compared in full all the same; what is asked must be understood."""
    corpus = MilvusCorpus(server.address("eight", "milvus+tls"), TOKEN, certificate)
    assert publish_to(folder, corpus, lambda step, done, total: None, index="sq8", checked=8).same == 1.0
    assert not _open(corpus).is_exact


def test_a_server_that_dies_while_a_corpus_is_published_serves_what_it_served(
    server: MilvusServer, published: MilvusCorpus, folder: Path, certificate: Path, tmp_path: Path
) -> None:
    """The last test: the server has another port afterwards."""
    before, expected = published.current(), search(engine_on(_open(published)))
    shutil.copytree(folder, tmp_path / "grown")
    grown = milvus_corpora.make_folder(tmp_path / "grown", milvus_corpora.one_more(1))
    real = MilvusPublisher._write

    def dying(self: MilvusPublisher, part: str, rows: list[dict[str, object]], first: int, end: int) -> None:
        if part == DETAILS:
            server.kill()
        real(self, part, rows, first, end)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MilvusPublisher, "_write", dying)
        with pytest.raises(CorpusError):
            milvus_corpora.publish(grown, published)
    server.start()
    assert search(loaded(_address(server), TOKEN, certificate)) == expected
    corpus = MilvusCorpus(_address(server), TOKEN, certificate)
    assert corpus.current() == before
    moved = milvus_corpora.publish(grown, corpus)
    assert (moved.same, moved.was_there) == (1.0, False)
    assert corpus.current() != before
    assert _open(corpus).manifest.papers == milvus_corpora.opened(folder).manifest.papers + 1
