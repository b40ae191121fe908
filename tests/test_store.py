"""The working store and its snapshots: each record once, rows dense, readers side by side."""

import threading
from dataclasses import replace

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index_build.steps import labelled
from search.corpus.store import AddReport, Snapshot, Store, merged
from search.corpus.store.snapshot import FIELDS, SOURCES, VENUES, YEARS
from search.corpus.store.writer import SnapshotWriter
from search.errors import CorpusError
from search.text.sentences import split_paper
from search.types import FACETS, PANEL_CODES, Facet, Filters, Paper, Section, Sentence

SAW = split_paper(
    Paper(
        id="acl:1",
        title="A new saw for an old problem",
        abstract="Wood is hard to cut by hand. We build a saw. It cuts twice as fast.",
        authors=("Noether, Emmy", "Gauss, Carl"),
        year=2019,
        venue="Journal of Saws",
        fields=("Engineering", "Tools"),
        doi="10.1000/saw",
        url="https://example.org/saw",
        source="acl",
        sections=(Section(0, 28, Facet.BACKGROUND),),
    )
)
NAIL = split_paper(
    Paper(
        "arxiv:2101.00001",
        "On nails",
        "Nails hold. We count them.",
        year=2021,
        fields=("Tools",),
        source="arxiv",
    )
)
TITLE_ONLY = split_paper(
    Paper("bibtex:x-1", "The hammer reconsidered, with applications", year=2020, source="bibtex")
)
PAPERS = [SAW, NAIL, TITLE_ONLY]


@pytest.fixture
def store(tmp_path):
    with Store.create(tmp_path / "store.duckdb") as made:
        yield made


@pytest.fixture
def snapshot(tmp_path, store):
    store.add(PAPERS)
    store.snapshot(tmp_path / "build.duckdb")
    with Snapshot.open(tmp_path / "build.duckdb") as made:
        yield made


def test_a_paper_comes_back_as_it_went_in(store):
    store.add(PAPERS)
    assert store.paper("acl:1") == replace(SAW, sections=())
    assert [store.paper(paper.id) for paper in PAPERS[1:]] == PAPERS[1:]
    assert store.paper("nowhere") is None


def test_the_same_again_changes_nothing(store):
    assert store.add(PAPERS) == AddReport(added=3)
    before = store.fingerprint(), store.counts()
    assert store.add(PAPERS) == AddReport(unchanged=3)
    assert (store.fingerprint(), store.counts()) == before


def test_a_changed_record_replaces_the_old(store):
    store.add(PAPERS)
    changed = split_paper(replace(SAW, abstract="Wood is soft. We were wrong.", sections=(), sentences=()))
    before = store.fingerprint()
    assert store.add([changed, NAIL]) == AddReport(replaced=1, unchanged=1)
    assert store.paper("acl:1") == changed
    assert store.counts().papers == 3
    assert store.fingerprint() != before


def test_the_last_of_two_in_one_batch_counts(store):
    later = replace(NAIL, venue="Nails Today")
    assert store.add([NAIL, NAIL, later]) == AddReport(added=1, replaced=2)
    assert store.add([later, later]) == AddReport(unchanged=2)
    assert store.paper(NAIL.id) == later


@pytest.mark.parametrize("key", ["doi", "arxiv_id", "pmid"])
@pytest.mark.parametrize("batches", [1, 2])
def test_records_with_one_identifier_merge_and_keep_the_richer_fields(store, key, batches):
    value = {"doi": "10.1000/saw", "arxiv_id": "2001.00001", "pmid": "77"}[key]
    thin = Paper(
        "a", "A new saw for an old problem", authors=("Noether, Emmy",), fields=("Wood",), source="ris"
    )
    thin = split_paper(replace(thin, **{key: value}, venue="JoS"))
    rich = replace(SAW, doi="", **{key: value}) if key != "doi" else SAW
    if batches == 1:
        assert store.add([thin, rich]) == AddReport(added=1, merged=1)
    else:
        assert store.add([thin]) + store.add([rich]) == AddReport(added=1, merged=1)
    merged = store.paper("a")
    assert merged == store.paper("acl:1")
    assert (merged.id, merged.venue, merged.source) == ("a", "JoS", "ris")
    assert (merged.abstract, merged.authors, merged.year) == (SAW.abstract, SAW.authors, 2019)
    assert merged.fields == ("Wood", "Engineering", "Tools")
    assert merged.sentences == SAW.sentences
    assert store.add([thin, rich]) == AddReport(unchanged=2)
    assert store.add([rich]) == store.add([thin]) == AddReport(unchanged=1)


