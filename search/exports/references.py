"""What every format needs to know of a paper: its kind, a key to cite it by, its texts on one line."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from search.names import divide
from search.types import Kind, Likeness, Paper


@dataclass(frozen=True, slots=True)
class Citation:
    """One paper to be written out and what to note about it."""

    paper: Paper
    note: str = ""
    score: float | None = None
    likeness: Likeness | None = None
    tags: tuple[str, ...] = ()
    """What its reader filed it under."""

    @property
    def keywords(self) -> tuple[str, ...]:
        """Fields, keywords and tags, each once."""
        return tuple(dict.fromkeys((*self.paper.fields, *self.paper.reference.keywords, *self.tags)))


_SERVERS = tuple("arxiv|corr|biorxiv|medrxiv|chemrxiv|psyarxiv|ssrn|research square|preprints".split("|"))
_MEETING = re.compile(r"\b(?:conference|workshop|symposium|meeting|congress|colloquium)\b", re.I)
_PROCEEDINGS = re.compile(r"\b(?:proceedings|proc|advances in|findings of)\b", re.I)
_NUMBERED = re.compile(r"\b(?:\d{1,3}(?:st|nd|rd|th)|(?:19|20)\d\d)\b", re.I)
_MEETINGS = frozenset(
    "neurips nips icml iclr aistats uai colt acl emnlp naacl eacl aacl coling lrec conll semeval wmt cvpr "
    "iccv eccv wacv bmvc aaai ijcai ecai kdd icdm sdm wsdm cikm sigir ecir www icwsm recsys chi cscw uist "
    "sigmod icde edbt pods stoc focs soda icalp esa popl pldi oopsla icse fse ase osdi sosp nsdi sigcomm "
    "infocom usenix ccs crypto eurocrypt interspeech icassp icra iros rss corl miccai isbi hicss ws".split()
)
"""Meetings that are known by their letters; chosen by hand among those with the most papers."""
_MEETINGS_IN_FULL = ("neural information processing systems", "computational linguistics: ")
_JOURNALS = tuple(
    "national academy|natl acad|natl. acad|proceedings of the ieee|royal society|vldb endowment|acm on |"
    "mathematical society|institution of |combustion institute|nutrition society|edinburgh math|"
    "physical society|zoological society|biological sciences|mayo clinic|american thoracic society|"
    "privacy enhancing technologies|machine learning research|steklov institute".split("|")
)
"""Parts of the names of journals that are called proceedings, or mention a meeting; chosen by hand."""


def kind_of(paper: Paper) -> Kind:
    """What the source says it is; where it says nothing, what its venue is known to be."""
    kind = paper.reference.kind
    if kind is not None and kind is not Kind.OTHER:
        return kind
    venue = " ".join(paper.venue.lower().split())
    if not venue:
        return Kind.PREPRINT if paper.arxiv_id else Kind.OTHER
    if venue.startswith(_SERVERS):
        return Kind.PREPRINT
    if kind is Kind.OTHER:
        return kind
    return Kind.PROCEEDINGS_PAPER if _is_meeting(venue) else Kind.ARTICLE


def _is_meeting(venue: str) -> bool:
    if any(name in venue for name in _JOURNALS):
        return "international conference" in venue
    if any(name in venue for name in _MEETINGS_IN_FULL) or _MEETING.search(venue):
        return True
    words = re.findall(r"[a-z]+", venue)
    if _PROCEEDINGS.search(venue):
        return _NUMBERED.search(venue) is not None or not _MEETINGS.isdisjoint(words)
    return len(words) <= 4 and not _MEETINGS.isdisjoint(words)


def container_of(paper: Paper) -> str:
    """The title of what the paper stands in, in full."""
    return paper.reference.container or paper.venue


def place_in(paper: Paper) -> str:
    """The venue of a work that stands in nothing, unless its publisher or series has the same name."""
    reference = paper.reference
    return "" if paper.venue in (reference.publisher, reference.series) else paper.venue


def rights_of(paper: Paper) -> str:
    """Whether it was withdrawn, who gave its abstract and under what, in one line; nothing where unknown."""
    reference = paper.reference
    origin = f"Abstract from {reference.abstract_from}" if reference.abstract_from else ""
    licence = f"licence: {reference.abstract_licence}" if reference.abstract_licence else ""
    return ". ".join(
        filter(None, (reference.status.capitalize(), ", ".join(filter(None, (origin, licence)))))
    )


def editors_alone(paper: Paper) -> bool:
    """Whether those named as authors are the editors of a volume that has no authors."""
    return bool(paper.authors) and paper.reference.editors == paper.authors


def one_line(text: str) -> str:
    """The text on one line, without control characters."""
    shown = (" " if unicodedata.category(character) == "Cc" else character for character in text)
    return " ".join("".join(shown).split())


_USABLE_KEY = re.compile(r"[A-Za-z][A-Za-z0-9_:.+/-]{1,60}")


def make_keys(papers: Iterable[Paper]) -> list[str]:
    """Citation keys, each once: the record's own, else like `family2017word`."""
    seen: dict[str, int] = {}
    keys = []
    for paper in papers:
        own = paper.reference.key
        key = own if _USABLE_KEY.fullmatch(own) else _key(paper)
        seen[key.lower()] = seen.get(key.lower(), 0) + 1
        keys.append(key if seen[key.lower()] == 1 else f"{key}-{seen[key.lower()]}")
    return keys


def _key(paper: Paper) -> str:
    names = divide(paper.authors[0]).family.split() if paper.authors else []
    words = [word for word in map(_plain, paper.title.split()) if len(word) > 3]
    family, word = _plain("".join(names[-1:])), "".join(words[:1])
    return f"{family}{paper.year or ''}{word}" or _plain(paper.id) or "paper"


def _plain(text: str) -> str:
    """Lower-case ASCII letters and digits of a text; a letter with a stroke is the letter without it."""
    decomposed = unicodedata.normalize("NFKD", text.casefold().translate(_STROKES))
    return re.sub(r"[^a-z0-9]", "", decomposed.encode("ascii", "ignore").decode())


_STROKES = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h"}
)
