"""Reads the JSON of Zotero's API, and of Better BibTeX, whose items are the same without their wrapping."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping

from index_build.markup import to_text
from index_build.sources.json_answers import Record
from index_build.sources.json_records import read_json
from index_build.sources.papers import kind_of, paper_of
from index_build.sources.records import (
    arxiv_of,
    doi_of,
    first_text,
    full_name,
    object_of,
    objects_of,
    plain,
    pmid_of,
    url_of,
    year_of,
)
from index_build.sources.references import date_of
from index_build.sources.rejects import BadRecord, Reason, Reject
from search.types import Paper, Reference

_NOT_PAPERS = frozenset({"attachment", "note", "annotation"})
_VENUES = (
    "publicationTitle", "proceedingsTitle", "bookTitle", "conferenceName", "encyclopediaTitle",
    "dictionaryTitle", "websiteTitle", "blogTitle", "forumTitle", "repository", "meetingName",
    "university", "institution",
)  # fmt: skip
_AUTHORS = frozenset("author inventor programmer presenter artist contributor podcaster".split())
_EXTRA = re.compile(r"^\s{0,5}(DOI|PMID|PMCID|arXiv)\s{0,5}:\s{0,5}(\S+)", re.MULTILINE | re.IGNORECASE)


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    """Papers; the attachments and notes among them are none."""
    for item in read_json(stream, name, to_paper):
        if not (isinstance(item, Reject) and item.reason == Reason.ATTACHMENT):
            yield item


def to_paper(record: Record) -> Paper:
    item = object_of(record.get("data")) or record
    get = item.get
    kind = plain(get("itemType"))
    if kind in _NOT_PAPERS:
        raise BadRecord(Reason.ATTACHMENT)
    extra = {key.lower(): value for key, value in _EXTRA.findall(plain(get("extra")))}
    url = url_of(get("url"))
    archive = f"{plain(get('archiveID'))} {plain(get('reportNumber'))}"
    people = [(plain(person.get("creatorType")), _name(person)) for person in objects_of(get("creators"))]
    editors = tuple(name for role, name in people if role in ("editor", "bookAuthor", "seriesEditor"))
    return paper_of(
        "zotero",
        to_text(plain(get("title"))) or to_text(first_text(item, "caseName", "nameOfAct", "subject")),
        to_text(plain(get("abstractNote"))),
        authors=[name for role, name in people if role in _AUTHORS] or editors,
        year=year_of(get("date")),
        venue=to_text(first_text(item, *_VENUES)),
        fields=[to_text(plain(tag.get("tag"))) for tag in objects_of(get("tags"))],
        doi=doi_of(get("DOI")) or doi_of(extra.get("doi")),
        arxiv_id=arxiv_of(extra.get("arxiv") or (archive if "arxiv" in archive.lower() else "")),
        pmid=pmid_of(get("PMID") or extra.get("pmid")),
        url=url,
        reference=Reference(
            kind=kind_of(kind),
            genre=first_text(item, "thesisType", "reportType", "genre", "presentationType"),
            date=date_of(plain(get("date"))),
            volume=plain(get("volume")),
            issue=plain(get("issue")),
            pages=plain(get("pages")),
            number=first_text(item, "reportNumber", "patentNumber", "number"),
            series=to_text(first_text(item, "series", "seriesTitle")),
            edition=first_text(item, "edition", "versionNumber"),
            publisher=to_text(first_text(item, "publisher", "university", "institution", "assignee")),
            place=plain(get("place")),
            event=to_text(first_text(item, "conferenceName", "meetingName")),
            editors=editors,
            short_venue=to_text(plain(get("journalAbbreviation"))),
            issn=(plain(get("ISSN")),),
            isbn=(plain(get("ISBN")),),
            pmcid=plain(get("PMCID")) or extra.get("pmcid", ""),
            language=plain(get("language")),
            licence=plain(get("rights")),
            accessed=date_of(plain(get("accessDate"))),
            key=first_text(item, "citationKey", "citekey", "key") or plain(record.get("key")),
        ),
    )


def _name(person: Mapping[str, object]) -> str:
    family = plain(person.get("lastName"))
    return full_name(family, plain(person.get("firstName"))) if family else plain(person.get("name"))