def test_an_abstract_that_comes_alone_joins_its_paper(store):
    title = split_paper(Paper("s2:1", "Sharp saws cut wood in no time", doi="10.1/a", year=2020))
    abstract = split_paper(Paper("s2:1/abstract", "", "Saws are old. We sharpen them.", doi="10.1/a"))
    assert store.add([abstract, title]) == AddReport(added=1, merged=1)
    merged = store.paper("s2:1")
    assert (merged.title, merged.abstract) == (title.title, abstract.abstract)
    assert merged.sentences == abstract.sentences


def test_title_and_year_merge_where_no_identifier_speaks_against_it(store):
    twin = split_paper(replace(SAW, id="s2:9", doi="", title="A NEW SAW – for an old problem!", sentences=()))
    other = replace(SAW, id="s2:10", doi="10.1000/other")
    assert store.add([SAW]) == AddReport(added=1)
    assert store.add([twin]) == AddReport(merged=1)
    assert store.add([other]) == AddReport(added=1)


def test_a_record_that_links_two_papers_makes_them_one(store):
    one = split_paper(Paper("one", "Sharp saws cut wood in no time", doi="10.1/a", source="ris"))
    two = split_paper(Paper("two", "Sharp saws cut wood fast", arxiv_id="2001.00001", source="arxiv"))
    both = split_paper(Paper("both", "Sharp saws cut wood", doi="10.1/a", arxiv_id="2001.00001", source="s2"))
    assert store.add([one, two]) == AddReport(added=2)
    assert store.add([both]) == AddReport(merged=1)
    assert store.counts().papers == 1
    assert store.paper("two").id == "one"
    apart = replace(both, arxiv_id="", title="Sharp saws cut wood")
    assert store.add([apart]) == AddReport(replaced=1)
    assert store.counts().papers == 2


def test_a_record_that_no_longer_fits_leaves_its_paper(store):
    first = split_paper(Paper("a", "Sharp saws cut wood in no time", doi="10.1/a", source="ris"))
    second = split_paper(Paper("b", "Sharp saws cut wood", doi="10.1/a", source="s2"))
    assert store.add([first, second]) == AddReport(added=1, merged=1)
    assert store.add([replace(first, doi="10.1/other")]) == AddReport(replaced=1)
    assert [store.paper(id).id for id in "ab"] == ["a", "b"]
    assert store.add([first]) == AddReport(replaced=1)
    assert store.paper("b").id == "a"


def test_a_title_that_everyone_has_is_no_name(store):
    column = Paper("n", "News from the society, in short", year=2001, source="ris")
    pages = [
        split_paper(replace(column, id=f"n{n}", abstract=f"Page {n}a {n}b {n}c {n}d.")) for n in range(200)
    ]
    assert store.add(pages) == AddReport(added=200)
    assert store.add(pages) == AddReport(unchanged=200)


def test_two_stores_of_one_file_in_one_process(tmp_path, store):
    with Store.open(tmp_path / "store.duckdb", read_only=False) as second:
        second.add([NAIL])
        assert store.counts() == second.counts()


def test_a_batch_that_fails_leaves_nothing_behind(store):
    store.add([NAIL])
    broken = replace(SAW, year="not a year")
    with pytest.raises(Exception, match="year"):
        store.add([TITLE_ONLY, broken])
    assert store.counts().papers == 1
    assert store.add([TITLE_ONLY]) == AddReport(added=1)


