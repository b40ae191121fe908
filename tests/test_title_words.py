"""A paper is found by what people paste and type: addresses, ids, authors, titles with slips."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.corpus.store import Snapshot, Store
from search.corpus.store.addresses import read_identifiers
from search.text.sentences import split_paper
from search.types import Paper

PAPERS = (
    Paper("a", "Tides in closed basins", authors=("Smith, Jane",), year=2019, doi="10.1002/abc.123"),
    Paper("b", "Convolutional networks for bird song", "", ("Müller, Jörg",), 2019, arxiv_id="2101.00001"),
    Paper("c", "A survey of wind over warm water", authors=("Smith, Ada",), year=2001, pmid="31415926"),
    Paper("d", "On Gödel and Erdős numbers", authors=("Lo, Bea",), year=2001, doi="10.3389/fpsyg.2020.00001"),
    Paper("e", "深層学習による音声認識", arxiv_id="cs/0101001", url="https://papers.example/E/"),
    Paper("f", "From bird song to networks", doi="10.1101/2020.01.01.123", year=1999),
)  # fmt: skip


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Snapshot]:
    folder = tmp_path_factory.mktemp("words")
    with Store.create(folder / "store.duckdb") as store:
        store.add([split_paper(paper) for paper in PAPERS])
        store.snapshot(folder / "build.duckdb")
    with Snapshot.open(folder / "build.duckdb") as opened:
        yield opened


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("https://arxiv.org/abs/2101.00001", "b"),
        ("http://arxiv.org/pdf/2101.00001v2", "b"),
        ("arxiv.org/pdf/2101.00001v2.pdf", "b"),
        ("arXiv:2101.00001v3", "b"),
        ("2101.00001", "b"),
        ("https://arxiv.org/abs/cs/0101001", "e"),
        ("https://doi.org/10.48550/arXiv.2101.00001", "b"),
        ("https://doi.org/10.1002/ABC.123", "a"),
        ("http://dx.doi.org/10.1002%2Fabc.123", "a"),
        ("doi:10.1002/abc.123.", "a"),
        ("10.1002/abc.123", "a"),
        ("https://onlinelibrary.wiley.com/doi/full/10.1002/abc.123?saml=1#top", "a"),
        ("https://www.frontiersin.org/articles/10.3389/fpsyg.2020.00001/full", "d"),
        ("https://www.biorxiv.org/content/10.1101/2020.01.01.123v1.full", "f"),
        ("https://pubmed.ncbi.nlm.nih.gov/31415926/", "c"),
        ("https://www.ncbi.nlm.nih.gov/pubmed/31415926", "c"),
        ("PMID: 31415926", "c"),
        ("31415926", "c"),
        ("https://papers.example/e", "e"),
        ("https://arxiv.org/abs/2101.99999", ""),
        ("https://doi.org/10.1002/unknown", ""),
        ("A", "a"),
        ("smith 2019", "a"),
        ("Jane Smith", "a"),
        ("smith, j", "a"),
        ("muller", "b"),
        ("Müller 2019", "b"),
        ("Joerg Mueller", "b"),
        ("smith", "ac"),
        ("convolutionl netwroks", "b"),
        ("konvolutional networks for brid song", "b"),
        ("tdies in clsoed basins", "a"),
        ("godel erdos", "d"),
        ("Gödel and Erdös", "d"),
        ("bird song", "fb"),
        ("networks for bird song", "b"),
        ("音声", "e"),
        ("surv", "c"),
        ("a survey of wind over warm water in winter", "c"),
        ("wind over cold lakes", ""),
        ("a survey of wind over warm waters today", "c"),
        ("form bird song to networks", "f"),
        ("xyzzy plugh", ""),
        ("%_'; drop table papers --", ""),
        ("   ", ""),
        ("\ud800 tides"[1:], "a"),
    ],
)  # fmt: skip
def test_found_by(snapshot: Snapshot, text: str, ids: str) -> None:
    for _ in range(2):
        assert "".join(paper.id for paper in snapshot.find(text)) == ids


@given(st.text(max_size=600))
def test_any_text_is_only_looked_up(text: str) -> None:
    assert len(read_identifiers(text).dois) <= 8


def test_a_very_long_text_is_cut(snapshot: Snapshot) -> None:
    assert snapshot.find("tides " * 50_000)[0].id == "a"
    assert snapshot.find("https://arxiv.org/abs/2101.00001?" + "x" * 1_000_000)[0].id == "b"


def test_no_more_than_asked_for(snapshot: Snapshot) -> None:
    assert len(snapshot.find("o", 2)) == 2
