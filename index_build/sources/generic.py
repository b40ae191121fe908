"""Reads JSON records with plain field names: id, title, abstract, year, venue, authors, doi, url, fields."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

from index_build.markup import to_text
from index_build.sources.json_answers import Record
from index_build.sources.json_records import read_json
from index_build.sources.records import (
    arxiv_of,
    authors_of,
    complete,
    doi_of,
    first_text,
    id_of,
    name_paper,
    plain,
    pmid_of,
    texts_of,
    unique,
    url_of,
    year_of,
)
from index_build.sources.references import kind_of_words, make_reference, others, page_range
from index_build.sources.rejects import Reject
from index_build.sources.sections import find_sections, join_sentences
from search.references import EMPTY
from search.types import Paper, Reference, Sentence


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    return read_json(stream, name, to_paper)


_IS_DOI = re.compile(r"doi:|10\.|https?://(?:dx\.)?doi\.org/", re.IGNORECASE)


def to_paper(record: Record) -> Paper:
    """A paper from the usual names; sentences and their labels are kept where the record has them."""
    get = record.get
    title = to_text(first_text(record, "title", "display_name"))
    abstract, sentences = abstract_of(record)
    own_id = id_of(get("id"), get("paper_id"), get("_id"))
    doi = doi_of(first_text(record, "doi", "DOI")) or (doi_of(own_id) if _IS_DOI.match(own_id) else "")
    arxiv_id = arxiv_of(get("arxiv_id") or (own_id if own_id.startswith("arxiv:") else ""))
    pmid = pmid_of(get("pmid") or (own_id if own_id.startswith("pmid:") else ""))
    fields = unique(texts_of(get("fields") or get("categories") or get("keywords")))
    return complete(
        Paper(
            id=own_id or name_paper("jsonl:", title, abstract, doi=doi, arxiv=arxiv_id, pmid=pmid),
            title=title,
            abstract=abstract,
            authors=authors_of(get("authors") or get("author")),
            year=year_of(get("year") or get("date") or get("published")),
            venue=to_text(first_text(record, "venue", "journal", "booktitle", "pub")),
            fields=fields,
            doi=doi,
            arxiv_id=arxiv_id,
            pmid=pmid,
            url=url_of(get("url")),
            source="jsonl",
            reference=reference_of(record, fields),
            sections=() if sentences else find_sections(abstract),
            sentences=sentences,
        )
    )


def reference_of(record: Record, fields: tuple[str, ...]) -> Reference:
    """What is printed beside the rest, from the usual names; most records have none of it."""
    if record.keys().isdisjoint(_PRINTED):
        return EMPTY
    get = record.get
    editors = get("editors") or get("editor")
    return make_reference(
        kind=kind_of_words(first_text(record, "type", "kind", "entrytype", "publication_type")),
        genre=get("genre"),
        date=first_text(record, "date", "publication_date", "published"),
        volume=get("volume"),
        issue=get("issue"),
        pages=first_text(record, "pages", "page") or page_range(get("first_page"), get("last_page")),
        number=first_text(record, "number", "article_number", "report_number"),
        series=get("series"),
        edition=get("edition"),
        publisher=first_text(record, "publisher", "institution", "school"),
        place=first_text(record, "place", "address"),
        event=first_text(record, "event", "conference"),
        editors=authors_of(editors) if editors else (),
        container=first_text(record, "container"),
        short_venue=first_text(record, "short_venue", "journal_abbreviation"),
        issn=first_text(record, "issn", "ISSN"),
        isbn=first_text(record, "isbn", "ISBN"),
        pmcid=first_text(record, "pmcid", "PMCID"),
        keywords=others(texts_of(get("keywords")), fields) if get("keywords") else (),
        language=first_text(record, "language", "lang"),
        licence=first_text(record, "licence", "license"),
        note=get("publication_note"),
        accessed=get("accessed"),
        key=first_text(record, "key", "citation_key", "bibkey"),
    )


_PRINTED = frozenset(
    "type kind entrytype publication_type genre date publication_date published volume issue pages page "
    "first_page number article_number report_number series edition publisher institution school place "
    "address event conference editors editor container short_venue journal_abbreviation issn ISSN isbn "
    "ISBN pmcid PMCID keywords language lang licence license publication_note accessed key citation_key "
    "bibkey".split()
)


def abstract_of(record: Record) -> tuple[str, tuple[Sentence, ...]]:
    """The abstract, with its sentences if it is a list of them."""
    value: Any = record.get("abstract") or record.get("sentences") or record.get("text")
    if not isinstance(value, list):
        return to_text(plain(value)), ()
    labels = record.get("pred_labels") or record.get("labels")
    return join_sentences(
        (to_text(plain(sentence)) for sentence in value), labels if isinstance(labels, list) else []
    )