RECORDS = st.lists(
    st.builds(
        Paper,
        id=st.sampled_from("abcdef"),
        title=st.sampled_from(
            ["Sharp saws cut wood well", "Sharp saws cut wood", "Nails hold the wood together"]
        ),
        abstract=st.sampled_from(["", "We cut. It works."]),
        year=st.sampled_from([None, 2020]),
        doi=st.sampled_from(["", "10.1/a", "10.1/b"]),
        arxiv_id=st.sampled_from(["", "2001.00001"]),
    ).map(split_paper),
    max_size=8,
)


@settings(max_examples=15, deadline=None)
@given(RECORDS)
def test_any_records_twice_change_nothing(tmp_path_factory, records):
    records = list({record.id: record for record in records}.values())
    with Store.create(tmp_path_factory.mktemp("any") / "store.duckdb") as store:
        for record in records:
            store.add([record])
        before = store.fingerprint()
        assert store.add(records) == AddReport(unchanged=len(records))
        for record in records:
            assert store.add([record]) == AddReport(unchanged=1)
            assert store.paper(record.id) is not None
        assert store.fingerprint() == before
        assert store.counts().papers == len({store.paper(record.id).id for record in records})


def test_rows_are_dense_and_in_order(snapshot):
    documents = list(snapshot.documents())
    offsets = snapshot.sentence_offsets()
    assert [document.paper_row for document in documents] == [0, 1, 2]
    assert offsets.tolist() == np.cumsum([0] + [len(document.sentences) for document in documents]).tolist()
    assert snapshot.rows_of([paper.id for paper in PAPERS] + ["nowhere"]).tolist() == [0, 1, 2, -1]
    for paper, document in zip(snapshot.papers_by_row([0, 1, 2]), documents, strict=True):
        assert tuple(sentence.text for sentence in paper.sentences) == document.sentences
    rows = snapshot._rows("SELECT sentence_row, paper_row, position FROM sentences ORDER BY rowid")
    assert [row["sentence_row"] for row in rows] == list(range(offsets[-1]))
    for paper in range(3):
        mine = [row for row in rows if row["paper_row"] == paper]
        assert [row["sentence_row"] for row in mine] == list(range(offsets[paper], offsets[paper + 1]))
        assert [row["position"] for row in mine] == list(range(len(mine)))


def test_papers_come_in_the_order_asked(snapshot):
    assert [paper.id for paper in snapshot.papers_by_row([2, 0])] == [TITLE_ONLY.id, SAW.id]
    assert [paper.id for paper in snapshot.papers([NAIL.id, "nowhere", SAW.id])] == [NAIL.id, SAW.id]
    assert snapshot.paper("nowhere") is None
    assert snapshot.papers_by_row([]) == []


def test_document_of_a_paper_without_abstract_is_its_title(snapshot):
    document = list(snapshot.documents())[2]
    assert (document.title, document.sentences) == ("", (TITLE_ONLY.title,))


def test_equal_texts_have_equal_hashes_and_others_do_not(tmp_path, store):
    store.add([SAW, replace(SAW, id="x", doi="10.1/x", venue="other"), replace(NAIL, id="y")])
    store.add([replace(SAW, id="z", doi="10.1/z", title="Another title of the same text")])
    store.snapshot(tmp_path / "build.duckdb")
    with Snapshot.open(tmp_path / "build.duckdb") as snapshot:
        hashes = [document.text_hash for document in snapshot.documents()]
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 3


