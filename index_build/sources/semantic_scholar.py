"""Reads Semantic Scholar's S2ORC and Academic Graph (S2AG) records, old and new, and its API's answers."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping

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
    object_of,
    objects_of,
    plain,
    pmid_of,
    texts_of,
    unique,
    url_of,
    year_of,
)
from index_build.sources.references import kind_of_words, make_reference
from index_build.sources.rejects import Reject
from index_build.sources.sections import find_sections
from search.types import Paper, Reference


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    return read_json(stream, name, to_paper)


def to_paper(record: Record) -> Paper:
    """A paper under its corpus id; S2ORC's full text gives title and abstract where they are marked in it.

    The graph keeps abstracts in files of their own: such a record has no title and is named apart, so that it
    joins the paper with the same DOI, arXiv id or PMID and does not replace it.
    """
    record = record.get("citingPaper") or record.get("citedPaper") or record
    get = record.get
    title = to_text(plain(get("title")) or _annotated(record, "title"))
    abstract = to_text(_abstract(record))
    outside = _outside_ids(record)
    doi = doi_of(get("doi") or outside.get("doi"))
    arxiv_id = arxiv_of(get("arxiv_id") or outside.get("arxiv"))
    pmid = pmid_of(get("pubmed_id") or get("pmid") or outside.get("pubmed"))
    own_id = id_of(get("corpusid"), get("corpusId"), get("paper_id"), get("paperId"))
    part = "" if title else "/abstract"
    return complete(
        Paper(
            id=f"s2:{own_id}{part}"
            if own_id
            else name_paper("s2:", title, abstract, doi=doi, arxiv=arxiv_id),
            title=title,
            abstract=abstract,
            authors=authors_of(get("authors")),
            year=year_of(get("year") or get("publicationdate") or get("publicationDate")),
            venue=to_text(_venue(record)),
            fields=_fields(record),
            doi=doi,
            arxiv_id=arxiv_id,
            pmid=pmid,
            url=url_of(get("url")) or url_of(get("s2Url")),
            source="s2",
            reference=_reference(record, outside),
            sections=find_sections(abstract),
        )
    )


def _reference(record: Record, outside: Mapping[str, str]) -> Reference:
    get = record.get
    journal, place = object_of(get("journal")), object_of(get("publicationVenue"))
    types = texts_of(get("publicationTypes") or get("publicationtypes"))
    return make_reference(
        kind=kind_of_words(*map(_apart, types)),
        date=first_text(record, "publicationDate", "publicationdate"),
        volume=journal.get("volume"),
        pages=journal.get("pages"),
        issn=plain(place.get("issn")),
        pmcid=outside.get("pubmedcentral"),
        licence=plain(object_of(get("openAccessPdf") or get("openaccessinfo")).get("license")),
    )


def _apart(name: str) -> str:
    """ "JournalArticle" as two words."""
    return _CAPITAL.sub(" ", name)


_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def _abstract(record: Record) -> str:
    """The abstract as text or as paragraphs, from the record or from its parsed PDF."""
    for value in (record.get("abstract"), object_of(record.get("pdf_parse")).get("abstract")):
        if isinstance(value, list):
            value = " ".join(plain(part.get("text")) for part in objects_of(value))
        if text := plain(value):
            return text
    return _annotated(record, "abstract")


def _annotated(record: Record, kind: str) -> str:
    """The stretch of the full text that is marked as title or abstract; the marks are JSON in JSON."""
    content = object_of(record.get("content") or record.get("body"))
    text, marks = content.get("text"), object_of(content.get("annotations")).get(kind)
    if not isinstance(text, str) or not isinstance(marks, str):
        return ""
    spans = objects_of(json.loads(marks))
    return " ".join(text[int(plain(span.get("start"))) : int(plain(span.get("end")))] for span in spans)


def _outside_ids(record: Record) -> Mapping[str, str]:
    ids = object_of(record.get("externalids") or record.get("externalIds"))
    ids = ids or object_of(object_of(record.get("openaccessinfo")).get("externalids"))
    return {key.lower(): plain(value) for key, value in ids.items()}


def _venue(record: Record) -> str:
    journal = record.get("journal")
    return plain(record.get("venue")) or plain(journal) or plain(object_of(journal).get("name"))


def _fields(record: Record) -> tuple[str, ...]:
    """Fields of study in whichever of the names the release has them."""
    graded = objects_of(record.get("s2fieldsofstudy") or record.get("s2FieldsOfStudy"))
    plainly = record.get("fieldsOfStudy") or record.get("mag_field_of_study") or record.get("fieldsofstudy")
    return unique([*(plain(item.get("category")) for item in graded), *texts_of(plainly)])
