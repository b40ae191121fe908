"""The formats of programs and services: whole files, their variants, and how they are told apart."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import pytest

from index_build.importing import import_files
from index_build.sources import Reason, Reject, detect, read_bytes, workbooks
from index_build.sources.streams import unpack
from search.types import Facet, Kind, Paper
from tests.formats import files
from tests.formats.files import ABSTRACT, AUTHORS, workbook
from tests.formats.table import measure
from tests.fuzz.files import make_files

DOCS = Path(__file__).resolve().parent.parent / "docs"
TITLES = ("Rain", "Snow", "Hail")


def papers(data: bytes | str, name: str = "upload") -> list[Paper]:
    data = data if isinstance(data, bytes) else data.encode()
    items = list(read_bytes(data, name))
    assert not [item for item in items if isinstance(item, Reject)]
    return [item for item in items if isinstance(item, Paper)]


def told(data: bytes | str) -> list[str]:
    """The titles of the papers, and the places and reasons of what was not read."""
    data = data if isinstance(data, bytes) else data.encode()
    return [
        item.title if isinstance(item, Paper) else f"{item.place}: {item.reason}"
        for item in read_bytes(data, "upload")
    ]


def test_every_field_of_every_format_comes_out_right() -> None:
    rows = measure()
    assert [(row.kind, row.wrong) for row in rows if row.wrong] == []
    assert [row.kind for row in rows if (row.papers, row.rejected) != (row.records, 0)] == []
    page = (DOCS / "formats.md").read_text(encoding="utf-8")
    assert [row.kind for row in rows if str(row) not in page] == []


@pytest.mark.parametrize("kind", make_files())
def test_the_content_decides_and_not_the_name(kind: str) -> None:
    data = make_files()[kind]
    known = {"answer": "jsonl", "ovid fields": "ovid"}.get(kind, kind)
    assert {detect(data, name) for name in ("x", "x.bib", "x.csv", "x.xml", "x.pdf")} == {known}


def test_a_format_without_abstracts_says_so_in_the_summary(tmp_path: Path) -> None:
    file = tmp_path / "dblp.xml"
    file.write_text(files.dblp(TITLES))
    summary = import_files(tmp_path / "corpus", [file])
    assert summary.stored.added == 3
    assert summary.rejected == {Reason.NO_ABSTRACTS: 1}
    assert "abstracts" in Reason.NO_ABSTRACTS.advice


# -- workbooks

NAMES = ["Title", "Abstract", "Year"]


@pytest.mark.parametrize("shared", [True, False])
def test_a_workbook_is_a_table(shared: bool) -> None:
    rows = [
        ["made by hand"],
        NAMES,
        ["Rain & hail", ABSTRACT, "2020"],
        [],
        ["", "", "2019"],
        ["Snow", "", ""],
    ]
    first, reject, last = read_bytes(workbook(rows, shared), "papers.xlsx")
    assert isinstance(first, Paper)
    assert (first.title, first.abstract, first.year) == ("Rain & hail", ABSTRACT, 2020)
    assert (first.source, first.id[:5]) == ("xlsx", "xlsx:")
    assert isinstance(reject, Reject)
    assert (reject.place, reject.reason) == ("row 5 of xl/worksheets/sheet1.xml", Reason.NO_TEXT)
    assert isinstance(last, Paper)
    assert last.title == "Snow"


def test_a_sheet_without_names_of_columns_is_one_reject() -> None:
    assert told(workbook([["Rain", "wet"], ["Snow", "cold"]])) == [
        "xl/worksheets/sheet1.xml: text outside of any record"
    ]


def test_escaped_characters_and_columns_far_to_the_right() -> None:
    rows = [["Title", *[""] * 9, "Abstract"], ["Rain_x000D_ again", *[""] * 9, "It rains."]]
    (paper,) = papers(workbook(rows))
    assert (paper.title, paper.abstract) == ("Rain again", "It rains.")


def test_a_workbook_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = workbook([NAMES, ["Rain", "wet " * 500_000, "2020"]])
    assert len(bomb) < 10_000
    monkeypatch.setattr(workbooks, "MOST_UNPACKED", 100_000)
    assert [line.partition(": ")[2] for line in told(bomb)][:1] == ["record too long"]
    monkeypatch.setattr(workbooks, "MOST_UNPACKED", 10_000_000)
    monkeypatch.setattr(workbooks, "MOST_SHARED", 100_000)
    assert told(bomb)[0] == "shared texts: record too long"


def test_entities_of_a_workbook_are_not_expanded() -> None:
    out = io.BytesIO()
    laughs = '<!DOCTYPE x [<!ENTITY a "haha"><!ENTITY b "&a;&a;&a;">]>'
    sheet = (
        f'{laughs}<worksheet><sheetData><row r="1"><c t="inlineStr"><is><t>Title</t></is></c></row>'
        '<row r="2"><c t="inlineStr"><is><t>Rain &b;</t></is></c></row></sheetData></worksheet>'
    )
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/worksheets/sheet1.xml", sheet)
    assert not any("haha" in line for line in told(out.getvalue()))


def test_damaged_and_other_archives() -> None:
    whole = workbook([NAMES, ["Rain", ABSTRACT, "2020"]])
    assert told(whole[:-30]) == ["file: workbook cannot be opened"]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("papers.bib", "@misc{a, title = {Rain}}")
        archive.writestr("notes/readme.txt", "A letter.")
        archive.writestr("__MACOSX/._papers.bib", "x")
    assert told(out.getvalue()) == ["Rain", "file: not a format that can be read"]
    assert told(out.getvalue()[:-30]) == ["file: compressed file is damaged or cut off"]
    outer = io.BytesIO()
    with zipfile.ZipFile(outer, "w") as archive:
        archive.writestr("inner.zip", out.getvalue())
    assert told(outer.getvalue()) == ["file: not a format that can be read"]


# -- variants of the other formats


def test_single_works_and_lists_of_crossref() -> None:
    answer = json.loads(files.crossref(TITLES))
    items = answer["message"]["items"]
    single = json.dumps({"status": "ok", "message-type": "work", "message": items[0]})
    assert [paper.title for paper in papers(single)] == ["Rain"]
    lines = "".join(json.dumps(item) + "\n" for item in items)
    assert [(paper.title, paper.source) for paper in papers(lines)] == [(t, "crossref") for t in TITLES]


def test_single_works_of_datacite() -> None:
    item = json.loads(files.datacite(TITLES))["data"][1]
    for record in (item, {"data": item}, item["attributes"]):
        (paper,) = papers(json.dumps(record))
        assert (paper.title, paper.source, paper.authors) == ("Snow", "datacite", AUTHORS)


def test_lists_of_semantic_scholar() -> None:
    one = {"paperId": "a", "corpusId": 1, "title": "Rain", "abstract": "Wet."}
    other = {"paperId": "b", "corpusId": 2, "title": "Snow", "abstract": "Cold."}
    for answer in (
        {"total": 2, "offset": 0, "data": [one, other]},
        {"offset": 0, "data": [{"citingPaper": one}, {"citingPaper": other}]},
        {"offset": 0, "data": [{"citedPaper": one}, {"citedPaper": other}]},
        {"recommendedPapers": [one, other]},
        [one, other],
    ):
        assert [paper.id for paper in papers(json.dumps(answer))] == ["s2:1", "s2:2"]


def test_items_of_zotero_without_their_wrapping() -> None:
    items = [item["data"] for item in json.loads(files.zotero(TITLES))]
    found = papers(json.dumps({"config": {}, "items": items}))
    assert [(paper.title, paper.source) for paper in found] == [(t, "zotero") for t in TITLES]


def test_headings_of_europe_pmc_are_sections() -> None:
    first = papers(files.europe_pmc(TITLES))[0]
    assert [section.facet for section in first.sections] == [Facet.BACKGROUND, Facet.METHOD, Facet.RESULT]


def test_arxiv_in_oai() -> None:
    inside = {
        "arXiv": "<authors><author><keyname>Author</keyname><forenames>Ada</forenames></author></authors>"
        "<created>2020-05-03</created>",
        "arXivRaw": "<authors>Ada Author</authors><version><date>Sun, 3 May 2020</date></version>",
    }
    for tag, fields in inside.items():
        text = (
            "<OAI-PMH><ListRecords><record><header><identifier>2005.00001</identifier></header>"
            f'<metadata><{tag} xmlns="x"><id>2005.00001</id>{fields}<title>Rain of $n^2$ drops</title>'
            f"<categories>cs.CL</categories><abstract>It falls.</abstract></{tag}></metadata></record>"
            "</ListRecords></OAI-PMH>"
        )
        (paper,) = papers(text)
        assert (paper.title, paper.arxiv_id, paper.year) == ("Rain of n² drops", "2005.00001", 2020)
        assert len(paper.authors) == 1


def test_marc_and_mods_in_oai() -> None:
    marc = files.marcxml(("Rain",)).partition("\n")[2].replace("marc:", "")
    mods = files.mods(("Snow",)).partition("\n")[2]
    record = "<record><header><identifier>x</identifier></header><metadata>{}</metadata></record>"
    inner = [marc[marc.index("<record") : marc.index("</collection")], mods[mods.index("<mods:mods ") :]]
    inner[1] = inner[1].replace("</mods:modsCollection>", "")
    text = "<OAI-PMH><ListRecords>" + "".join(map(record.format, inner)) + "</ListRecords></OAI-PMH>"
    assert [paper.title for paper in papers(text)] == ["Rain", "Snow"]


def test_works_of_one_journal_in_zoteros_rdf() -> None:
    text = files.zotero_rdf(TITLES).replace("urn:issn:1234-5672", "urn:issn:1234-5671")
    assert {(paper.title, paper.venue) for paper in papers(text)} == {(t, files.VENUE) for t in TITLES}
    lost = files.zotero_rdf(TITLES).replace('rdf:resource="urn:issn:1234-5672"', 'rdf:resource="nowhere"')
    assert sorted(told(lost)) == ["Hail", "Rain", "Snow"]


def test_citation_files() -> None:
    text = files.cff(TITLES)
    preferred = (
        "preferred-citation:\n  type: conference-paper\n  title: Snow\n  year: 2021\n"
        "  authors:\n    - name: The Big Team\n"
    )
    (paper,) = papers(text + preferred)
    assert (paper.title, paper.authors, paper.year) == ("Snow", ("The Big Team",), 2021)
    assert paper.reference.kind == Kind.PROCEEDINGS_PAPER
    assert told("cff-version: 1.2.0\ntitle: [Rain\n") == ["file: entry cannot be parsed"]
    assert told("cff-version: 1.2.0\ntitle: Rain\n") == ["Rain", "file: no abstracts in this format"]


def test_names_that_come_given_first() -> None:
    entry = "<feed><entry><title>Rain</title><summary>Wet.</summary>{}</entry></feed>"
    names = ("Ada Author", "Vincent van der Bee", "Cay Cee Jr.", "The Rain Collaboration", "Dee")
    people = "".join(f"<author><name>{name}</name></author>" for name in names)
    (paper,) = papers(entry.format(people))
    assert paper.authors == (
        "Author, Ada", "van der Bee, Vincent", "Cee, Cay, Jr.", "The Rain Collaboration", "Dee",
    )  # fmt: skip


def test_markup_within_titles_is_taken_out() -> None:
    text = files.jats(("Rain",)).replace(
        "Rain<xref", "Rain on <named-content>hills</named-content><break/>of H<sub>2</sub>O<xref"
    )
    (paper,) = papers(text)
    assert paper.title == "Rain on hills of H₂O"


@pytest.mark.parametrize("kind", sorted(set(files.MAKERS) - {"xlsx", "cff"}))
def test_a_broken_record_costs_only_itself(kind: str) -> None:
    data = files.make_files(TITLES)[kind]
    at = data.index(b"Snow")
    for damage in (b"\x00\xff<", b'"}', b"</"):
        found = told(data[:at] + damage + data[at:])
        assert "Rain" in found
        assert len(found) >= 2


def test_the_line_ends_of_a_pdf_are_not_changed() -> None:
    old = b"%PDF-1.2\r" + b"1 0 obj\r" * 50
    with unpack(io.BytesIO(old)) as stream:
        assert stream.read() == old


def test_a_line_between_the_name_of_a_field_and_its_text() -> None:
    text = files.ovid_fields(TITLES).replace("Title\n  Snow", "Title\nfound by hand\n  Snow")
    assert told(text) == list(TITLES)


def test_records_whose_beginning_was_lost_are_told() -> None:
    merged = files.ovid_fields(TITLES).replace("<2>\nAccession Number\n  2002\n", "")
    assert told(merged) == list(TITLES)
    for kind, start in (
        ("marcxml", b"<marc:record>"),
        ("zotero-rdf", b"<bib:Article rdf"),
        ("mods", b"<mods:mods ID"),
    ):
        data = files.make_files(TITLES)[kind]
        at = data.index(start, data.index(start) + 1)
        found = told(data[:at] + data[at + len(start) :])
        assert found[0] == "Rain"
        assert found[-1] == "Hail"
        assert any("not finished" in line for line in found)


def test_an_archive_with_places_outside_of_it_is_refused() -> None:
    data = bytearray(workbook([NAMES, ["Rain", ABSTRACT, "2020"]]))
    end = data.rindex(b"PK\x05\x06")
    data[end + 16 : end + 20] = b"\xff\xff\xff\x7f"
    assert {line.partition(": ")[2] for line in told(bytes(data))} == {"workbook cannot be opened"}