def test_facets_are_stored_and_hints_win(tmp_path):
    count = sum(len(paper.sentences) for paper in PAPERS)
    given = np.full((count, len(FACETS)), 0.1, dtype=np.float32)
    given[:, FACETS.index(Facet.RESULT)] = 0.6
    ends = np.cumsum([len(paper.sentences) for paper in PAPERS])
    papers = [labelled(*pair) for pair in zip(PAPERS, np.split(given, ends[:-1]), strict=True)]
    writer = SnapshotWriter(tmp_path / "labelled.duckdb")
    for paper in papers:  # one batch after another
        writer.add([paper], [(paper.id,)])
    writer.finish()
    with Snapshot.open(tmp_path / "labelled.duckdb") as snapshot:
        paper = snapshot.paper(SAW.id)
        facets = [Facet.BACKGROUND, Facet.RESULT, Facet.RESULT]
        assert [sentence.facet for sentence in paper.sentences] == facets
        assert paper.sentences[0].probabilities == (1.0, 0.0, 0.0, 0.0, 0.0)
        assert paper.sentences[1].probabilities == pytest.approx((0.1, 0.1, 0.1, 0.6, 0.1))
        assert snapshot.probabilities().shape == (count, len(FACETS))
        assert snapshot.probabilities()[1] == pytest.approx(given[1])
        assert snapshot.facet_counts()[Facet.BACKGROUND] == 1
        panels = [PANEL_CODES[facet] for facet in (Facet.BACKGROUND, *[Facet.RESULT] * (count - 1))]
        assert snapshot.sentence_panels().tolist() == panels


def test_a_batch_that_was_written_is_held_no_longer(tmp_path):
    before = pa.total_allocated_bytes()
    writer = SnapshotWriter(tmp_path / "rows.duckdb")
    for number in range(3):
        papers = [split_paper(Paper(f"{number}-{each}", "A title", "We try. " * 50)) for each in range(50)]
        writer.add(papers, [(paper.id,) for paper in papers])
        assert pa.total_allocated_bytes() == before, "although the transaction goes on"
    writer.finish()
    assert Snapshot.open(tmp_path / "rows.duckdb").counts().papers == 150


def test_rows_of_a_foreign_order_are_found_all_the_same(tmp_path, store):
    """As a store of an older version might have them: no row is where its number says."""
    store.add([split_paper(Paper(f"x{n}", f"Title {n}", f"We try {n}. It works.")) for n in range(5)])
    store.snapshot(tmp_path / "rows.duckdb")
    with Snapshot.open(tmp_path / "rows.duckdb") as snapshot:
        expected = snapshot.papers_by_row([3, 0, 4])
    with duckdb.connect(str(tmp_path / "rows.duckdb")) as connection:
        for table in ("papers", "sentences"):
            connection.execute(
                f"CREATE TEMP TABLE turned AS SELECT * FROM {table} ORDER BY {table[:-1]}_row DESC"
            )
            connection.execute(
                f"DELETE FROM {table}; INSERT INTO {table} SELECT * FROM turned; DROP TABLE turned"
            )
    with Snapshot.open(tmp_path / "rows.duckdb") as snapshot:
        assert snapshot.papers_by_row([3, 0, 4]) == expected


def test_what_is_removed_is_not_found_and_not_counted(tmp_path, snapshot):
    with Snapshot.open(tmp_path / "build.duckdb", removed=[0]) as less:
        assert less.rows_of([SAW.id, NAIL.id]).tolist() == [-1, 1]
        assert less.first_rows([SAW.id, NAIL.id]).tolist() == [0, 1]
        assert less.paper_rows(Filters()).tolist() == [1, 2]
        assert less.paper_rows(Filters(fields=("Tools",))).tolist() == [1]
        assert less.tally(FIELDS, None) == {"Tools": 1}
        assert snapshot.find(SAW.doi)[0].id == snapshot.find(SAW.title)[0].id == SAW.id
        assert SAW.id not in {paper.id for text in (SAW.doi, SAW.title) for paper in less.find(text)}


