"""Which records became one paper: the report, and how to undo it for good."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import pytest

from index_build.__main__ import main
from index_build.merging import report, split
from search.corpus import duplicates
from search.corpus.layout import STORE
from search.corpus.store import Snapshot, Store
from search.errors import InputError
from search.text.sentences import split_paper
from search.types import Kind, Paper, Reference

TITLE = "A title long enough to tell papers apart"
BIB = Paper("doi:10.1/a", TITLE, "It rains. It pours.", ("Rain, Ada",), 2001, "Journal of Rain", doi="10.1/a",
            source="bibtex", reference=Reference(kind=Kind.ARTICLE, volume="3"))  # fmt: skip
RIS = replace(
    BIB, source="ris", venue="J Rain", reference=Reference(kind=Kind.ARTICLE, volume="3", pages="1-9")
)
WOS = Paper("wos:1", TITLE, "It rains. It pours.", ("Rain, A.",), 2001, source="wos")
OTHER = Paper("x", "Quite another paper about something else", "No.", year=2001, source="wos")


@pytest.fixture
def corpus(tmp_path):
    with Store.create(tmp_path / STORE) as store:
        store.add([split_paper(paper) for paper in (BIB, OTHER)])
        store.add([split_paper(paper) for paper in (RIS, WOS)])
    return tmp_path


def test_records_of_two_formats_are_both_kept_and_the_report_says_why(corpus):
    found = report(corpus)
    assert found.records == {"wos": 2, "bibtex": 1, "ris": 1}
    assert found.joined == {"wos": 1, "bibtex": 0, "ris": 1}
    (merge,) = found.merges
    assert merge.paper.reference == RIS.reference
    assert [(record.id, record.why) for record in merge.records] == [
        ("doi:10.1/a", ""),
        ("doi:10.1/a#ris", "same DOI"),
        ("wos:1", "same title and year, authors and abstract alike"),
    ]
    first, second, third = (record.gave for record in merge.records)
    assert {"title", "abstract", "venue", "doi", "volume", "kind"} <= set(first)
    assert second == ("pages",)
    assert third == ()


def test_the_same_again_changes_nothing(corpus):
    with Store.open(corpus / STORE, read_only=False) as store:
        again = store.add([split_paper(paper) for paper in (BIB, RIS, WOS, OTHER)])
        assert (again.unchanged, store.counts().papers) == (4, 2)


def test_a_split_pair_stays_apart(corpus):
    assert split(corpus, "wos:1") == ("doi:10.1/a", "doi:10.1/a#ris")
    with Store.open(corpus / STORE, read_only=False) as store:
        assert store.counts().papers == 3
        store.add([split_paper(replace(WOS, abstract="It rains and pours."))])
        store.add([split_paper(BIB), split_paper(replace(WOS, id="wos:2"))])
        assert store.paper("wos:1").id == "wos:1"
        assert store.paper("doi:10.1/a").id == "doi:10.1/a"
        store.snapshot(corpus / "build.duckdb")
    with Snapshot.open(corpus / "build.duckdb") as build:
        papers = build.papers(["doi:10.1/a", "wos:1"])
        assert build.apart == {("doi:10.1/a", "wos:1")}
        assert duplicates.group(papers) == [[0, 1]]
        assert duplicates.group(papers, apart=build.apart) == [[0], [1]]


def test_only_the_named_pair_is_split(corpus):
    assert split(corpus, "doi:10.1/a#ris", "doi:10.1/a") == ("doi:10.1/a",)
    assert len(report(corpus).merges) == 1
    assert report(corpus).apart == 1


@pytest.mark.parametrize("ids", [("x",), ("nobody",), ("doi:10.1/a", "x")])
def test_what_is_not_merged_cannot_be_split(corpus, ids):
    with pytest.raises(InputError, match="index_build merges"):
        split(corpus, *ids)


def test_the_commands(corpus, capsys):
    table = corpus / "merges.csv"
    assert main(["merges", "--out", str(corpus), "--csv", str(table)]) == 0
    told = capsys.readouterr().out
    assert "same DOI; gave pages" in told
    assert "1 records, 1 joined an earlier one" in told
    with table.open(newline="", encoding="utf-8") as file:
        assert [row["why"] for row in csv.DictReader(file)][1] == "same DOI"
    assert main(["split", "wos:1", "doi:10.1/a", "--out", str(corpus)]) == 0
    assert "takes effect with the next build" in capsys.readouterr().out
    assert main(["merges", "--out", str(corpus), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["apart"] == 1
    assert main(["split", "nobody", "--out", str(corpus)]) == 2
