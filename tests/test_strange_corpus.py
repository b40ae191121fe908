"""A corpus made by a stranger: it reads no file of ours, runs nothing, takes no memory it does not fill."""

from __future__ import annotations

import json
import os
import pickle
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import duckdb
import faiss
import numpy as np
import pytest

from index_build.importing import import_papers
from index_build.publish import describe_files
from index_build.steps import as_built, build
from index_build.verify import verify
from pages.ui.corpora import add_file, rejects
from search.corpus import bm25, layout
from search.corpus.bm25 import LexicalIndex
from search.corpus.checksums import CHECKSUMS, write_checksums
from search.corpus.faiss_header import check_file
from search.corpus.faiss_index import VectorIndex
from search.corpus.faiss_making import build_index
from search.corpus.manifest import check_build, read_manifest
from search.corpus.store import Snapshot, Store
from search.corpus.store.tables import CONFIG
from search.corpus.vector_file import VectorFile
from search.engine import Engine
from search.errors import CorpusError, TriptychError
from search.exports import FORMATS, export
from search.settings import Settings
from search.text.sentences import split_paper
from search.topics import explore
from search.types import Document, Filters, Paper, Query
from tests.miniature import build_miniature
from tests.random_encoder import RandomEncoder


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A sound corpus of twenty papers."""
    folder = tmp_path / "corpus"
    with Store.create(folder / layout.STORE) as store:
        store.add(
            [
                split_paper(Paper(f"p{n}", f"On subject number {n} of it", f"Case {n} is hard. We solve it."))
                for n in range(20)
            ]
        )
    build(folder, encoder=RandomEncoder())
    return folder


def sign(folder: Path) -> None:
    """Write checksums that fit, as a stranger would."""
    write_checksums(folder)
    replace(read_manifest(folder), files=tuple(describe_files(folder))).write(folder)


# -- the database


STRANGE = {
    "a view in place of a table": "DROP TABLE ids; CREATE VIEW ids AS "
    "SELECT content AS id, 0::INTEGER AS paper_row FROM read_text('{secret}')",
    "a view in place of the papers": "ALTER TABLE papers RENAME TO kept; CREATE VIEW papers AS "
    "SELECT * REPLACE ((SELECT content FROM read_text('{secret}')) AS title) FROM kept",
    "the view we write with another content": "CREATE OR REPLACE VIEW sentence_texts AS "
    "SELECT content FROM read_text('{secret}')",
    "a view in place of the first thing read": "DROP TABLE about; CREATE VIEW about AS "
    "SELECT 'snapshot' AS kind, 1 AS layout",
    "a macro that takes a function's place": "CREATE MACRO lower(x) AS 'bent'",
    "a macro that hides the catalogue": "CREATE MACRO duckdb_views() AS TABLE SELECT 1 AS a",
    "a table of its own": "CREATE TABLE more (a INTEGER)",
    "a column of its own": "ALTER TABLE papers ADD COLUMN more INTEGER",
    "a column that computes": "DROP TABLE ids; CREATE TABLE ids "
    "(id VARCHAR, paper_row INTEGER, more INTEGER GENERATED ALWAYS AS (paper_row + 1))",
    "a column of another type": "ALTER TABLE ids ALTER paper_row TYPE BIGINT",
    "a missing table": "DROP TABLE ids",
    "a sequence": "CREATE SEQUENCE counter",
    "a type": "CREATE TYPE mood AS ENUM ('a', 'b')",
    "a schema": "CREATE SCHEMA more",
    "an index": "CREATE INDEX quick ON ids (id)",
}


@pytest.mark.parametrize("statements", STRANGE.values(), ids=STRANGE)
def test_a_database_that_holds_more_than_we_write_is_refused(
    corpus: Path, tmp_path: Path, statements: str
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the password is swordfish")
    folder = layout.current_build(corpus)
    with duckdb.connect(str(folder / layout.STORE)) as connection:
        connection.execute(statements.format(secret=secret))
    sign(folder)
    with pytest.raises(CorpusError, match=layout.STORE) as refused:
        Snapshot.open(folder / layout.STORE)
    assert "swordfish" not in str(refused.value)
    assert [problem.file.name for problem in verify(corpus)] == [layout.STORE]


def test_a_working_store_is_looked_at_in_the_same_way(corpus: Path) -> None:
    with duckdb.connect(str(corpus / layout.STORE)) as connection:
        connection.execute("CREATE VIEW more AS SELECT content FROM read_text('/etc/hostname')")
    for read_only in (True, False):
        with pytest.raises(CorpusError, match="what Triptych does not write"):
            Store.open(corpus / layout.STORE, read_only)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_text('{file}')",
        "COPY (SELECT 1) TO '{file}'",
        "ATTACH '{file}' AS other",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET threads = 1",
    ],
)
def test_no_statement_leaves_the_database(corpus: Path, tmp_path: Path, statement: str) -> None:
    (tmp_path / "other.txt").write_text("words")
    path = layout.current_build(corpus) / layout.STORE
    with Snapshot.open(path) as snapshot, pytest.raises(duckdb.Error):
        snapshot._connection.execute(statement.format(file=tmp_path / "other.txt"))
    assert CONFIG["lock_configuration"] == "true"


def test_a_log_beside_the_database_is_not_replayed(corpus: Path) -> None:
    """DuckDB adds what lies in `store.duckdb.wal` to what it reads; no checksum covers it."""
    folder = layout.current_build(corpus)
    (folder / f"{layout.STORE}.wal").write_bytes(b"changes")
    with pytest.raises(CorpusError, match=r"\.wal"):
        check_build(folder)
    assert any(problem.file.suffix == ".wal" for problem in verify(corpus))


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE sentences SET facet = 200",
        "UPDATE papers SET authors = NULL",
        "UPDATE papers SET abstract = NULL, title = NULL",
        "UPDATE papers SET paper_row = paper_row + 7",
        "UPDATE sentences SET first = NULL, last = -5",
    ],
)
def test_values_that_make_no_sense_are_said_or_shown(corpus: Path, change: str) -> None:
    path = layout.current_build(corpus) / layout.STORE
    with duckdb.connect(str(path)) as connection:
        connection.execute(change)
    with Snapshot.open(path) as snapshot, suppress(CorpusError):
        assert len(snapshot.papers_by_row([0, 1])) == 2


@pytest.mark.parametrize(
    "change",
    [
        "authors = [NULL]",
        "fields = [NULL, '']",
        "doi = NULL, venue = NULL, url = NULL",
        "id = NULL",
        "reference = repeat('[', 5000)",
        "reference = '{\"volume\": [[1]]}'",
        "paper_row = paper_row + 7",
        "year = -32768, title = chr(0)",
    ],
)
def test_values_of_a_stranger_never_end_in_a_fault(corpus: Path, change: str) -> None:
    """They are shown or said, wherever they are met: in a search, an export, a look-up, a topic."""
    folder = layout.current_build(corpus)
    with duckdb.connect(str(folder / layout.STORE)) as connection:
        connection.execute(f"UPDATE papers SET {change}")
    sign(folder)
    engine: Engine | None = None
    with suppress(TriptychError):
        engine = Engine.open(corpus)
    if engine is None:
        return
    with suppress(TriptychError):
        results = engine.search(Query((engine.read_text("Fraud costs banks. We grow trees."),), top=5))
        for format in FORMATS:
            export(results, format).encode()
    with suppress(TriptychError):
        engine.store.find("study of fraud")
    with suppress(TriptychError):
        explore(engine, "fraud")


def test_the_pointer_names_a_build_of_the_corpus(corpus: Path, tmp_path: Path) -> None:
    (corpus / layout.CURRENT).write_text("../../elsewhere")
    with pytest.raises(CorpusError, match="names no build"):
        Engine.open(corpus)


# -- arrays


def write_header(path: Path, header: str, data: bytes = b"") -> None:
    text = header.encode().ljust(118) + b"\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data)


class Trap:
    def __reduce__(self) -> tuple[Callable[[str], None], tuple[str]]:
        return (pytest.fail, ("a pickle was opened",))


BENT_ARRAYS: dict[str, Callable[[Path], None]] = {
    "objects": lambda path: np.save(path, np.array([[Trap()]], object), allow_pickle=True),
    "a pickle": lambda path: path.write_bytes(pickle.dumps(Trap())),
    "other numbers": lambda path: np.save(path, np.zeros((4, 4), np.float64)),
    "the other byte order": lambda path: np.save(path, np.zeros((4, 4), ">f2")),
    "by column": lambda path: np.save(path, np.asfortranarray(np.zeros((4, 5), np.float16))),
    "one dimension": lambda path: np.save(path, np.zeros(16, np.float16)),
    "more than is there": lambda path: write_header(
        path, "{'descr': '<f2', 'fortran_order': False, 'shape': (1000000000000, 384), }", bytes(64)
    ),
    "more than can be counted": lambda path: write_header(
        path, "{'descr': '<f2', 'fortran_order': False, 'shape': (9223372036854775807, 4), }", bytes(64)
    ),
    "less than nothing": lambda path: write_header(
        path, "{'descr': '<f2', 'fortran_order': False, 'shape': (-2, -4), }", bytes(16)
    ),
    "a header that ends Python's tokeniser": lambda path: write_header(path, "(" * 900),
    "a header that is too deep for Python": lambda path: write_header(path, "-" * 900 + "1"),
    "a header that is cut off": lambda path: write_header(path, "{'descr': ',f2', 'fortran_order': False"),
    "a header as of Python 2": lambda path: write_header(
        path, "{'descr': '<f2', 'fortran_order': False, 'shape': (1L, 1L), }", bytes(2)
    ),
    "a header without end": lambda path: path.write_bytes(b"\x93NUMPY\x02\x00" + b"\xff" * 40),
    "a header that is no header": lambda path: write_header(path, "__import__('os').abort()"),
    "a version of the future": lambda path: path.write_bytes(b"\x93NUMPY\x09\x00" + bytes(100)),
    "nothing": lambda path: path.write_bytes(b""),
}


@pytest.mark.parametrize("bend", BENT_ARRAYS.values(), ids=BENT_ARRAYS)
def test_an_array_is_what_its_file_can_hold(tmp_path: Path, bend: Callable[[Path], None]) -> None:
    path = tmp_path / "some.npy"
    bend(path)
    with pytest.raises(CorpusError, match=r"some\.npy"):
        VectorFile(path)


@pytest.mark.parametrize("name", [layout.SENTENCE_VECTORS, layout.PAPER_VECTORS])
def test_verify_names_a_foreign_array(corpus: Path, name: str) -> None:
    folder = layout.current_build(corpus)
    np.save(folder / name, np.load(folder / name).astype(np.float32))
    sign(folder)
    assert [problem.file.name for problem in verify(corpus)] == [name]


# -- indices


@pytest.mark.parametrize("flat_limit", [1000, 10])
def test_no_length_in_an_index_is_believed(tmp_path: Path, flat_limit: int) -> None:
    """Every number in the head, made huge or negative: refused, or the same vectors as before."""
    path = tmp_path / "some.faiss"
    vectors = np.random.default_rng(1).standard_normal((400, 8)).astype(np.float16)
    build_index(vectors, path, flat_limit)
    sound = path.read_bytes()
    assert check_file(path) == (400, 8)
    head = len(sound) - 400 * 16
    refused = 0
    for place in range(4, min(head, 400)):
        for bent in (2**40, -1):
            path.write_bytes(sound[:place] + struct.pack("<q", bent) + sound[place + 8 :])
            try:
                assert check_file(path) == (400, 8)
            except ValueError:
                refused += 1
    assert refused > 30
    path.write_bytes(sound[:-1])
    with pytest.raises(CorpusError, match=r"some\.faiss"):
        VectorIndex.open(path)


def test_rows_of_an_index_are_rows_of_the_corpus(tmp_path: Path) -> None:
    path = tmp_path / "some.faiss"
    vectors = np.random.default_rng(1).standard_normal((400, 8)).astype(np.float16)
    build_index(vectors, path, flat_limit=10)
    sound, wrong = path.read_bytes(), struct.pack("<q", 10**6)
    path.write_bytes(sound[:-8] + wrong)  # the row of the last vector in the last list
    with pytest.raises(CorpusError, match="among 400 vectors"):
        VectorIndex.open(path).search(vectors[:400].astype(np.float32), 400)


def test_another_kind_of_index_is_refused(tmp_path: Path) -> None:
    index = faiss.IndexHNSWFlat(8, 4)
    index.add(np.eye(8, dtype=np.float32))
    faiss.write_index(index, str(tmp_path / "some.faiss"))
    with pytest.raises(CorpusError, match="does not write"):
        VectorIndex.open(tmp_path / "some.faiss")


def test_parts_of_a_word_index_fit_each_other(tmp_path: Path) -> None:
    LexicalIndex.build(["one two three", "two three", "three"], tmp_path)
    sound = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    starts, terms = np.load(tmp_path / bm25.STARTS), np.load(tmp_path / bm25.TERMS)
    bent: list[tuple[str, Callable[[Path], object]]] = [
        (bm25.PARAMETERS, lambda path: path.write_text(json.dumps({"num_docs": 10**15}))),
        (bm25.PARAMETERS, lambda path: path.write_text(json.dumps({"num_docs": "three"}))),
        (bm25.PARAMETERS, lambda path: path.write_text("[" * 100_000)),
        (bm25.TERMS, lambda path: np.save(path, terms[::-1])),
        (bm25.TERMS, lambda path: np.save(path, terms[:1])),
        (bm25.TERMS, lambda path: np.save(path, terms.astype(np.int64))),
        (bm25.TERMS, lambda path: path.write_bytes(b"")),
        (bm25.TERMS, lambda path: path.unlink()),  # as in older builds, but without their words
        (bm25.STARTS, lambda path: np.save(path, starts[:0])),
        (bm25.STARTS, lambda path: np.save(path, starts[::-1])),
        (bm25.STARTS, lambda path: np.save(path, starts + 7)),
        (bm25.SCORES, lambda path: np.save(path, np.zeros(3, np.float64))),
        (bm25.PAPERS, lambda path: np.save(path, np.array([Trap()], object), allow_pickle=True)),
    ]
    papers = np.load(tmp_path / bm25.PAPERS)
    np.save(tmp_path / bm25.PAPERS, papers + 3)
    with pytest.raises(CorpusError, match="not there"):
        LexicalIndex.open(tmp_path).scores({"three": 1.0})
    np.save(tmp_path / bm25.PAPERS, papers)
    for name, bend in bent:
        bend(tmp_path / name)
        with pytest.raises(CorpusError, match=r"cannot be read"):
            LexicalIndex.open(tmp_path)
        (tmp_path / name).write_bytes(sound[name])
    assert LexicalIndex.open(tmp_path).paper_count == 3


@pytest.mark.parametrize(
    "vocabulary",
    ['{"one": 1000000000000}', '{"one": "two"}', "[1]", "{}", json.dumps({"one": 10**30})],
)
def test_the_words_of_an_older_index_fit_their_columns(tmp_path: Path, vocabulary: str) -> None:
    LexicalIndex.build(["one two three", "two three", "three"], tmp_path)
    numbers = np.load(tmp_path / bm25.TERMS).tolist()
    columns = {term: numbers.index(bm25.number_of(term)) for term in ("one", "two", "three")}
    expected = LexicalIndex.open(tmp_path).scores({"two": 1.0, "nine": 1.0}).tolist()
    (tmp_path / bm25.TERMS).unlink()
    (tmp_path / bm25.VOCABULARY).write_text(json.dumps(columns))
    assert LexicalIndex.open(tmp_path).scores({"two": 1.0, "nine": 1.0}).tolist() == expected
    (tmp_path / bm25.VOCABULARY).write_text(vocabulary)
    with pytest.raises(CorpusError, match="cannot be read"):
        LexicalIndex.open(tmp_path)


# -- the manifest


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("papers", 10**15),
        ("papers", -1),
        ("papers", True),
        ("sentences", "many"),
        ("dimension", 10**9),
        ("encoder_name", ["a"]),
        ("bm25_k1", "x"),
        ("created", "yesterday"),
        ("created", "2026-01-01T00:00:00"),
        ("files", [{"path": "../../../etc/passwd", "size": 1, "sha256": ""}]),
        ("files", [{"path": "/etc/passwd", "size": 1, "sha256": ""}]),
        ("files", [{"path": "a", "size": "b", "sha256": ""}]),
    ],
)
def test_a_manifest_says_what_can_be(corpus: Path, field: str, value: object) -> None:
    path = layout.current_build(corpus) / layout.MANIFEST
    values = json.loads(path.read_text()) | {field: value}
    del values["checksum"]  # a stranger leaves it out
    path.write_text(json.dumps(values))
    with pytest.raises(CorpusError, match=layout.MANIFEST):
        check_build(path.parent)


def test_a_manifest_without_end_is_refused(corpus: Path) -> None:
    path = layout.current_build(corpus) / layout.MANIFEST
    path.write_text("[" * 200_000)
    with pytest.raises(CorpusError, match=layout.MANIFEST):
        read_manifest(path.parent)


@pytest.mark.parametrize("field", ["papers", "sentences", "dimension"])
def test_a_build_whose_counts_do_not_fit_is_not_opened(tmp_path: Path, field: str) -> None:
    corpus = build_miniature(tmp_path / "corpus")
    folder = layout.current_build(corpus)
    manifest = read_manifest(folder)
    replace(manifest, **{field: getattr(manifest, field) + 1}).write(folder)
    with pytest.raises(CorpusError, match="instead of"):
        Engine.open(corpus)
    assert verify(corpus)


# -- the model


def test_a_manifest_does_not_choose_the_model(tmp_path: Path) -> None:
    corpus = build_miniature(tmp_path / "corpus")
    settings = Settings(corpus=corpus)
    assert as_built(settings) == settings
    folder = layout.current_build(corpus)
    for named in ("evil/model", str(tmp_path)):
        replace(read_manifest(folder), encoder_name=named).write(folder)
        with pytest.raises(CorpusError, match=f"--encoder {named}"):
            as_built(settings)
        assert as_built(replace(settings, encoder=named)).encoder == named


def test_the_app_asks_before_it_takes_anything_in(tmp_path: Path) -> None:
    corpus = build_miniature(tmp_path / "corpus")
    folder = layout.current_build(corpus)
    replace(read_manifest(folder), encoder_name="evil/model").write(folder)
    record = b'{"id": "new", "title": "A paper that is new", "abstract": "We add. It works."}'
    with pytest.raises(CorpusError, match="evil/model"):
        add_file(Settings(corpus=corpus), "new.jsonl", record, lambda *_: None)
    with Store.open(corpus / layout.STORE) as store:
        assert store.paper("new") is None


def test_a_preset_is_taken_from_the_manifest(tmp_path: Path) -> None:
    corpus = build_miniature(tmp_path / "corpus")
    folder = layout.current_build(corpus)
    replace(read_manifest(folder), encoder_name="quality").write(folder)
    assert as_built(Settings(corpus=corpus)).encoder == "quality"


def test_a_sound_corpus_is_served(corpus: Path) -> None:
    with Snapshot.open(layout.current_build(corpus) / layout.STORE) as snapshot:
        assert snapshot.counts().papers == 20
        assert snapshot.paper_rows(Filters(ids=("p7",))) is not None
    assert RandomEncoder().encode_one(Document("", ("a",))).sentences.shape == (1, 16)
    assert verify(corpus) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows lets few make links")
def test_links_in_a_corpus_do_not_lead_to_files_that_are_overwritten(tmp_path: Path) -> None:
    corpus, ours = build_miniature(tmp_path / "corpus"), tmp_path / "ours.txt"
    ours.write_text("precious")
    for name in (layout.CURRENT, layout.REJECTS, layout.STORE):
        (corpus / f"{name}.part").symlink_to(ours)
    (corpus / layout.REJECTS).write_bytes(b"\xff\xfe\n" + b"[" * 100_000 + b"\n")
    before = layout.current_name(corpus)
    import_papers(corpus, [Paper("new", "A paper that is new", "We add. It works.")])
    build(corpus)
    assert layout.current_name(corpus) != before
    assert ours.read_text() == "precious"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes by name")
@pytest.mark.parametrize("name", [layout.CURRENT, layout.MANIFEST, CHECKSUMS, layout.STORE])
@pytest.mark.parametrize("what", ["a pipe", "a device"])
def test_nothing_is_read_without_end(corpus: Path, name: str, what: str) -> None:
    """Opening a pipe waits for somebody to write, and the device never ends: this would hang or swell."""
    path = (corpus if name == layout.CURRENT else layout.current_build(corpus)) / name
    path.unlink()
    if what == "a pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(CorpusError):
        Engine.open(corpus)
    if name != layout.CURRENT:
        assert verify(corpus)


def test_a_list_of_rejects_that_is_a_link_is_not_shown(corpus: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.jsonl"
    secret.write_text('{"place": "swordfish"}\n')
    (corpus / layout.REJECTS).unlink(missing_ok=True)
    (corpus / layout.REJECTS).symlink_to(secret)
    assert rejects(corpus) == []
    (corpus / layout.REJECTS).unlink()
    (corpus / layout.REJECTS).write_text('{"place": "' + "x" * 3_000_000 + '"}\n{"place": "here"}\n')
    assert rejects(corpus) == [{"place": "here"}]