def test_papers_are_read_in_blocks_with_all_their_records(store, monkeypatch):
    monkeypatch.setattr(merged, "BLOCK", 2)
    again = replace(SAW, id="other:1", source="other", sentences=(), abstract="", venue="Elsewhere")
    store.add([*PAPERS, replace(again, doi=SAW.doi)])
    stamps = store.stamps()
    assert stamps.numbers.tolist() == [0, 1, 2]
    blocks = list(store.blocks(stamps.numbers))
    assert [len(block) for block in blocks] == [2, 1]
    assert blocks[0][0].ids == (SAW.id, "other:1")
    assert [each.paper for block in blocks for each in block] == [store.paper(each.id) for each in PAPERS]
    assert [each.paper.id for block in store.blocks(stamps.numbers[[0, 2]]) for each in block] == [
        SAW.id,
        TITLE_ONLY.id,
    ]
    store.add([replace(NAIL, venue="Another venue")])
    changed = store.stamps()
    assert (changed.keys == stamps.keys).all()
    assert (changed.stamps != stamps.stamps).tolist() == [False, True, False]


def test_sentences_can_be_read_with_sql(snapshot, tmp_path):
    rows = snapshot._rows("SELECT text, facet FROM sentence_texts ORDER BY sentence_row")
    assert [row["text"] for row in rows] == [
        sentence.text for paper in PAPERS for sentence in paper.sentences
    ]
    assert rows[0]["facet"] == "background"


@pytest.mark.parametrize(
    ("filters", "rows"),
    [
        (Filters(), None),
        (Filters(year_from=2020), [1, 2]),
        (Filters(year_to=2019), [0]),
        (Filters(year_from=2020, year_to=2020), [2]),
        (Filters(venues=("Journal of Saws", "None such")), [0]),
        (Filters(fields=("Tools",)), [0, 1]),
        (Filters(fields=("Engineering", "Nothing")), [0]),
        (Filters(sources=("arxiv", "bibtex")), [1, 2]),
        (Filters(has_doi=True), [0]),
        (Filters(ids=(TITLE_ONLY.id, "nowhere")), [2]),
        (Filters(ids=()), []),
        (Filters(year_from=2020, fields=("Tools",)), [1]),
        (Filters(year_from=2030), []),
    ],
)
def test_filters(snapshot, filters, rows):
    found = snapshot.paper_rows(filters)
    assert found is None if rows is None else found.tolist() == rows
    assert found is None or found.dtype == np.int32


def test_counts_for_charts_follow_the_filters(snapshot):
    assert snapshot.tally(YEARS, None) == {2019: 1, 2020: 1, 2021: 1}
    assert snapshot.tally(YEARS, Filters(fields=("Tools",))) == {2019: 1, 2021: 1}
    assert snapshot.tally(VENUES, None) == {"Journal of Saws": 1}
    assert snapshot.tally(FIELDS, None) == {"Tools": 2, "Engineering": 1}
    assert snapshot.tally(FIELDS, None, 1) == {"Tools": 2}
    assert snapshot.tally(SOURCES, None) == {"acl": 1, "arxiv": 1, "bibtex": 1}


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("saw problem", [SAW.id]),
        ("ON NAILS", [NAIL.id]),
        ("https://doi.org/10.1000/SAW", [SAW.id]),
        ("arxiv:2101.00001", [NAIL.id]),
        (TITLE_ONLY.id, [TITLE_ONLY.id]),
        ("on", [NAIL.id]),
        ("the", [TITLE_ONLY.id]),
        ("100%' OR 1=1 --", []),
        ("", []),
        ("!?", []),
    ],
)
def test_find(store, tmp_path, text, ids):
    store.add([SAW, replace(NAIL, arxiv_id="2101.00001"), TITLE_ONLY])
    store.snapshot(tmp_path / "build.duckdb")
    with Snapshot.open(tmp_path / "build.duckdb") as snapshot:
        assert [paper.id for paper in snapshot.find(text)] == ids


def test_merged_papers_are_found_by_every_id(tmp_path, store):
    store.add([SAW, split_paper(Paper("s2:9", SAW.title, doi=SAW.doi, source="s2"))])
    store.snapshot(tmp_path / "build.duckdb")
    with Snapshot.open(tmp_path / "build.duckdb") as snapshot:
        assert snapshot.rows_of(["s2:9", "acl:1"]).tolist() == [0, 0]
        assert snapshot.paper_rows(Filters(ids=("s2:9",))).tolist() == [0]
        assert snapshot.counts().papers == 1


