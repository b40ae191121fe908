"""Records of one paper that the import could not join, such as a preprint and its article."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from search.store.identity import SHORTEST_TITLE, normalise_title
from search.types import Paper

YEARS_APART = 2
"""How long a preprint may wait for its article."""


_plain = lru_cache(maxsize=10_000)(normalise_title)


def group(papers: Sequence[Paper], own: Sequence[Paper] = ()) -> list[list[int]]:
    """Positions of the papers, those of one paper together, in order; without the records of `own`."""
    groups: list[list[int]] = []
    for position, paper in enumerate(papers):
        if any(is_same(paper, each) for each in own):
            continue
        home = next((group for group in groups if is_same(paper, papers[group[0]])), None)
        if home is None:
            groups.append([position])
        else:
            home.append(position)
    return groups


def is_same(one: Paper, other: Paper) -> bool:
    """Whether two records are one paper: by an identifier, or a telling title within a few years."""
    known = ((one.id, other.id), (one.doi, other.doi), (one.arxiv_id, other.arxiv_id), (one.pmid, other.pmid))
    if any(mine and mine == theirs for mine, theirs in known):
        return True
    title = _plain(one.title)
    if len(title) < SHORTEST_TITLE or title != _plain(other.title):
        return False
    return one.year is None or other.year is None or abs(one.year - other.year) <= YEARS_APART
