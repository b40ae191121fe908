"""Which records are the same paper: by DOI, arXiv id or PMID, else by title and year.

Identifiers and titles are both wrong at times: a whole volume exported with one DOI, a column of "News"
in every issue. So a shared key only proposes, and the records' other fields may refuse.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from search.types import Paper

SHORTEST_TITLE = 16
"""In normalised characters: "Introduction" and "Book review" say nothing about who wrote them."""
MOST_NAMESAKES = 20
"""Records of one key that a new one is compared with: what so many share is no name."""
_NOT_WORD = re.compile(r"[\W_]+")
_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(.+)")


def normalise_title(title: str) -> str:
    """Words in lower case with single spaces, without accents and punctuation."""
    plain = title.lower() if title.isascii() else unicodedata.normalize("NFKD", title).casefold()
    if not plain.isascii():
        plain = "".join(character for character in plain if not unicodedata.combining(character))
    return _NOT_WORD.sub(" ", plain).strip()


def digest(text: str) -> int:
    """64 bits of BLAKE2b, the same on every machine."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest())


@lru_cache(maxsize=4096)  # asked several times for each record of a batch
def title_key(title: str, year: int | None) -> int:
    """One number for title and year; 0 where the title is too short to tell papers apart."""
    plain = normalise_title(title)
    if len(plain) < SHORTEST_TITLE and plain.isascii():
        return 0
    return digest(f"title:{plain}|{year or ''}")


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a source, as far as it tells which paper it is."""

    order: int
    """When it came: the first record of a paper gives the paper its id."""
    paper: Paper

    @property
    def identifiers(self) -> dict[str, str]:
        return identifiers(self.paper)


def identifiers(paper: Paper) -> dict[str, str]:
    """The identifiers a paper has, by kind; arXiv's own DOIs count as arXiv ids."""
    on_arxiv = _ARXIV_DOI.fullmatch(paper.doi)
    found = {
        "doi": "" if on_arxiv else paper.doi,
        "arxiv": paper.arxiv_id or (on_arxiv.group(1) if on_arxiv else ""),
        "pmid": paper.pmid,
    }
    return {kind: value for kind, value in found.items() if value}


def keys(paper: Paper) -> list[int]:
    """What the paper may be found by, as numbers: a record with none in common is another paper."""
    found = [digest(f"{kind}:{value}") for kind, value in identifiers(paper).items()]
    by_title = title_key(paper.title, paper.year)
    return [*found, by_title] if by_title else found


def is_same(one: Paper, other: Paper) -> bool:
    """Whether two records that share a key are the same paper."""
    ids, others = identifiers(one), identifiers(other)
    if any(others.get(kind) == value for kind, value in ids.items()):
        return _alike(normalise_title(one.title), normalise_title(other.title), 0.2)
    if any(others.get(kind, value) != value for kind, value in ids.items()):
        return False
    same_title = title_key(one.title, one.year) == title_key(other.title, other.year) != 0
    authors = " ".join(one.authors), " ".join(other.authors)
    return (
        same_title
        and _alike(normalise_title(one.abstract), normalise_title(other.abstract), 0.3)
        and _alike(normalise_title(authors[0]), normalise_title(authors[1]), 0.1)
    )


def _alike(one: str, other: str, least: float) -> bool:
    """Whether two texts share at least this part of their words; a missing one contradicts nothing."""
    words, others = set(one.split()), set(other.split())
    return not words or not others or len(words & others) >= least * len(words | others)


def group(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Records gathered into papers, in order of arrival; identifiers first, so titles cannot part them."""
    groups: dict[int, list[Record]] = {}
    at: dict[int, int] = {}
    by_key: dict[int, list[Record]] = defaultdict(list)
    for record in sorted(records, key=lambda record: (not record.identifiers, record.order)):
        mine = [record]
        shared = {other.order: other for key in keys(record.paper) for other in by_key[key][:MOST_NAMESAKES]}
        for number in sorted({at[order] for order in shared if is_same(record.paper, shared[order].paper)}):
            if _fits(groups[number], mine):
                mine = groups.pop(number) + mine
        number = min(member.order for member in mine)
        groups[number] = mine
        at |= {member.order: number for member in mine}
        for key in keys(record.paper):
            by_key[key].append(record)
    for number in sorted(groups):
        yield sorted(groups[number], key=lambda record: record.order)


def _fits(one: list[Record], other: list[Record]) -> bool:
    """Whether two groups may be one: linked by an identifier, or with none that contradict."""
    pairs = [(a.identifiers, b.identifiers) for a in one for b in other]
    linked = any(b.get(kind) == value for a, b in pairs for kind, value in a.items())
    at_odds = any(b.get(kind, value) != value for a, b in pairs for kind, value in a.items())
    return linked or not at_odds
