"""Records of one paper that the import could not join, such as a preprint and its article."""

from __future__ import annotations

from collections.abc import Sequence

from search.corpus.store.identity import (
    SHORTEST_TITLE,
    Apart,
    contradict,
    differ,
    identifiers,
    normalise_title,
)
from search.types import Paper

YEARS_APART = 2
"""Years there may be between a preprint and its article; chosen by hand."""


def group(papers: Sequence[Paper], own: Sequence[Paper] = (), apart: Apart = frozenset()) -> list[list[int]]:
    """Positions of the papers, those of one paper together, in order; without the records of `own`."""
    left_out = [(paper, keys(paper)) for paper in own]
    homes: dict[str, list[int]] = {}
    groups: list[list[int]] = []
    for position, paper in enumerate(papers):
        mine = keys(paper)
        if any(mine & theirs and is_near(paper, other) for other, theirs in left_out):
            continue
        near = (
            homes[key]
            for key in mine
            if key in homes
            and is_one(paper, papers[homes[key][0]])
            and not any(tuple(sorted((paper.id, papers[each].id))) in apart for each in homes[key])
        )
        home = next(near, None)
        if home is None:
            home = []
            groups.append(home)
        home.append(position)
        for key in mine:
            homes.setdefault(key, home)
    return groups


def keys(paper: Paper) -> set[str]:
    """What two records of one paper can share: an identifier, or a title long enough to identify it."""
    found = {f"{kind}:{value}" for kind, value in identifiers(paper).items()}
    title = normalise_title(paper.title)
    if len(title) >= SHORTEST_TITLE:
        found.add(f"title:{title}")
    return found | {f"id:{paper.id}"} if paper.id else found


def is_one(one: Paper, other: Paper) -> bool:
    """Whether two records that share a key are of one paper: series repeat titles, volumes repeat ids."""
    same_title = normalise_title(one.title) == normalise_title(other.title)
    return is_near(one, other) and not (differ if same_title else contradict)(one, other)


def is_near(one: Paper, other: Paper) -> bool:
    """Whether two records are of about the same time, as far as is known."""
    return one.year is None or other.year is None or abs(one.year - other.year) <= YEARS_APART