def test_unicode_spans_survive(tmp_path, store):
    text = "Cafe\u0301 𝒳 is nai\u0308ve. 👩‍🔬 works. 本文提出。"
    paper = split_paper(Paper("u", "T", text))
    store.add([paper])
    store.snapshot(tmp_path / "build.duckdb")
    with Snapshot.open(tmp_path / "build.duckdb") as snapshot:
        assert snapshot.paper("u") == paper
        rows = snapshot._rows("SELECT text FROM sentence_texts ORDER BY sentence_row")
        assert [row["text"] for row in rows] == [sentence.text for sentence in paper.sentences]


def test_many_threads_read_at_once(tmp_path, store):
    papers = [
        replace(NAIL, id=f"p{n}", title=f"Nail number {n} of the series", year=1900 + n) for n in range(64)
    ]
    store.add(papers)
    store.snapshot(tmp_path / "build.duckdb")
    wrong = []

    def read(snapshot, thread):
        for n in range(thread, 64, 8):
            if (
                snapshot.paper(f"p{n}").year != 1900 + n
                or snapshot.paper_rows(Filters(year_to=1900 + n)).size != n + 1
            ):
                wrong.append(n)

    with (
        Snapshot.open(tmp_path / "build.duckdb") as snapshot,
        Snapshot.open(tmp_path / "build.duckdb") as second,
    ):
        threads = [threading.Thread(target=read, args=((snapshot, second)[t % 2], t)) for t in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_a_snapshot_does_not_change_with_its_store(tmp_path, store):
    store.add([SAW])
    store.snapshot(tmp_path / "build.duckdb")
    with Snapshot.open(tmp_path / "build.duckdb") as snapshot:
        store.add([NAIL])
        assert snapshot.counts().papers == 1
    assert store.counts().papers == 2


def test_a_store_that_was_never_finished_is_made_anew(tmp_path):
    (tmp_path / "store.duckdb.part").write_text("half a store")
    Store.create(tmp_path / "store.duckdb").close()
    with Store.open(tmp_path / "store.duckdb") as store:
        assert store.counts().papers == 0
    assert list(tmp_path.iterdir()) == [tmp_path / "store.duckdb"]


def test_another_layout_is_refused_in_words(tmp_path):
    Store.create(tmp_path / "store.duckdb").close()
    with duckdb.connect(str(tmp_path / "store.duckdb")) as connection:
        connection.execute("UPDATE about SET layout = 99")
    with pytest.raises(CorpusError, match="layout 99 and this version of Triptych reads layout 2: build"):
        Store.open(tmp_path / "store.duckdb")


def test_a_wrong_file_is_refused_in_words(tmp_path):
    with pytest.raises(CorpusError, match="There is no corpus"):
        Store.open(tmp_path / "missing.duckdb")
    Store.create(tmp_path / "store.duckdb").close()
    with pytest.raises(CorpusError, match="not a Triptych snapshot"):
        Snapshot.open(tmp_path / "store.duckdb")
    with duckdb.connect(str(tmp_path / "other.duckdb")) as connection:
        connection.execute("CREATE TABLE things (a INTEGER)")
    with pytest.raises(CorpusError, match="not a Triptych store"):
        Store.open(tmp_path / "other.duckdb")
    (tmp_path / "text.duckdb").write_text("not a database" * 1000)
    with pytest.raises(CorpusError, match=r"text\.duckdb"):
        Store.open(tmp_path / "text.duckdb")


def test_given_sentences_keep_their_labels(store):
    labelled = (Sentence("We cut.", 0, 7, Facet.METHOD, hinted=True), Sentence("It works.", 8, 17))
    paper = Paper("c", "T", "We cut. It works.", sentences=labelled, source="csfcube")
    store.add([paper])
    assert store.paper("c") == paper
