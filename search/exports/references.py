"""What every format needs to know of a paper: its kind, a key to cite it by, its texts on one line."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from search.types import Likeness, Paper


@dataclass(frozen=True, slots=True)
class Reference:
    """One paper to be written out and what to note about it."""

    paper: Paper
    note: str = ""
    score: float | None = None
    likeness: Likeness | None = None


_MEETING = re.compile(r"\b(?:proceedings|proc|conference|workshop|symposium|meeting|findings)\b", re.I)


def kind_of(paper: Paper) -> str:
    """Whether it appeared at a "conference", in a "journal", or in no known place."""
    if not paper.venue.strip():
        return ""
    return "conference" if _MEETING.search(paper.venue) else "journal"


def one_line(text: str) -> str:
    """The text on one line, without control characters."""
    shown = (" " if unicodedata.category(character) == "Cc" else character for character in text)
    return " ".join("".join(shown).split())


def make_keys(papers: Iterable[Paper]) -> list[str]:
    """Citation keys like `family2017word`, each once."""
    seen: dict[str, int] = {}
    keys = []
    for paper in papers:
        key = _key(paper)
        seen[key] = seen.get(key, 0) + 1
        keys.append(key if seen[key] == 1 else f"{key}-{seen[key]}")
    return keys


def _key(paper: Paper) -> str:
    names = paper.authors[0].split(",")[0].split() if paper.authors else []
    words = [word for word in map(_plain, paper.title.split()) if len(word) > 3]
    family, word = _plain("".join(names[-1:])), "".join(words[:1])
    return f"{family}{paper.year or ''}{word}" or _plain(paper.id) or "paper"


def _plain(text: str) -> str:
    """Lower-case ASCII letters and digits of a text."""
    decomposed = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]", "", decomposed.lower())
