"""Reference: packed and unpacked, merged, stored, and absent in a corpus of layout 1."""

from __future__ import annotations

from dataclasses import fields, replace

import duckdb
import pytest

from search.corpus.store import Snapshot, Store, record_table, snapshot, tables
from search.library.files import Kept, ReadingList, dump_lists, load_lists
from search.references import LISTS, from_dict, merge, pack, unpack
from search.text.sentences import split_paper
from search.types import Kind, Paper, Reference

FULL = Reference(
    **{
        field.name: ("Nível, Á", "b") if field.name in LISTS else f"{field.name} \u201c{{}}\u201d"
        for field in fields(Reference)
        if field.name != "kind"
    },
    kind=Kind.THESIS,
)
"""Every field has a value, each another one."""
PAPER = Paper("doi:10.1/a", "A title long enough to tell papers apart", "One. Two.", year=2001, doi="10.1/a")


def test_every_field_is_packed_and_unpacked():
    assert all(getattr(FULL, field.name) for field in fields(Reference))
    assert unpack(pack(FULL)) == FULL
    assert pack(Reference()) == ""
    assert unpack("") == Reference()


@pytest.mark.parametrize("wrong", [[], {"volume": 3}, {"issn": "1234"}, {"issn": [1]}, {"kind": "poem"}, 7])
def test_wrong_values_are_refused(wrong):
    with pytest.raises((TypeError, ValueError)):
        from_dict(wrong)


def test_a_reference_survives_store_snapshot_and_list(tmp_path):
    paper = split_paper(replace(PAPER, reference=FULL))
    with Store.create(tmp_path / "store.duckdb") as store:
        store.add([paper])
        store.snapshot(tmp_path / "snapshot.duckdb")
        assert store.paper(PAPER.id).reference == FULL
    with Snapshot.open(tmp_path / "snapshot.duckdb") as build:
        assert build.paper(PAPER.id).reference == FULL
    kept = load_lists(dump_lists([ReadingList("one", (Kept(paper),))]).encode())
    assert kept[0].kept[0].paper.reference == FULL


def test_the_published_reference_wins_and_is_completed():
    preprint = Reference(kind=Kind.PREPRINT, date="2021-01", keywords=("a",), language="en")
    article = Reference(kind=Kind.ARTICLE, volume="3", keywords=("b",))
    bare = Reference(pages="1-9", issn=("1234-5678",))
    merged = merge([preprint, article, bare])
    assert merged == Reference(
        kind=Kind.ARTICLE,
        volume="3",
        pages="1-9",
        issn=("1234-5678",),
        keywords=("b", "a"),
        language="en",
    )


def test_venue_and_year_come_with_the_published_reference(tmp_path):
    title, ids = PAPER.title, {"doi": "10.1/a", "arxiv_id": "2101.00001"}
    preprint = Paper("arxiv:2101.00001", title, "One. Two.", year=2020, venue="arXiv",
                     reference=Reference(kind=Kind.PREPRINT, date="2020-05"), **ids)  # fmt: skip
    article = Paper("doi:10.1/a", title, "One.", year=2021, venue="Journal of Tests",
                    reference=Reference(kind=Kind.ARTICLE, volume="4"), **ids)  # fmt: skip
    with Store.create(tmp_path / "store.duckdb") as store:
        store.add([split_paper(preprint), split_paper(article)])
        paper = store.paper("doi:10.1/a")
    assert (paper.id, paper.abstract) == ("arxiv:2101.00001", "One. Two.")
    assert (paper.year, paper.venue, paper.reference) == (2021, "Journal of Tests", article.reference)


def _write_older(newer, path, kind, layout):
    with duckdb.connect(str(path)) as old:
        old.execute(tables.ABOUT + layout)
        old.execute("INSERT INTO about VALUES (?, 1)", [kind])
        names = old.execute("SELECT table_name FROM duckdb_tables() WHERE table_name <> 'about'").fetchall()
        old.execute(f"ATTACH '{newer}' AS newer (READ_ONLY)")
        for (name,) in names:
            columns = "* EXCLUDE reference" if name in ("records", "papers") else "*"
            old.execute(f"INSERT INTO {name} SELECT {columns} FROM newer.{name}")


@pytest.fixture
def older(tmp_path):
    """A store and a snapshot of layout 1 with one paper, as the version before wrote them."""
    paper = split_paper(PAPER)
    with Store.create(tmp_path / "new.duckdb") as store:
        store.add([paper])
        store.snapshot(tmp_path / "new-build.duckdb")
    _write_older(
        tmp_path / "new.duckdb", tmp_path / "store.duckdb", record_table.KIND, record_table.LAYOUTS[1]
    )
    _write_older(tmp_path / "new-build.duckdb", tmp_path / "build.duckdb", snapshot.KIND, snapshot.LAYOUTS[1])
    return tmp_path


def test_a_corpus_of_layout_1_opens_and_takes_in_references(older):
    with Snapshot.open(older / "build.duckdb") as build:
        assert build.paper(PAPER.id).title == PAPER.title
        assert build.paper(PAPER.id).reference == Reference()
    with Store.open(older / "store.duckdb") as store:
        assert store.paper(PAPER.id).reference == Reference()
        store.snapshot(older / "again.duckdb")
    with Store.open(older / "store.duckdb", read_only=False) as store:
        assert store.add([split_paper(PAPER)]).unchanged == 1
        assert store.add([split_paper(replace(PAPER, reference=FULL))]).replaced == 1
    with Store.open(older / "store.duckdb") as store:
        assert store.paper(PAPER.id).reference == FULL
