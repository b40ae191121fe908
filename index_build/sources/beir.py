"""Reads a BEIR corpus.jsonl: `_id`, `title`, `text`."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import replace

from index_build.sources import generic
from index_build.sources.json_answers import Record
from index_build.sources.json_records import read_json
from index_build.sources.records import object_of
from index_build.sources.rejects import Reject
from search.types import Paper


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    return read_json(stream, name, to_paper)


def to_paper(record: Record) -> Paper:
    """The paper under its own id, which the relevance judgements use; metadata where a set has it."""
    metadata = object_of(record.get("metadata"))
    return replace(generic.to_paper({**metadata, **record, "abstract": record.get("text")}), source="beir")
