"""Reading lists as a file that moves between machines: JSON, checked field by field when it comes in."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from typing import Any

from search.errors import InputError
from search.types import Paper

FORMAT = "triptych-lists"
VERSION = 1
FIRST_LIST = "Reading list"
DAMAGED = "it was cut short or changed; save it again."


@dataclass(frozen=True, slots=True)
class Kept:
    """One paper of a list with what its reader wrote about it."""

    paper: Paper
    note: str = ""
    tags: tuple[str, ...] = ()
    read: bool = False
    added: str = ""
    """When it was kept, ISO 8601 in UTC."""


@dataclass(frozen=True, slots=True)
class ReadingList:
    name: str
    kept: tuple[Kept, ...] = ()


def dump_lists(lists: Iterable[ReadingList]) -> str:
    content = {
        "format": FORMAT,
        "version": VERSION,
        "lists": [{"name": each.name, "papers": [_kept_out(kept) for kept in each.kept]} for each in lists],
    }
    return json.dumps(content, ensure_ascii=False, indent=1)


def load_lists(data: bytes) -> tuple[ReadingList, ...]:
    """The lists of a file made by `dump_lists`; InputError in one sentence for anything else."""
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        content = None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError("This file is not a list saved by Triptych: choose a file made with “Save lists”.")
    if content.get("version") != VERSION:
        raise InputError(
            f"This list file has version {content.get('version')!r} "
            f"but this app reads {VERSION}: update the app."
        )
    lists = content.get("lists")
    if not isinstance(lists, list) or not all(isinstance(each, dict) for each in lists):
        raise InputError(f"This list file holds no lists: {DAMAGED}")
    return tuple(_list_in(each) for each in lists)


def _kept_out(kept: Kept) -> dict[str, Any]:
    return {
        "paper": json.loads(paper_to_json(kept.paper)),
        "note": kept.note,
        "tags": list(kept.tags),
        "read": kept.read,
        "added": kept.added,
    }


def _list_in(values: dict[str, Any]) -> ReadingList:
    papers = values.get("papers")
    if not isinstance(papers, list):
        raise InputError(
            "A list of this file has no papers field: it was cut short or changed; save it again."
        )
    return ReadingList(str(values.get("name") or FIRST_LIST), tuple(_kept_in(each) for each in papers))


def _kept_in(values: Any) -> Kept:
    if not isinstance(values, dict) or not isinstance(values.get("paper"), dict):
        raise InputError(
            "An entry of this list file is not a paper: it was cut short or changed; save it again."
        )
    tags = values.get("tags")
    return Kept(
        paper=paper_from_json(values["paper"]),
        note=str(values.get("note") or ""),
        tags=tuple(str(tag) for tag in tags) if isinstance(tags, list) else (),
        read=values.get("read") is True,
        added=str(values.get("added") or ""),
    )


def paper_to_json(paper: Paper) -> str:
    """The paper without its sentences: they are split and labelled anew wherever it is used."""
    values = {key: value for key, value in asdict(paper).items() if key not in ("sections", "sentences")}
    return json.dumps({key: value for key, value in values.items() if value}, ensure_ascii=False)


def paper_from_json(values: dict[str, Any]) -> Paper:
    """The reverse of `paper_to_json`; raises InputError for anything that is not such a paper."""
    kinds = {"authors": (list,), "fields": (list,), "year": (int, type(None))}
    known = {f.name for f in fields(Paper)} - {"sections", "sentences"}
    given = {key: value for key, value in values.items() if key in known}
    for key, value in given.items():
        if not isinstance(value, kinds.get(key, (str,))) or isinstance(value, bool):
            raise InputError(
                f'A paper of this file has {value!r} as its "{key}": repair the file or export it anew.'
            )
    if not given.get("id") or not (given.get("title") or given.get("abstract")):
        raise InputError(f"A paper of this file has no id or no title: {DAMAGED}")
    for key in ("authors", "fields"):
        given[key] = tuple(str(each) for each in given.get(key, ()))
    return Paper(**{"title": "", **given})
