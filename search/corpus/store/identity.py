"""Which records are the same paper: by DOI, arXiv id or PMID, else by title and year, or by the abstract.

Identifiers and titles are both wrong at times: a whole volume exported with one DOI, a column of "News"
in every issue. So a shared key is only a first sign, and the other fields of the records can overrule it.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from search.types import Paper

SHORTEST_TITLE = 16
"""Normalised characters a title needs to identify a paper; many papers are called "Introduction" or "Book
review". Chosen by hand."""
SHORTEST_ABSTRACT = 300
"""Normalised characters an abstract needs to identify a paper; many papers may share a shorter one. Chosen by
hand."""
LONGEST_ABSTRACT = 1000
"""Characters of it that count: some databases cut the end off, and some add a line there. Chosen by hand."""
YEARS_APART = 2
"""Years that may lie between a preprint and the paper with the same abstract. Chosen by hand."""
MOST_NAMESAKES = 20
"""Records with the same key that a new record is compared with. A key that more records share, such as the
DOI of a whole volume, identifies no paper. Chosen by hand."""
SAME_TITLE = 0.2
"""Words two titles must share, as a fraction of the words of both, when an identifier is the same. In the
demo corpus 0.1 % of random pairs of papers reach it. Chosen by hand."""
SURE_TITLE = 0.5
"""The same where no abstracts can be compared. Of pairs of papers with one first author in the ACL
Anthology, 1.0 % reach it, and 12 % reach SAME_TITLE. Chosen by hand."""
SAME_ABSTRACT = 0.3
"""The same for the abstracts of two records. In the demo corpus 1 of 50,000 random pairs of papers reaches
it; of pairs with one first author in the ACL Anthology, 1.7 %. Chosen by hand."""
PART_OF_ABSTRACT = 0.6
"""Words of the shorter of two abstracts that the longer must have: one may be cut off. Of pairs with one
first author in the ACL Anthology, 1.0 % reach it. Chosen by hand."""
SAME_AUTHORS = 0.1
"""The same for the names of the authors. In the demo corpus 0.7 % of random pairs of papers reach it. Chosen
by hand."""
_NOT_WORD = re.compile(r"[\W_]+")
_SPACES = {code: " " for code in range(128) if not chr(code).isalnum()}
_ARXIV_DOI = re.compile(r"10\.48550/arxiv\.(.+)")


def normalise_title(title: str) -> str:
    """Words in lower case with single spaces, without accents and punctuation."""
    plain = title.lower() if title.isascii() else unicodedata.normalize("NFKD", title).casefold()
    if plain.isascii():
        return " ".join(plain.translate(_SPACES).split())  # several times as fast
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


