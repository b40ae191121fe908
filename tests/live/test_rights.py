"""Whose abstract it is, under what, and how a paper came: kept through merging, filtered by, exported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from search.corpus.store import Snapshot, Store
from search.exports import FORMATS, cite
from search.references import from_dict, pack, unpack
from search.text.sentences import split_paper
from search.types import Filters, Kind, Paper, Reference

TITLE = "On the growth of lichen upon granite anchors"
SHORT = "Lichen grows on anchors of granite."
LONG = f"{SHORT} We measure it every year for ten years and compare it with moss."
ODD = 'PubMed, sepsis[mesh] AND "50%_off" \\ é'
RECORDS = (
    Paper(
        "doi:10.1/a", TITLE, SHORT, ("Ann, A",), 2024, "Journal", doi="10.1/a", source="crossref",
        reference=Reference(
            kind=Kind.ARTICLE, licence="publisher", origins=("cites 10.1/b",), abstract_from="Crossref",
            abstract_licence="as deposited",
        ),
    ),
    Paper(
        "arxiv:2401.00001", TITLE, LONG, ("Ann, A",), 2024, doi="10.1/a", arxiv_id="2401.00001",
        source="atom",
        reference=Reference(
            kind=Kind.PREPRINT, origins=(ODD,), notes=("Read this.",), abstract_from="arXiv",
            abstract_licence="CC0", status="withdrawn",
        ),
    ),
    Paper("other", "Another paper about something else", "It has no origin.", source="bibtex"),
)  # fmt: skip


@pytest.fixture
def snapshot(tmp_path: Path) -> Snapshot:
    with Store.create(tmp_path / "store.duckdb") as store:
        store.add([split_paper(paper) for paper in RECORDS])
        store.snapshot(tmp_path / "snapshot.duckdb")
    return Snapshot.open(tmp_path / "snapshot.duckdb")


def test_the_rights_are_those_of_the_abstract_that_was_chosen(snapshot: Snapshot) -> None:
    (paper,) = snapshot.papers(["arxiv:2401.00001"])
    assert paper.abstract == LONG
    assert paper.venue == "Journal"
    assert (paper.reference.abstract_from, paper.reference.abstract_licence) == ("arXiv", "CC0")
    assert paper.reference.licence == "publisher"
    assert set(paper.reference.origins) == {"cites 10.1/b", ODD}
    assert paper.reference.notes == ("Read this.",)
    assert paper.reference.status == ""  # the preprint was withdrawn, not the article


def test_an_origin_is_a_filter_whatever_stands_in_it(snapshot: Snapshot) -> None:
    assert snapshot.origin_counts() == {"cites 10.1/b": 1, ODD: 1}
    for origin in (ODD, "cites 10.1/b"):
        rows = snapshot.paper_rows(Filters(origins=(origin,)))
        assert rows is not None
        assert rows.tolist() == [0]
    for origin in ("cites 10.1/", "cites 10_1/b", "%"):
        rows = snapshot.paper_rows(Filters(origins=(origin,)))
        assert rows is not None
        assert rows.size == 0


@pytest.mark.parametrize("format", FORMATS)
def test_every_export_says_whose_abstract_it_is(format: str) -> None:
    text = cite(RECORDS[1], format)
    assert "arXiv" in text
    assert "CC0" in text
    assert "ithdrawn" in text


def test_packed_and_back() -> None:
    reference = RECORDS[1].reference
    assert unpack(pack(reference)) == reference
    assert from_dict(json.loads(pack(reference)) | {"of a later version": 1}) == reference
