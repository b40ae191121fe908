"""CSL-JSON, the exchange format of citation processors."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from search.exports.references import Reference, kind_of, make_keys


def write_csl_json(references: Sequence[Reference]) -> str:
    keys = make_keys([reference.paper for reference in references])
    items = [_item(key, reference) for key, reference in zip(keys, references, strict=True)]
    return json.dumps(items, ensure_ascii=False, indent=1) + "\n"


def _item(key: str, reference: Reference) -> dict[str, Any]:
    paper = reference.paper
    kind = {"conference": "paper-conference", "journal": "article-journal", "": "article"}[kind_of(paper)]
    item = {
        "id": key,
        "type": kind,
        "title": paper.title,
        "author": [_name(name) for name in paper.authors],
        "issued": {"date-parts": [[paper.year]]} if paper.year else None,
        "container-title": paper.venue,
        "DOI": paper.doi,
        "PMID": paper.pmid,
        "archive": "arXiv" if paper.arxiv_id else "",
        "archive_location": paper.arxiv_id,
        "URL": paper.url,
        "keyword": _keywords(paper.fields),
        "abstract": paper.abstract,
        "note": reference.note,
    }
    return {name: value for name, value in item.items() if value}


def _keywords(fields: Sequence[str]) -> str:
    """Keywords in one text; semicolons part them, since a keyword may hold commas."""
    return "; ".join(fields) + (";" if len(fields) == 1 and "," in fields[0] else "")


def _name(name: str) -> dict[str, str]:
    family, comma, given = name.partition(",")
    return {"family": family.strip(), "given": given.strip()} if comma else {"literal": name.strip()}
