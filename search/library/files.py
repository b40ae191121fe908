"""Reading lists as a file that moves between machines: JSON, checked field by field when it comes in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from search.errors import InputError
from search.library.origins import NOWHERE, Origin, facet_in, origin_from_json, origin_to_json
from search.references import as_dict, from_dict
from search.types import Paper, Sentence

FORMAT = "triptych-lists"
VERSION = 1
"""Of the layout; raise it when older files can no longer be read."""
FIRST_LIST = "Reading list"
DAMAGED = "it was cut short or changed; save it again."
MOST_PARTS = 2_000_000
"""Commas and brackets of a file: some ten thousand papers. More of them would fill the memory when read."""
MOST_KEPT = 10_000
"""Papers of one file; chosen by hand."""
LONGEST_NOTE = 20_000
"""Characters; chosen by hand."""
MOST_TAGS, LONGEST_TAG = 50, 255
"""Tags of one paper, and the characters of each, as long as Zotero's: every tag of a list is drawn."""


@dataclass(frozen=True, slots=True)
class Kept:
    """One paper of a list with what its reader wrote about it."""

    paper: Paper
    note: str = ""
    tags: tuple[str, ...] = ()
    read: bool = False
    added: str = ""
    """When it was kept, ISO 8601 in UTC."""
    origin: Origin = NOWHERE


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
    if sum(data.count(mark) for mark in b",[{") > MOST_PARTS:
        raise InputError("This list file is too large to be read at once: save its lists one by one.")
    try:
        content = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):  # no JSON, not UTF-8, or a number too long to read
        content = None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InputError("This file is not a list saved by Triptych: choose a file made with “Save lists”.")
    if content.get("version") != VERSION:
        raise InputError(
            f"This list file has version {_short(content.get('version'))} "
            f"but this app reads {VERSION}: update the app."
        )
    lists = content.get("lists")
    if not isinstance(lists, list) or not all(isinstance(each, dict) for each in lists):
        raise InputError(f"This list file holds no lists: {DAMAGED}")
    papers = sum(len(found) for each in lists if isinstance(found := each.get("papers"), list))
    if papers > MOST_KEPT:
        raise InputError(f"This list file has {papers:,} papers but up to {MOST_KEPT:,} are read: split it.")
    return tuple(_list_in(each) for each in lists)


def _kept_out(kept: Kept) -> dict[str, Any]:
    return {
        "paper": json.loads(paper_to_json(kept.paper)),
        "note": kept.note,
        "tags": list(kept.tags),
        "read": kept.read,
        "added": kept.added,
        "origin": json.loads(origin_to_json(kept.origin) or "{}"),
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
    note, given = str(values.get("note") or ""), values.get("tags")
    tags = tuple(str(tag) for tag in given) if isinstance(given, list) else ()
    check_remarks(note, tags)
    return Kept(
        paper=paper_from_json(values["paper"]),
        note=note,
        tags=tags,
        read=values.get("read") is True,
        added=str(values.get("added") or ""),
        origin=origin_from_json(values.get("origin")),
    )


def check_remarks(note: str, tags: Sequence[str]) -> None:
    """Say in one sentence what of a reader's remarks is too long to be drawn."""
    if len(note) > LONGEST_NOTE:
        raise InputError(
            f"A note has {len(note):,} characters but up to {LONGEST_NOTE:,} are kept: shorten it."
        )
    if len(tags) > MOST_TAGS:
        raise InputError(f"A paper has {len(tags):,} tags but up to {MOST_TAGS} are kept: use fewer.")
    if long := next((tag for tag in tags if len(tag) > LONGEST_TAG), ""):
        raise InputError(
            f"The tag “{long[:40]}…” has {len(long):,} characters "
            f"but up to {LONGEST_TAG} are kept: shorten it."
        )


def _short(value: Any) -> str:
    """What a file holds, short enough for a sentence; of what may be deep only the kind."""
    return type(value).__name__ if isinstance(value, list | dict) else repr(value)[:40]


def paper_to_json(paper: Paper) -> str:
    """The paper with the places and labels of its sentences, so that it needs no corpus to be shown."""
    values = {key: value for key, value in asdict(paper).items() if key not in ("sections", "sentences")}
    values["sentences"] = [[each.start, each.end, each.facet] for each in paper.sentences]
    values["reference"] = as_dict(paper.reference)
    return json.dumps({key: value for key, value in values.items() if value}, ensure_ascii=False)


def paper_from_json(values: dict[str, Any]) -> Paper:
    """The reverse of `paper_to_json`; raises InputError for anything that is not such a paper."""
    kinds = {"authors": (list,), "fields": (list,), "year": (int, type(None))}
    known = {f.name for f in fields(Paper)} - {"sections", "sentences", "reference"}
    given = {key: value for key, value in values.items() if key in known}
    for key, value in given.items():
        if not isinstance(value, kinds.get(key, (str,))) or isinstance(value, bool):
            raise InputError(
                f'A paper of this file has {_short(value)} as its "{key}": repair the file or export it anew.'
            )
    if not given.get("id") or not (given.get("title") or given.get("abstract")):
        raise InputError(f"A paper of this file has no id or no title: {DAMAGED}")
    for key in ("authors", "fields"):
        given[key] = tuple(str(each) for each in given.get(key, ()))
    try:
        reference = from_dict(values.get("reference") or {})
    except (TypeError, ValueError) as error:
        raise InputError(f"A paper of this file has a reference that cannot be read ({error}).") from None
    text = given.get("abstract") or given.get("title") or ""
    sentences = _sentences_in(values.get("sentences") or [], text)
    return Paper(**{"title": "", "reference": reference, **given}, sentences=sentences)


def _sentences_in(values: Any, text: str) -> tuple[Sentence, ...]:
    """Sentences from their places in the text, one after another; InputError where they lie elsewhere."""
    found, end = [], 0
    for each in values if isinstance(values, list) else [None]:
        start, stop, facet = each if isinstance(each, list) and len(each) == 3 else (0, 0, None)
        if type(start) is not int or type(stop) is not int or not end <= start < stop <= len(text):
            raise InputError(f"The sentences of a paper of this file do not fit its abstract: {DAMAGED}")
        found.append(Sentence(text[start:stop], start, stop, facet_in(facet)))
        end = stop
    return tuple(found)
