"""Reads the JSON of bioRxiv's and medRxiv's API."""

from __future__ import annotations

import io
from collections.abc import Iterator

from index_build.markup import to_text
from index_build.sources.json_answers import Record
from index_build.sources.json_records import read_json
from index_build.sources.names import split_names
from index_build.sources.papers import paper_of
from index_build.sources.records import doi_of, plain, year_of
from index_build.sources.references import date_of
from index_build.sources.rejects import Reject
from search.types import Kind, Paper, Reference

_SERVERS = {"biorxiv": "bioRxiv", "medrxiv": "medRxiv"}


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    return read_json(stream, name, to_paper)


def to_paper(record: Record) -> Paper:
    """A preprint; the names of fields differ between the API's two kinds of answers."""
    get = record.get
    doi = doi_of(get("doi") or get("preprint_doi") or get("biorxiv_doi"))
    server = plain(get("server")) or plain(get("preprint_platform"))
    date = plain(get("date")) or plain(get("preprint_date"))
    return paper_of(
        "biorxiv",
        to_text(plain(get("title") or get("preprint_title"))),
        to_text(plain(get("abstract") or get("preprint_abstract"))),
        authors=split_names(to_text(plain(get("authors") or get("preprint_authors")))),
        year=year_of(date),
        venue=_SERVERS.get(server.lower(), server or "bioRxiv"),
        fields=[to_text(plain(get("category") or get("preprint_category")))],
        doi=doi,
        url=f"https://doi.org/{doi}" if doi else "",
        reference=Reference(
            kind=Kind.PREPRINT,
            date=date_of(date),
            licence=plain(get("license")).replace("_", " ").upper(),
        ),
    )
