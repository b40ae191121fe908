"""Uploads are read in a process of their own: the same papers, and no file that takes all time or memory."""

from __future__ import annotations

import ast
import gzip
import io
import json
import logging
import tempfile
import zlib
from pathlib import Path

import pytest
from pypdf import PdfWriter
from pypdf.generic import DictionaryObject, NameObject, StreamObject

from index_build import isolated
from index_build.isolated import Limits, limits_for, papers_in, read_upload
from index_build.sources import Reject, read_bytes
from search.errors import InputError
from search.types import Paper

from .test_pdf import draw

ROOT = Path(__file__).resolve().parent.parent
QUICK = Limits(seconds=20)

RIS = b"TY  - JOUR\nTI  - Rain on windows\nAU  - Drop, Ann\nPY  - 2020\nAB  - We count rain.\nER  - \n"
CSFCUBE = {
    "paper_id": "7",
    "metadata": {"title": "Rain"},
    "title": "Rain",
    "abstract": ["We count rain.", "It is wet."],
    "pred_labels": ["method_label", "result_label"],
}
PUBMED = (
    "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>7</PMID><Article><ArticleTitle>Rain</ArticleTitle>"
    '<Abstract><AbstractText Label="METHODS">We count.</AbstractText>'
    '<AbstractText Label="RESULTS">It is wet.</AbstractText></Abstract></Article></MedlineCitation>'
    "</PubmedArticle></PubmedArticleSet>"
)
SURROGATE = b'{"id": "\\ud800", "title": "A\\ud800B"}\n{"title": 1}\n{"title": "Caf\xc3\xa9"}\n{broken\n'


def compressed_page(content: bytes) -> bytes:
    """A PDF whose one page is drawn by these operators, packed."""
    writer = PdfWriter()
    page = writer.add_blank_page(612, 792)
    names = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
    font = DictionaryObject({NameObject(key): NameObject(value) for key, value in names.items()})
    fonts = DictionaryObject({NameObject("/F1"): writer._add_object(font)})
    page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
    stream = StreamObject()
    stream.set_data(zlib.compress(content, 9))
    stream[NameObject("/Filter")] = NameObject("/FlateDecode")
    page[NameObject("/Contents")] = writer._add_object(stream)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def many_operators(count: int) -> bytes:
    return compressed_page(b"BT /F1 10 Tf " + b"1 0 0 1 100 700 Tm (a) Tj\n" * count + b" ET")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.ris", RIS),
        ("a.jsonl", json.dumps(CSFCUBE).encode()),
        ("a.xml", PUBMED.encode()),
        ("a.jsonl", SURROGATE),
        ("a.jsonl.gz", gzip.compress(SURROGATE, mtime=0)[:-20]),
        (
            "a.pdf",
            draw([(90, 700, 20, "Counting rain drops"), (90, 600, 10, "Abstract"), (90, 580, 10, "Rain.")]),
        ),
        ("empty.txt", b""),
        ("-c\udcff\0.bib", b"@article{a, title={Rain}}"),
    ],
)
def test_the_same_records_come_back(name: str, data: bytes) -> None:
    assert list(read_upload(name, data, 100)) == list(read_bytes(data, name))


def test_many_papers_come_in_blocks_and_in_order() -> None:
    lines = [json.dumps({"id": str(number), "title": f"Rain {number}"}) for number in range(1000)]
    items = list(read_upload("x.jsonl", "\n".join(lines).encode(), 5000))
    assert [item.id for item in items if isinstance(item, Paper)] == [str(number) for number in range(1000)]


def test_no_more_papers_than_asked_for() -> None:
    lines = b"\n".join(b'{"title": "Rain %d"}' % number for number in range(1000))
    assert [item.title for item in papers_in("x.jsonl", lines, 3)] == ["Rain 0", "Rain 1", "Rain 2"]


def test_a_reader_that_is_left_early_gives_its_place_back() -> None:
    lines = b"\n".join(b'{"title": "Rain %d"}' % number for number in range(5000))
    for _ in range(isolated.AT_ONCE + 1):
        items = read_upload("x.jsonl", lines, 5000)
        next(items)
        items.close()


@pytest.mark.slow
def test_a_page_of_many_operators_ends_in_time() -> None:
    data = many_operators(300_000)
    assert len(data) < 30_000
    with pytest.raises(InputError, match=r"x\.pdf could not be read within 2 seconds"):
        papers_in_limits("x.pdf", data, Limits(seconds=2))


