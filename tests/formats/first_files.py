# ruff: noqa: E501  records are long lines of markup
"""One file of each format that was read from the first, with a record for each title."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

from tests.formats.files import ABSTRACT, AUTHORS, VENUE, doi

_PARTS = [part.split(": ", 1) for part in ("BACKGROUND: It falls.", "METHODS: We look up, often.")]
_PARTS.append(["RESULTS", "We get wet by 50 %."])
_FAMILIES = [name.split(", ") for name in AUTHORS]


def _lines(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def ris(titles: Sequence[str]) -> str:
    return "".join(
        f"TY  - JOUR\nID  - {number}\nTI  - {title}\n"
        + "".join(f"AU  - {name}\n" for name in AUTHORS)
        + f"PY  - 2020\nT2  - {VENUE}\nVL  - 7\nIS  - 2\nSP  - 10\nEP  - 19\nDO  - {doi(number)}\n"
        f"AB  - {ABSTRACT}\nKW  - rain\nKW  - snow\nN1  - Export Date: 6 May 2024\nER  - \n\n"
        for number, title in enumerate(titles, 1)
    )


def nbib(titles: Sequence[str]) -> str:
    return "".join(
        f"PMID- {number}\nOWN - NLM\nVI  - 7\nIP  - 2\nDP  - 2020 May 3\nTI  - {title}\nPG  - 10-19\n"
        f"LID - {doi(number)} [doi]\nAB  - {ABSTRACT}\n"
        + "".join(f"FAU - {name}\n" for name in AUTHORS)
        + f"PT  - Journal Article\nTA  - J Weather\nJT  - {VENUE}\nOT  - rain\nOT  - snow\n\n"
        for number, title in enumerate(titles, 1)
    )


def wos(titles: Sequence[str]) -> str:
    people = "\n   ".join(AUTHORS)
    records = (
        f"PT J\nAU Author, A\n   Bee, BC\nAF {people}\nTI {title}\nSO {VENUE}\nDT Article\nDE rain; snow\n"
        f"AB {ABSTRACT}\nC1 [Author, Ada] Univ Weather, Oslo, Norway.\nC3 University of Weather\nPD MAY\nPY 2020\n"
        f"VL 7\nIS 2\nBP 10\nEP 19\nDI {doi(number)}\nWE Emerging Sources Citation Index (ESCI)\nUK KEPT\n"
        f"UT WOS:{number:015}\nER\n\n"
        for number, title in enumerate(titles, 1)
    )
    return "FN Clarivate\nVR 1.0\n" + "".join(records) + "EF"


def bibtex(titles: Sequence[str]) -> str:
    people, abstract = " and ".join(AUTHORS), ABSTRACT.replace("%", r"\%")
    return "".join(
        f"@article{{key{number},\n  title = {{{escaped}}},\n  author = {{{people}}},\n  journal = {{{VENUE}}},\n"
        f'  abstract = "{abstract}",\n  year = 2020,\n  month = may,\n  volume = 7,\n  number = {{2}},\n'
        f"  pages = {{10--19}},\n  doi = {{{doi(number)}}},\n  keywords = {{rain, snow}}\n}}\n"
        for number, escaped in enumerate((title.replace("&", r"\&") for title in titles), 1)
    )


def csv(titles: Sequence[str]) -> str:
    names = "Authors,Title,Year,Source title,Volume,Issue,Page start,Page end,DOI,Abstract,Author Keywords,Document Type,EID\n"
    return names + "".join(
        f'"{"; ".join(AUTHORS)}","{title}","2020","{VENUE}","7","2","10","19","{doi(number)}","{ABSTRACT}","rain; snow","Article","2-s2.0-{number}"\n'
        for number, title in enumerate(titles, 1)
    )


def pubmed(titles: Sequence[str]) -> str:
    parts = "".join(f'<AbstractText Label="{head}">{body}</AbstractText>' for head, body in _PARTS)
    people = "".join(
        f"<Author><LastName>{family}</LastName><ForeName>{given}</ForeName></Author>"
        for family, given in _FAMILIES
    )
    records = (
        f"<PubmedArticle><MedlineCitation><PMID>{number}</PMID><Article><Journal><JournalIssue><Volume>7</Volume>"
        "<Issue>2</Issue><PubDate><Year>2020</Year><Month>May</Month></PubDate></JournalIssue>"
        f"<Title>{VENUE}</Title></Journal><ArticleTitle>{escape(title, quote=False)}</ArticleTitle>"
        f'<Pagination><MedlinePgn>10-19</MedlinePgn></Pagination><ELocationID EIdType="doi">{doi(number)}</ELocationID>'
        f"<Abstract>{parts}</Abstract><AuthorList>{people}</AuthorList><PublicationTypeList><PublicationType>"
        "Journal Article</PublicationType></PublicationTypeList></Article><KeywordList><Keyword>rain</Keyword>"
        "</KeywordList></MedlineCitation></PubmedArticle>\n"
        for number, title in enumerate(titles, 1)
    )
    return "<PubmedArticleSet>\n" + "".join(records) + "</PubmedArticleSet>"


def acl(titles: Sequence[str]) -> str:
    people = "".join(
        f"<author><first>{given}</first><last>{family}</last></author>" for family, given in _FAMILIES
    )
    papers = (
        f'<paper id="{number}"><title>{escape(title, quote=False)}</title>{people}<pages>10–19</pages>'
        f"<abstract>{ABSTRACT}</abstract><doi>{doi(number)}</doi></paper>\n"
        for number, title in enumerate(titles, 1)
    )
    meta = f"<meta><booktitle>{VENUE}</booktitle><year>2020</year></meta>\n"
    return f'<collection id="2020.x"><volume id="1">{meta}{"".join(papers)}</volume></collection>'


def csl(titles: Sequence[str]) -> str:
    people = [{"family": family, "given": given} for family, given in _FAMILIES]
    works = [
        {
            "id": f"key{number}", "type": "article-journal", "title": title, "author": people,
            "container-title": VENUE, "volume": "7", "issue": "2", "page": "10-19", "DOI": doi(number),
            "issued": {"date-parts": [[2020, 5, 3]]}, "keyword": "rain, snow", "abstract": ABSTRACT,
        }
        for number, title in enumerate(titles, 1)
    ]  # fmt: skip
    return json.dumps(works, ensure_ascii=False, indent=1)


def _records(titles: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "id": f"p{number}", "title": title, "abstract": ABSTRACT, "year": 2020, "authors": list(AUTHORS),
            "doi": doi(number), "venue": VENUE, "keywords": ["rain", "snow"], "type": "article", "volume": "7",
            "issue": "2", "pages": "10-19",
        }
        for number, title in enumerate(titles, 1)
    ]  # fmt: skip


def jsonl(titles: Sequence[str]) -> str:
    return _lines(_records(titles))


def answer(titles: Sequence[str]) -> str:
    return json.dumps({"meta": {"count": 3}, "results": _records(titles)}, ensure_ascii=False)


def arxiv(titles: Sequence[str]) -> str:
    return _lines(
        [
            {
                "id": f"2005.0000{number}", "submitter": "Ada Author", "title": title, "abstract": f"  {ABSTRACT}\n",
                "authors_parsed": [["Author", "Ada", ""], ["Bee", "Benjamin C.", ""]], "doi": doi(number),
                "categories": "physics.ao-ph", "journal-ref": f"{VENUE} 7 (2020) 10-19",
                "versions": [{"version": "v1", "created": "Sun, 3 May 2020 10:00:00 GMT"}],
            }
            for number, title in enumerate(titles, 1)
        ]
    )  # fmt: skip


def openalex(titles: Sequence[str]) -> str:
    words: dict[str, list[int]] = {}
    for place, word in enumerate(ABSTRACT.split()):
        words.setdefault(word, []).append(place)
    return _lines(
        [
            {
                "id": f"https://openalex.org/W{number}", "doi": f"https://doi.org/{doi(number)}", "title": title,
                "publication_year": 2020, "publication_date": "2020-05-03", "type": "article",
                "authorships": [{"author": {"display_name": name}} for name in AUTHORS],
                "primary_location": {"source": {"display_name": VENUE, "type": "journal"}},
                "biblio": {"volume": "7", "issue": "2", "first_page": "10", "last_page": "19"},
                "abstract_inverted_index": words, "topics": [{"display_name": "Rain", "field": {"display_name": "Weather"}}],
                "keywords": [{"display_name": "rain"}],
            }
            for number, title in enumerate(titles, 1)
        ]
    )  # fmt: skip


def s2(titles: Sequence[str]) -> str:
    return _lines(
        [
            {
                "corpusid": number, "title": title, "abstract": ABSTRACT, "year": 2020, "venue": VENUE,
                "authors": [{"name": name} for name in AUTHORS], "externalids": {"DOI": doi(number)},
                "publicationtypes": ["JournalArticle"], "publicationdate": "2020-05-03",
                "journal": {"name": VENUE, "volume": "7", "pages": "10-19"},
                "s2fieldsofstudy": [{"category": "Geology", "source": "x"}],
            }
            for number, title in enumerate(titles, 1)
        ]
    )  # fmt: skip


def beir(titles: Sequence[str]) -> str:
    return _lines(
        [{"_id": f"b{number}", "title": title, "text": ABSTRACT} for number, title in enumerate(titles, 1)]
    )


def csfcube(titles: Sequence[str]) -> str:
    sentences = ["It falls.", "We look up, often.", "We get wet by 50 %."]
    return _lines(
        [
            {"paper_id": f"c{number}", "title": title, "abstract": sentences}
            for number, title in enumerate(titles, 1)
        ]
    )


MAKERS = {
    "acl": acl, "answer": answer, "arxiv": arxiv, "beir": beir, "bibtex": bibtex, "csfcube": csfcube,
    "csl-json": csl, "csv": csv, "jsonl": jsonl, "nbib": nbib, "openalex": openalex, "pubmed": pubmed,
    "ris": ris, "s2": s2, "wos": wos,
}  # fmt: skip
