"""Reads OAI-PMH, as arXiv and repositories answer: Dublin Core, arXiv's own two layouts, MODS and MARC."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import partial
from typing import Any

from index_build.markup import latex_text
from index_build.sources import jats, marc, mods
from index_build.sources.arxiv import journal_of
from index_build.sources.arxiv_categories import field_names
from index_build.sources.names import split_names
from index_build.sources.papers import kind_of, paper_of
from index_build.sources.records import arxiv_of, doi_of, full_name, pmid_of, url_of, year_of
from index_build.sources.references import date_of
from index_build.sources.rejects import BadRecord, Reason, Reject, attempt
from index_build.sources.sections import with_colons
from index_build.sources.xml_records import read_elements, text_of, texts_of
from search.types import Kind, Paper, Reference


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    """A paper for each record that has metadata; of deleted records only the header is left."""
    key = ""
    for element in read_elements(stream, name, ("header", "metadata"), prefixed=True):
        if isinstance(element, Reject):
            yield element
        elif element.root.tag == "header":
            key = text_of(element.root, "identifier")
        else:
            yield attempt(partial(to_paper, element.root, key), name, element.place, element.raw)
            key = ""


def to_paper(metadata: Any, key: str) -> Paper:
    """The paper of whichever layout is inside."""
    record = metadata[0] if len(metadata) else metadata
    if record.tag in ("arXiv", "arXivRaw"):
        return _from_arxiv(record)
    if record.tag == "article" and record.find("front") is not None:
        return jats.to_paper(record.find("front"), dict(record.attrib))
    if record.tag == "mods":
        return mods.to_paper(record)
    if record.tag == "record" and record.find("datafield") is not None:
        return marc.to_paper(record)
    if record.tag in ("dc", "qualifieddc"):
        return _from_dublin_core(record, key)
    raise BadRecord(Reason.BAD_SHAPE)


def _from_arxiv(record: Any) -> Paper:
    arxiv_id = arxiv_of(text_of(record, "id"))
    date = text_of(record, "created") or text_of(record, "version/date")
    reference = text_of(record, "journal-ref")
    people = [
        full_name(text_of(author, "keyname"), text_of(author, "forenames"), text_of(author, "suffix"))
        for author in record.iterfind("authors/author")
    ]
    return paper_of(
        "oai",
        latex_text(text_of(record, "title")),
        with_colons(latex_text(text_of(record, "abstract"))),
        authors=map(latex_text, people or split_names(text_of(record, "authors").replace(", ", " and "))),
        year=year_of(date),
        venue=journal_of(reference) if reference else "",
        fields=field_names(text_of(record, "categories").split()),
        doi=doi_of(text_of(record, "doi")),
        arxiv_id=arxiv_id,
        url=f"https://arxiv.org/abs/{arxiv_id}" if arxiv_id else "",
        reference=Reference(
            kind=Kind.PREPRINT,
            date=date_of(date),
            number=text_of(record, "report-no"),
            licence=text_of(record, "license"),
        ),
    )


def _from_dublin_core(record: Any, key: str) -> Paper:
    """A paper of a repository; of several descriptions the longest is the abstract."""
    ids = texts_of(record, "identifier") + texts_of(record, "relation")
    sources, dates = texts_of(record, "source"), texts_of(record, "date")
    own = "arxiv.org" in key
    arxiv_id = arxiv_of(key.rpartition(":")[2]) if own else _first_arxiv(ids)
    years = sorted(filter(None, map(year_of, dates)))
    return paper_of(
        "oai",
        (latex_text if own else str)(next(iter(texts_of(record, "title")), "")),
        (latex_text if own else str)(max(texts_of(record, "description"), key=len, default="")),
        authors=texts_of(record, "creator") or texts_of(record, "contributor"),
        year=years[0] if years else None,
        venue="arXiv" if own else next(iter(sources), ""),
        fields=texts_of(record, "subject"),
        doi=next(filter(None, map(doi_of, ids)), ""),
        arxiv_id=arxiv_id,
        pmid=next((pmid_of(text) for text in ids if "pmid" in text.lower() or "pubmed" in text), ""),
        url=next(filter(None, map(url_of, ids)), ""),
        reference=Reference(
            kind=kind_of(*(text.rpartition("/")[2] for text in texts_of(record, "type"))),
            date=next(filter(None, map(date_of, dates)), ""),
            publisher=text_of(record, "publisher"),
            issn=(*(text for text in ids + sources if "issn" in text.lower()),),
            isbn=(*(text for text in ids if "isbn" in text.lower()),),
            language=text_of(record, "language"),
            licence=next((text for text in texts_of(record, "rights") if len(text) < 200), ""),
            key=key,
        ),
    )


def _first_arxiv(ids: list[str]) -> str:
    return next((arxiv_of(text) for text in ids if "arxiv" in text.lower()), "")
