"""One small, whole file of each format, made here, with three papers each."""

from __future__ import annotations

import json

from tests.formats.files import make_files as newer_files
from tests.formats.files import ovid_fields

TITLES = ("On rain in the hills", "Über Schnee & Eis", "Hail: a naïve view")
ABSTRACT = "BACKGROUND: It falls. METHODS: We look up, often. RESULTS: We get wet by 50 %."


def _lines(records: list[dict[str, object]]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def _records() -> list[dict[str, object]]:
    return [
        {
            "id": f"p{number}",
            "title": title,
            "abstract": ABSTRACT,
            "year": 2000 + number,
            "authors": ["Author, Ada", "Bee, B."],
            "doi": f"10.1000/{number}",
        }
        for number, title in enumerate(TITLES, 1)
    ]


def _tagged(start: str, line: str, end: str) -> str:
    """Records of tagged lines: `line` takes a tag and a text."""
    records = (
        start.format(number)
        + line.format("TI", title)
        + line.format("AU", "Author, Ada")
        + line.format("AB", ABSTRACT)
        + end
        for number, title in enumerate(TITLES, 1)
    )
    return "".join(records)


def _xml(title: str, number: int) -> str:
    title = title.replace("&", "&amp;")
    return (
        f"<PubmedArticle><MedlineCitation><PMID>{number}</PMID><Article><ArticleTitle>{title}</ArticleTitle>"
        f"<Abstract><AbstractText>{ABSTRACT}</AbstractText></Abstract></Article></MedlineCitation></PubmedArticle>\n"
    )


def _acl(title: str, number: int) -> str:
    title = title.replace("&", "&amp;")
    return f'<paper id="{number}"><title>{title}</title><abstract>{ABSTRACT}</abstract></paper>\n'


def _bibtex(title: str, number: int) -> str:
    title = title.replace("&", r"\&")
    return (
        f"@article{{key{number},\n  title = {{{title}}},\n  author = {{Author, Ada and Bee, B.}},\n"
        f'  abstract = "{ABSTRACT.replace("%", chr(92) + "%")}",\n  year = 2020\n}}\n'
    )


def make_files() -> dict[str, bytes]:
    """A file of each format, by the name of the format."""
    texts = {kind: text.encode() for kind, text in _texts().items()}
    return texts | newer_files(TITLES) | {"ovid fields": ovid_fields(TITLES).encode()}


def _texts() -> dict[str, str]:
    numbered = list(enumerate(TITLES, 1))
    records = _records()
    csl = [{"type": "article", "title": title, "abstract": ABSTRACT, "DOI": ""} for title in TITLES]
    words = {word: [place] for place, word in enumerate(dict.fromkeys(ABSTRACT.split()))}
    return {
        "acl": '<collection id="2020.x"><volume id="1"><meta><year>2020</year></meta>\n'
        + "".join(_acl(title, number) for number, title in numbered)
        + "</volume></collection>",
        "arxiv": _lines(
            [
                {
                    "id": f"2101.0000{number}",
                    "title": title,
                    "abstract": ABSTRACT,
                    "authors_parsed": [["Bee", "B."]],
                }
                for number, title in numbered
            ]
        ),
        "beir": _lines(
            [{"_id": f"b{number}", "title": title, "text": ABSTRACT} for number, title in numbered]
        ),
        "bibtex": "".join(_bibtex(title, number) for number, title in numbered),
        "csfcube": _lines(
            [
                {"paper_id": f"c{number}", "title": title, "abstract": ["It falls.", "We look up."]}
                for number, title in numbered
            ]
        ),
        "csl-json": json.dumps(csl, ensure_ascii=False, indent=1),
        "csv": "id,title,abstract,year,authors\n"
        + "".join(
            f'x-{number},"{title}","{ABSTRACT}",2020,"Author, A.; Bee, B."\n' for number, title in numbered
        ),
        "jsonl": _lines(records),
        "nbib": _tagged("PMID- {}\n", "{:<4}- {}\n", "\n"),
        "openalex": _lines(
            [
                {"id": f"https://openalex.org/W{number}", "title": title, "abstract_inverted_index": words}
                for number, title in numbered
            ]
        ),
        "pubmed": "<PubmedArticleSet>\n"
        + "".join(_xml(title, number) for number, title in numbered)
        + "</PubmedArticleSet>",
        "ris": _tagged("TY  - JOUR\nID  - {}\n", "{}  - {}\n", "ER  - \n\n"),
        "s2": _lines(
            [{"corpusid": number, "title": title, "abstract": ABSTRACT} for number, title in numbered]
        ),
        "wos": "FN Clarivate\nVR 1.0\n" + _tagged("PT J\nUT WOS:{}\n", "{} {}\n", "ER\n\n") + "EF",
        "answer": json.dumps({"meta": {"count": 3}, "results": records}, ensure_ascii=False),
    }
