"""Reads CSFCube's abstracts-*.jsonl, which hold sentences with labels such as "background_label"."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace

from index_build.sources import generic
from index_build.sources.json_answers import Record
from index_build.sources.json_records import read_json
from index_build.sources.records import object_of, year_of
from index_build.sources.rejects import Reject
from search.types import Paper


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    return read_json(stream, name, to_paper)


def to_paper(record: Record) -> Paper:
    """The paper with its own sentences; their labels, being part of the collection, count as given."""
    year = year_of(object_of(record.get("metadata")).get("year"))
    paper = generic.to_paper(record)
    return replace(paper, year=paper.year or year, source="csfcube")
