"""Papers that their source has withdrawn or retracted are marked, not removed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import replace

from index_build.sources.rejects import Reject
from search.types import Paper

WITHDRAWN, RETRACTED = "withdrawn", "retracted"


def marked(items: Iterable[Paper | Reject], ids: Set[str], status: str) -> Iterator[Paper | Reject]:
    """The items, with this status on the papers that have one of the ids."""
    for item in items:
        if isinstance(item, Paper) and item.id in ids:
            item = replace(item, reference=replace(item.reference, status=status))
        yield item
