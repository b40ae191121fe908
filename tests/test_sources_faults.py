"""Whatever goes wrong in one record, the import goes on: every reader makes it a reject with its place."""

from __future__ import annotations

import io
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from index_build import importing
from index_build.sources import FORMATS, Reason, Reject, pdf, read_bytes, read_stream
from index_build.sources.rejects import RAW_START
from search.types import Paper
from tests.formats.files import make_files

TITLES = ("Rain", "Snow", "Hail")


def lines(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


FILES = {
    "acl": '<collection id="2020.x"><volume id="1">'
    + "".join(f'<paper id="{n}"><title>{title}</title></paper>' for n, title in enumerate(TITLES))
    + "</volume></collection>",
    "arxiv": lines(*({"id": "2101.00001", "title": t, "authors_parsed": []} for t in TITLES)),
    "beir": lines(*({"_id": t, "title": t, "text": "It falls."} for t in TITLES)),
    "bibtex": "".join(f"@misc{{{t}, title = {{{t}}}}}\n" for t in TITLES),
    "csfcube": lines(*({"paper_id": t, "title": t, "abstract": ["It falls."]} for t in TITLES)),
    "csl-json": json.dumps([{"type": "article", "title": t, "DOI": ""} for t in TITLES]),
    "csv": "title,year\n" + "".join(f"{t},2020\n" for t in TITLES),
    "jsonl": lines(*({"title": t} for t in TITLES)),
    "nbib": "\n".join(f"PMID- {n}\nTI  - {t}.\n" for n, t in enumerate(TITLES, 1)),
    "openalex": lines(*({"id": "https://openalex.org/W1", "title": t} for t in TITLES)),
    "pubmed": "<PubmedArticleSet>"
    + "".join(f"<PubmedArticle><ArticleTitle>{t}</ArticleTitle></PubmedArticle>" for t in TITLES)
    + "</PubmedArticleSet>",
    "ris": "".join(f"TY  - JOUR\nTI  - {t}\nER  - \n" for t in TITLES),
    "s2": lines(*({"corpusid": n, "title": t} for n, t in enumerate(TITLES))),
    "wos": "".join(f"PT J\nTI {t}\nER\n" for t in TITLES),
}
NEWER = {kind: data for kind, data in make_files(TITLES).items() if kind != "cff"}


class Unexpected(Exception):
    """What no reader knows of."""


def break_snow(monkeypatch: pytest.MonkeyPatch, module: Any) -> None:
    """Let the reader fail where it puts together the paper called Snow."""
    complete = module.complete

    def fail_on_snow(paper: Paper) -> Paper:
        if paper.title == "Snow":
            raise Unexpected
        return complete(paper)

    monkeypatch.setattr(module, "complete", fail_on_snow)


def test_every_format_has_an_example() -> None:
    assert set(FILES) | set(NEWER) | {"pdf", "cff"} == set(FORMATS)


@pytest.mark.parametrize("kind", [*FILES, *NEWER])
def test_a_fault_in_one_record_costs_that_record(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plainly = dict.fromkeys(("csv", "beir", "csfcube", "xlsx"), "generic")
    maker = plainly.get(kind, "papers" if kind in NEWER else FORMATS[kind])
    break_snow(monkeypatch, import_module(f"index_build.sources.{maker}"))
    items = list(read_bytes(NEWER.get(kind) or FILES[kind].encode(), f"file.{kind}"))
    assert [item.title for item in items if isinstance(item, Paper)] == ["Rain", "Hail"]
    assert {item.source for item in items if isinstance(item, Paper)} == {kind}
    (reject,) = (item for item in items if isinstance(item, Reject) and item.reason != Reason.NO_ABSTRACTS)
    assert reject.reason == Reason.FAULT
    assert reject.place.startswith(("line ", "record ", "row "))
    assert "Snow" in reject.raw or len(reject.raw) == RAW_START  # of long records, the start is kept


def test_a_fault_in_a_pdf_is_a_reject(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(data: bytes) -> Paper:
        raise Unexpected

    monkeypatch.setattr(pdf, "read_pdf", fail)
    (reject,) = read_bytes(b"%PDF-1.5 nothing", "paper.pdf")
    assert isinstance(reject, Reject)
    assert (reject.place, reject.reason) == ("file", Reason.FAULT)


class Breaking(io.BytesIO):
    """A file whose second piece cannot be had, for a reason nobody thought of."""

    def readinto(self, buffer: Any) -> int:
        if self.tell() > 100_000:
            raise Unexpected
        return super().readinto(buffer)


def test_a_fault_between_records_says_after_which(monkeypatch: pytest.MonkeyPatch) -> None:
    data = "".join(f"TY  - JOUR\nTI  - Title {n}\nER  - \n" for n in range(20_000)).encode()
    *papers, reject = read_stream(Breaking(data), "half.ris")
    assert len(papers) > 1000
    assert isinstance(reject, Reject)
    assert (reject.place, reject.reason) == (f"after record {len(papers)}", Reason.FAULT)


def test_a_fault_in_splitting_costs_one_paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    split = importing.split_paper

    def fail_on_snow(paper: Paper) -> Paper:
        if paper.title == "Snow":
            raise Unexpected
        return split(paper)

    monkeypatch.setattr(importing, "split_paper", fail_on_snow)
    file = tmp_path / "papers.ris"
    file.write_text(FILES["ris"])
    summary = importing.import_files(tmp_path / "corpus", [file])
    assert summary.stored.added == 2
    assert summary.rejected == {Reason.FAULT: 1}


WOS = """FN Clarivate Analytics Web of Science
VR 1.0
PT J
AU Author, A
AF Author, Ada
TI Rain
C3 University of Rain
C1 [Author, Ada] Univ Rain, Town.
WE Science Citation Index Expanded (SCI-EXPANDED)
UK one day
Z9 3
PY 2020
UT WOS:0001
ER

EF
"""


def test_tags_that_nobody_told_us_of_are_passed_over() -> None:
    (paper,) = read_bytes(WOS.encode(), "savedrecs.txt")
    assert isinstance(paper, Paper)
    assert (paper.id, paper.title, paper.authors, paper.year) == ("wos:0001", "Rain", ("Author, Ada",), 2020)


@pytest.mark.parametrize(
    "text",
    [
        "TY  - JOUR\nTI  - Rain\nDO  - 10.1000/r.1\nAB  - It raDO  - 1\nDO  - 10.1000/r.2\nER  - \n",
        "OWN - ERIC\nTI  - Rain\nOID - EJ001\nPT  - Journal A - Snow\nOID - EJ002\n",
        '{"title": "Rain", "abstract": "It rains.", "x": "bi", "title": "Snow", "abstract": "It snows."}',
        '[{"title": "Rain", "abstract": "It rains.", "x": "y", "title": "Snow", "abstract": "It snows."}]',
    ],
)
def test_two_records_that_ran_into_one_are_told(text: str) -> None:
    items = list(read_bytes(text.encode(), "x"))
    assert [item.reason for item in items if isinstance(item, Reject)] == [Reason.DOUBLED]
    assert sum(isinstance(item, Paper) for item in items) == 1


@pytest.mark.parametrize(
    "text",
    [
        "TY  - JOUR\nTI  - Rain\nDO  - 10.1000/R.1\nDO  - https://doi.org/10.1000/r.1\nER  - \n",
        '{"title": "Rain", "references": [{"title": "Snow"}, {"title": "Hail"}], "abstract": "It rains."}',
    ],
)
def test_a_number_that_comes_twice_and_titles_within_a_record_are_not_two_records(text: str) -> None:
    (paper,) = read_bytes(text.encode(), "x")
    assert isinstance(paper, Paper)
