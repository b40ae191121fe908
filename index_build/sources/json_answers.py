"""Which JSON objects are records, and which are answers of web services that hold them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

Record = dict[str, Any]

LISTS = frozenset(
    "results data items papers records entry entries docs documents works articles publications hits result "
    "collection recommendedPapers".split()
)
"""Under which names web services give the list of records."""
WRAPPERS = LISTS | {"message", "response", "resultList", "search-results", "feed"}
"""And in which objects they put that list."""
OF_PAPERS = frozenset(
    {"title", "abstract", "display_name", "text", "sentences", "titles", "attributes", "itemType", "library"}
)
"""An object with one of these is a record, whatever lists it holds."""
_OWN_IDS = frozenset({"id", "_id", "paperId", "paper_id", "corpusid", "doi", "DOI", "key", "name"})
"""An object with one of these is a record or something of its own, and its lists are not looked through."""
DEEPEST = 4
"""Arrays and answers within one another that are opened; a record's own lists lie deeper."""
ANSWER = re.compile(rf'"(?:{"|".join(sorted(LISTS))})"\s{{0,20}}:\s{{0,20}}\[\s{{0,20}}\{{')


def is_answer(value: object) -> bool:
    return isinstance(value, dict) and is_wrapper(value)


def is_wrapper(value: Record) -> bool:
    """Whether an object is an answer that holds records, not a record."""
    if OF_PAPERS & value.keys():
        return _is_by_column(value)
    return any(isinstance(value[key], list | dict) for key in WRAPPERS & value.keys()) or bool(_nested(value))


def _nested(value: Record) -> list[object]:
    """The records of an object that has them under names of its own: in one list, or each under its id."""
    if not _OWN_IDS.isdisjoint(value):
        return []
    lists = [each for each in value.values() if isinstance(each, list) and any(map(_is_record, each))]
    return lists[0] if len(lists) == 1 else [each for each in value.values() if _is_record(each)]


def _is_by_column(value: Record) -> bool:
    """Whether each field holds the values of all records by their number, as pandas writes tables."""
    return isinstance(value.get("title"), dict) and all(isinstance(each, dict) for each in value.values())


def _rows(columns: Record) -> list[object]:
    return [
        {name: column[number] for name, column in columns.items() if number in column}
        for number in columns["title"]
    ]


def _is_record(value: object) -> bool:
    return isinstance(value, dict) and not OF_PAPERS.isdisjoint(value)


def unwrap(value: object, depth: int = 0) -> Iterator[object]:
    """The records in a value: itself, or the elements of its lists."""
    if isinstance(value, list) and any(isinstance(item, list | dict) for item in value) and depth < DEEPEST:
        for item in value:
            yield from unwrap(item, depth + 1)
    elif isinstance(value, dict) and is_wrapper(value) and depth < DEEPEST:
        known = [value[key] for key in sorted(WRAPPERS & value.keys()) if isinstance(value[key], list | dict)]
        found = _rows(value) if _is_by_column(value) else list(filter(None, known)) or _nested(value)
        for part in found:
            yield from unwrap(part, depth + 1)
    else:
        yield value
