"""Other programs read our files: pandoc, pybtex, citeproc-py and rispy, each field of fifty hard papers.

A program that is not installed is skipped with its name: `pip install -r requirements-dev.txt`, and pandoc
from the system.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import unicodedata
import warnings

import pytest

from search.exports import Citation, write
from search.exports.csl_json import _TYPES as CSL_TYPES
from search.exports.ris import _TYPES as RIS_TYPES
from search.names import divide
from search.types import Kind, Paper
from tests.hard_papers import PAPERS

CITATIONS = [
    Citation(paper, "Matches your method sentence: “50% & more”.", tags=("to read",)) for paper in PAPERS
]
AT_HOME = (Kind.THESIS, Kind.REPORT, Kind.MANUSCRIPT)
pandoc = pytest.mark.skipif(shutil.which("pandoc") is None, reason="pandoc is not installed")


def test_there_are_fifty_papers_of_every_kind():
    assert len(PAPERS) == 50
    assert {paper.reference.kind for paper in PAPERS} == set(Kind)


def _pandoc(text: str, format: str) -> dict[str, dict]:
    done = subprocess.run(
        ["pandoc", "-f", format, "-t", "csljson"], input=text.encode(), capture_output=True, check=True
    )
    return {item["id"]: item for item in json.loads(done.stdout)}


def _words(text: str) -> str:
    """The text without tags of pandoc, and without differences of quotes, dashes and spaces.

    Braces go, too: pandoc does not know \\textbraceleft, and \\{ would unbalance a value.
    """
    text = re.sub(r"</?span[^>]*>|</?su[bp]>|</?i>", "", text)
    for marks, plain in (("{}", ""), ("“”„\"‘’'`", ""), ("–—−", "-"), ("\u00a0", " "), ("\\", "")):
        text = "".join(plain if character in marks else character for character in text)
    return " ".join(unicodedata.normalize("NFKC", text).replace("--", "-").split())


def _families(names: list[dict]) -> list[str]:
    def family(name: dict) -> str:
        particle = " ".join(name.get(part, "") for part in ("dropping-particle", "non-dropping-particle"))
        return f"{particle} {name.get('family') or name.get('literal', '')}".strip()

    return [_words(family(name)) for name in names]


def _expected_families(paper: Paper) -> list[str]:
    is_person = [", " in name and not name.endswith("Inc.") for name in paper.authors]
    names = zip(paper.authors, is_person, strict=True)
    return [_words(divide(name).family if person else name) for name, person in names]


def _check(item: dict, paper: Paper) -> None:
    reference = paper.reference
    # pandoc changes the case of titles in BibTeX where a word is not protected, as BibTeX itself does
    assert _words(item["title"]).lower() == _words(paper.title).lower()
    assert item.get("DOI", "").lower() == paper.doi
    assert _families(item.get("author", [])) == _expected_families(paper)
    years = [str(part) for date in item.get("issued", {}).get("date-parts", []) for part in date[:1]]
    assert years == ([str(paper.year)] if paper.year else [])
    assert item.get("volume", "") == reference.volume
    assert item.get("issue", "") == reference.issue
    assert _words(item.get("page", "")) == reference.pages
    assert _words(item.get("container-title", "")).lower() == _words(paper.venue).lower()


@pandoc
@pytest.mark.parametrize("format", ["bibtex", "csl-json"])
def test_pandoc_reads_every_field(format: str) -> None:
    items = _pandoc(write(CITATIONS, format), format.replace("-", ""))
    assert len(items) == len(PAPERS)
    for paper in PAPERS:
        item = items[paper.reference.key]
        _check(item, paper)
        if (
            format == "csl-json" or paper.reference.kind is not Kind.PATENT
        ):  # there pandoc passes over the holder
            assert _words(item["publisher"]) == _words(paper.reference.publisher)
        assert _families(item.get("editor", [])) == [
            _words(divide(n).family) for n in paper.reference.editors
        ]
        if format == "csl-json":
            assert item["type"] == CSL_TYPES[paper.reference.kind]


@pandoc
def test_pandoc_reads_ris() -> None:
    known = subprocess.run(["pandoc", "--list-input-formats"], capture_output=True, text=True, check=True)
    if "ris" not in known.stdout.split():
        pytest.skip("this pandoc is older than 3.0 and reads no RIS")
    items = list(_pandoc(write(CITATIONS, "ris"), "ris").values())
    assert len(items) == len(PAPERS)
    for item, paper in zip(items, PAPERS, strict=True):
        assert _words(item["title"]) == _words(paper.title)
        assert item.get("DOI", "").lower() == paper.doi
        assert item.get("volume", "") == paper.reference.volume


def test_pybtex_reads_every_field() -> None:
    database = pytest.importorskip("pybtex.database")
    richtext = pytest.importorskip("pybtex.richtext")
    entries = database.parse_string(write(CITATIONS, "bibtex"), "bibtex").entries
    assert list(entries) == [paper.reference.key for paper in PAPERS]
    for paper in PAPERS:
        entry, reference = entries[paper.reference.key], paper.reference
        shown = {name: _words(str(richtext.Text.from_latex(value))) for name, value in entry.fields.items()}
        assert shown.get("year", "") == str(paper.year or "")
        assert shown.get("volume", "") == reference.volume
        assert shown.get("pages", "") == reference.pages
        assert entry.fields.get("doi", "") == paper.doi
        assert "note" not in shown
        assert shown["annote"].startswith("Matches your method sentence")
        people = entry.persons.get("author", [])
        names = [" ".join(person.prelast_names + person.last_names) for person in people]
        plain = [_words(str(richtext.Text.from_latex(name))) for name in names]
        assert plain == _expected_families(paper)
        for name in ("publisher", "school", "institution", "organization", "holder"):
            if name in shown:
                assert shown[name] == _words(reference.publisher)


def test_citeproc_reads_every_item() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        json_source = pytest.importorskip("citeproc.source.json")
        found = json_source.CiteProcJSON(json.loads(write(CITATIONS, "csl-json")))
    assert len(found) == len(PAPERS)
    for paper in PAPERS:
        item = found[paper.reference.key.lower()]
        assert _words(str(item["title"])) == _words(paper.title)
        assert item["type"] == CSL_TYPES[paper.reference.kind]
        assert len(item.get("author", [])) == len(paper.authors)
        assert str(item.get("volume", "")) == paper.reference.volume
        assert str(item["publisher"]) == paper.reference.publisher


def test_rispy_reads_every_field() -> None:
    rispy = pytest.importorskip("rispy")
    items = rispy.loads(write(CITATIONS, "ris"))
    for item, paper in zip(items, PAPERS, strict=True):
        reference = paper.reference
        assert item["type_of_reference"] == RIS_TYPES[reference.kind]
        assert item["title"] == paper.title
        assert tuple(item.get("authors", ())) == paper.authors
        assert item.get("year", "") == str(paper.year or "")
        assert item.get("volume", "") == reference.volume
        assert "-".join(filter(None, (item.get("start_page"), item.get("end_page")))) == reference.pages
        assert item["publisher"] == reference.publisher
        assert item.get("doi", "") == paper.doi
        assert item["keywords"] == ["Weather", "to read"]