@lru_cache(maxsize=4096)
def abstract_key(abstract: str) -> int:
    """One number for the beginning of an abstract; 0 where it is too short to tell papers apart."""
    plain = normalise_title(abstract[: 2 * LONGEST_ABSTRACT])[:LONGEST_ABSTRACT]
    return digest(f"abstract:{plain}") if len(plain) >= SHORTEST_ABSTRACT else 0


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a source, as far as it tells which paper it is."""

    order: int
    """Number in order of arrival: the first record of a paper gives the paper its id."""
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
    """Its identifiers, its title with year and its abstract, as numbers; one that shares none is alone."""
    found = [digest(f"{kind}:{value}") for kind, value in identifiers(paper).items()]
    by_words = (title_key(paper.title, paper.year), abstract_key(paper.abstract))
    return [*found, *filter(None, by_words)]


def is_same(one: Paper, other: Paper) -> bool:
    """Whether two records that share a key are the same paper."""
    ids, others = identifiers(one), identifiers(other)
    if any(others.get(kind) == value for kind, value in ids.items()):
        return not contradict(one, other)
    if any(others.get(kind, value) != value for kind, value in ids.items()):
        return False
    if _has_same_abstract(one, other):
        return True
    same_title = title_key(one.title, one.year) == title_key(other.title, other.year) != 0
    return (
        same_title
        and _alike(normalise_title(one.abstract), normalise_title(other.abstract), SAME_ABSTRACT)
        and _alike(_names(one), _names(other), SAME_AUTHORS)
    )


def _has_same_abstract(one: Paper, other: Paper) -> bool:
    """Whether two records with one abstract are of one paper: a preprint, or a title with a slip."""
    return (
        abstract_key(one.abstract) == abstract_key(other.abstract) != 0
        and (one.year is None or other.year is None or abs(one.year - other.year) <= YEARS_APART)
        and _alike(normalise_title(one.title), normalise_title(other.title), SAME_TITLE)
        and _alike(_names(one), _names(other), SAME_AUTHORS)
    )


def contradict(one: Paper, other: Paper) -> bool:
    """Whether two records cannot be the same paper although they share an id.

    The abstracts of a conference share the DOI of their volume. They differ in their titles, and in their
    texts or authors; a title that only lacks its subtitle does not differ.
    """
    title, other_title = normalise_title(one.title), normalise_title(other.title)
    if not _alike(title, other_title, SAME_TITLE):
        return True
    words, others = set(title.split()), set(other_title.split())
    if min(len(title), len(other_title)) >= SHORTEST_TITLE and (words <= others or others <= words):
        return False
    if one.abstract and other.abstract:
        return not _same_text(normalise_title(one.abstract), normalise_title(other.abstract))
    if not _alike(_names(one), _names(other), SAME_AUTHORS):
        return True
    return not _alike(title, other_title, SURE_TITLE)


def differ(one: Paper, other: Paper) -> bool:
    """Whether authors or abstracts, where both are known, tell two papers of one title apart."""
    return not _alike(_names(one), _names(other), SAME_AUTHORS) or not _same_text(
        normalise_title(one.abstract), normalise_title(other.abstract)
    )


def _names(paper: Paper) -> str:
    """The names of the authors without their initials, which many people share."""
    return " ".join(word for word in normalise_title(" ".join(paper.authors)).split() if len(word) > 1)


def _same_text(one: str, other: str) -> bool:
    words, others = set(one.split()), set(other.split())
    part = PART_OF_ABSTRACT * min(len(words), len(others))
    return _alike(one, other, SAME_ABSTRACT) or len(words & others) >= part


def other_id(paper: Paper) -> str:
    """The id of a record whose own id another paper has; it stays the same as long as the title does."""
    title = normalise_title(paper.title)
    if len(title) < SHORTEST_TITLE:
        title = f"{title} {_names(paper)} {normalise_title(paper.abstract)}"
    return f"{paper.id}#{digest(title):016x}"


def completes(one: Paper, other: Paper) -> bool:
    """Whether each of two records of a paper is worth keeping: only one has the title, or the abstract."""
    return bool(one.title) != bool(other.title) or bool(one.abstract) != bool(other.abstract)


def _alike(one: str, other: str, least: float) -> bool:
    """Whether two texts share at least this fraction of their words; an empty text contradicts nothing."""
    words, others = set(one.split()), set(other.split())
    return not words or not others or len(words & others) >= least * len(words | others)


Apart: TypeAlias = frozenset[tuple[str, str]]
"""Pairs of ids, the smaller first, of records that somebody said are not the same paper."""


def why_same(one: Paper, other: Paper) -> str:
    """In words, why two records are one paper; empty where they are so only through a third."""
    ids, others = identifiers(one), identifiers(other)
    shared = [_SCHEMES[kind] for kind, value in ids.items() if others.get(kind) == value]
    if shared and not contradict(one, other):
        return f"same {' and '.join(shared)}"
    if not is_same(one, other):
        return ""
    if title_key(one.title, one.year) != title_key(other.title, other.year):
        return "same abstract, title" + (" and authors" if one.authors and other.authors else "") + " alike"
    parts = [("authors", one.authors and other.authors), ("abstract", one.abstract and other.abstract)]
    alike = " and ".join(name for name, both in parts if both)
    return "same title and year" + (f", {alike} alike" if alike else "")


_SCHEMES = {"doi": "DOI", "arxiv": "arXiv id", "pmid": "PMID"}


def group(records: Iterable[Record], apart: Apart = frozenset()) -> Iterator[list[Record]]:
    """Records gathered into papers, in order of arrival; no paper has two records that are to stay apart.

    Records with identifiers are joined first, so that no title can separate what an identifier joins.
    """
    groups: dict[int, list[Record]] = {}
    group_of: dict[int, int] = {}
    """The number of the group of each record, by the record's order."""
    by_key: dict[int, list[Record]] = defaultdict(list)
    for record in sorted(records, key=lambda record: (not record.identifiers, record.order)):
        mine = [record]
        shared = {other.order: other for key in keys(record.paper) for other in by_key[key][:MOST_NAMESAKES]}
        for number in sorted(
            {group_of[order] for order in shared if is_same(record.paper, shared[order].paper)}
        ):
            if _fits(groups[number], mine) and not (apart and _parted(groups[number], mine, apart)):
                mine = groups.pop(number) + mine
        number = min(member.order for member in mine)
        groups[number] = mine
        group_of |= {member.order: number for member in mine}
        for key in keys(record.paper):
            by_key[key].append(record)
    for number in sorted(groups):
        yield sorted(groups[number], key=lambda record: record.order)


def _parted(one: list[Record], other: list[Record], apart: Apart) -> bool:
    pairs = ((a.paper.id, b.paper.id) for a in one for b in other)
    return any((min(pair), max(pair)) in apart for pair in pairs)


def _fits(one: list[Record], other: list[Record]) -> bool:
    """Whether two groups may be one paper: an identifier links them, or none contradicts another."""
    pairs = [(a.identifiers, b.identifiers) for a in one for b in other]
    linked = any(b.get(kind) == value for a, b in pairs for kind, value in a.items())
    contradict = any(b.get(kind, value) != value for a, b in pairs for kind, value in a.items())
    return linked or not contradict