def papers_in_limits(name: str, data: bytes, limits: Limits) -> list[Paper | Reject]:
    return list(read_upload(name, data, 5000, limits))


@pytest.mark.slow
def test_without_limits_of_the_system_the_clock_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows: what the process uses is not bounded there, only how long it is waited for."""
    monkeypatch.setattr(Limits, "wait", 1.0)
    with pytest.raises(InputError, match="within 60 seconds"):
        papers_in_limits("x.pdf", many_operators(300_000), Limits(seconds=60))


def test_memory_is_bounded() -> None:
    data = gzip.compress(b'{"title": "' + b"a b " * 2_000_000 + b'"}\n')
    with pytest.raises(InputError, match="needs more memory than the 160 MB allowed"):
        papers_in_limits("x.jsonl.gz", data, Limits(seconds=20, memory=160_000_000))


def test_memory_is_bounded_for_a_pdf() -> None:
    data = compressed_page(b"BT /F1 10 Tf " + b"(a) Tj\n" * 2_000_000 + b" ET")
    with pytest.raises(InputError, match="needs more memory than the 160 MB allowed"):
        papers_in_limits("x.pdf", data, Limits(seconds=20, memory=160_000_000))


def test_a_record_as_long_as_a_book_is_rejected() -> None:
    data = gzip.compress(b'{"title": "Rain"}\n{"title": "' + b"a b " * 500_000 + b'"}\n')
    paper, book = papers_in_limits("x.jsonl.gz", data, QUICK)
    assert isinstance(paper, Paper)
    assert isinstance(book, Reject)
    assert (book.place, book.reason, len(book.raw)) == ("record 2", "record too long", 500)


def test_many_large_records_are_bounded() -> None:
    data = gzip.compress((b'{"title": "' + b"a b " * 10_000 + b'"}\n') * 50)
    with pytest.raises(InputError, match="holds more than 1,000,000 characters"):
        papers_in_limits("x.jsonl.gz", data, Limits(seconds=20, text=1_000_000))


@pytest.mark.slow
def test_many_records_that_cannot_be_read_are_bounded() -> None:
    data = gzip.compress(b'{"title": "Rain"}\n' + b"{bad\n" * 100_001)
    with pytest.raises(InputError, match=r"More than 100,000 records of x\.jsonl\.gz cannot be read"):
        papers_in_limits("x.jsonl.gz", data, QUICK)


def test_a_reader_that_breaks_down_is_told_and_logged(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "index_build").mkdir()
    (tmp_path / "index_build" / "isolated.py").write_text("raise ValueError('the words of a visitor')")
    monkeypatch.setattr(isolated, "_ROOT", tmp_path)
    with caplog.at_level(logging.ERROR), pytest.raises(InputError, match="its reader broke down"):
        papers_in("the name a visitor gave.ris", RIS, 5)
    assert 'isolated.py", line 1' in caplog.text
    assert "visitor" not in caplog.text


def test_a_file_that_took_too_much_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    data = gzip.compress(b'{"title": "' + b"a c " * 2_000_000 + b'"}\n')
    monkeypatch.setattr(isolated, "limits_for", lambda data: Limits(seconds=20, memory=160_000_000))
    with pytest.raises(InputError, match="needs more memory") as first:
        papers_in("x.jsonl.gz", data, 5)
    monkeypatch.setattr(isolated, "read_upload", None)
    with pytest.raises(InputError, match="needs more memory") as second:
        papers_in("x.jsonl.gz", data, 5)
    assert str(first.value) == str(second.value)


def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(InputError, match=r"cannot read the file x\.ris now \(No such file"):
        papers_in("x.ris", RIS, 5)


def test_a_pdf_without_text_says_so() -> None:
    with pytest.raises(InputError, match="holds pictures of pages and no text"):
        papers_in("scan.pdf", draw([]), 5)


def test_a_file_without_papers_says_why() -> None:
    with pytest.raises(InputError, match=r"No paper was found in x\.bib \(not a format that can be read\)"):
        papers_in("x.bib", b"nothing of the kind", 5)


def test_large_files_get_more_time_but_not_any() -> None:
    assert limits_for(b"%PDF-1.7" + bytes(50_000_000)).seconds == 60
    assert limits_for(bytes(25_000_000)).seconds == 210
    assert limits_for(bytes(500_000_000)).seconds == 600


def test_the_pages_parse_no_file_themselves() -> None:
    wrong = {
        f"{path.name}: {node.module}"
        for path in (ROOT / "pages").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module in ("index_build.sources", "index_build.pdf")
    }
    assert wrong == set()
