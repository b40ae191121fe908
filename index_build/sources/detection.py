"""Finds the format of a file from its first bytes."""

from __future__ import annotations

import re

from index_build.sources.streams import decode

_KEY = re.compile(r'"([\w-]+)"\s*:')
_SENTENCES = re.compile(r'"abstract"\s*:\s*\[\s*"')
_OPENALEX = re.compile(r'"abstract_inverted_index"|openalex\.org/W\d')


def detect(head: bytes, name: str) -> str:
    """The name of the format as in FORMATS, or "unknown"; the start of the unpacked file decides."""
    text = decode(head).lstrip("\ufeff \t\r\n")
    if text[:1] in ("{", "["):
        return _detect_json(text)
    return "unknown"


def _detect_json(text: str) -> str:
    """The format by its telling keys; any record with a plain title or text will do for the last."""
    keys = set(_KEY.findall(text))
    if "authors_parsed" in keys or {"submitter", "categories"} <= keys:
        return "arxiv"
    if "paper_id" in keys and _SENTENCES.search(text):
        return "csfcube"
    if {"_id", "text"} <= keys:
        return "beir"
    return "jsonl" if keys else "unknown"
