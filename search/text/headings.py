"""Structured abstracts: which facet a heading stands for, and the sections of a text that has headings.

A section begins with its heading and ends where the next begins. In a corpus headings stay in the text; in a
query they are hints and no text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from search.types import Facet, Section

_WORDS = {
    Facet.BACKGROUND: """
        background introduction context rationale motivation problem importance premise
    """,
    Facet.OBJECTIVE: """
        objective objectives aim aims purpose purposes goal goals hypothesis hypotheses question
        questions scope
    """,
    Facet.METHOD: """
        method methods methodology methodologies design designs setting settings participants
        participant patients subjects population sample samples materials material intervention
        interventions procedure procedures approach measures measurements measurement sources selection
        extraction analysis criteria strategy search experiment experiments technique techniques
        exposure exposures acquisition model models implementation eligibility review
    """,
    Facet.RESULT: """
        result results finding findings outcome outcomes conclusion conclusions interpretation
        discussion implication implications synthesis significance relevance contribution
        contributions
    """,
    Facet.OTHER: """
        registration funding keywords copyright availability contact disclosure disclosures
        supplementary ethics other
    """,
}
_FACETS = {word: facet for facet, words in _WORDS.items() for word in words.split()}
_FILLERS = frozenset(
    "and or of the for in to with main key study data clinical evidence principal primary research recent "
    "statistical trial level information".split()
)
_WHOLE = {
    "main outcome measures": Facet.METHOD, "main outcome measure": Facet.METHOD,
    "outcome measures": Facet.METHOD, "main outcomes and measures": Facet.METHOD,
    "primary outcome measures": Facet.METHOD,
    "purpose of review": Facet.OBJECTIVE, "conclusions and relevance": Facet.RESULT,
    "trial registration": Facet.OTHER, "availability and implementation": Facet.OTHER,
    "review methods": Facet.METHOD, "literature review": Facet.BACKGROUND,
}  # fmt: skip
_BEFORE_COLON = re.compile(r"(?:^|[.!?;][\"'”’)\]]?\s+)([A-Z][A-Za-z,/&() '-]*)$")
_LONGEST = 60
"""Characters of a heading within an abstract, at most; chosen by hand."""


@lru_cache(maxsize=4096)
def facet_of_heading(heading: str) -> Facet | None:
    """The facet a heading or label stands for; None when it is unknown or stands for two panels at once."""
    heading = heading.lower().removesuffix("_label").strip(" :.")
    if heading in _WHOLE:
        return _WHOLE[heading]
    facets = [_FACETS[word] for word in re.findall(r"[a-z]+", heading) if word in _FACETS]
    return facets[0] if len({facet.panel for facet in facets}) == 1 else None


def _is_heading(text: str) -> bool:
    """A known heading in any case, or anything short in capitals."""
    words = re.findall(r"[a-z]+", text.lower())
    known = any(word in _FACETS for word in words) and all(
        word in _FACETS or word in _FILLERS for word in words
    )
    return known or (text.isupper() and len(text) > 3 and len(words) <= 5)


def _headings(text: str) -> list[tuple[int, str]]:
    """Where headings with a colon begin, and what they say."""
    found = []
    colon = text.find(":")
    while colon != -1:
        left = max(0, colon - _LONGEST)
        match = _BEFORE_COLON.search(text[left:colon])
        if match and (match.start() or not left) and _is_heading(match[1]):
            found.append((left + match.start(1), match[1]))
        colon = text.find(":", colon + 1)
    return found


_STOPPED = re.compile(r"(?:^|(?<=[.!?] ))([A-Z][a-z]+)\.(?= [A-Z])")


def with_colons(text: str) -> str:
    """Headings that end with a stop, as astronomers write them ("Aims. We ..."), with a colon instead.

    A stop would make each heading a sentence of its own.
    """
    first = _STOPPED.match(text)
    if first is None or facet_of_heading(first[1]) is None:
        return text
    return _STOPPED.sub(lambda word: f"{word[1]}:" if facet_of_heading(word[1]) else word[0], text)


def find_sections(text: str) -> tuple[Section, ...]:
    """The sections of a plain abstract with headings such as "METHODS:"; it takes two known ones."""
    if ":" not in text:
        return ()
    headings = _headings(text)
    if sum(facet_of_heading(heading) is not None for _, heading in headings) < 2:
        return ()
    return sections_of([(start, facet_of_heading(heading)) for start, heading in headings], len(text))


def sections_of(starts: Sequence[tuple[int, Facet | None]], end: int) -> tuple[Section, ...]:
    return tuple(
        Section(start, following, facet)
        for (start, facet), (following, _) in pairwise([*starts, (end, None)])
        if facet is not None
    )


_LINE = re.compile(r"^[ \t]{0,8}([A-Z][A-Za-z,/&() '-]{2,59})[:.]?[ \t]{0,8}$", re.MULTILINE)
_IN_TEXT = re.compile(
    r"(?:^|\n|(?<=[.!?][ \t]))[ \t]{0,4}([A-Z][A-Za-z,/&() '-]{2,59}?)(?::|\.(?=[ \t]+[A-Z])|"
    r"[ \t][–—-](?=[ \t]))"
)


def _stands_for(heading: str) -> Facet | None:
    """The facet of a heading that consists of known words alone."""
    return facet_of_heading(heading) if _is_heading(heading) else None


def with_heading_lines(text: str) -> str:
    """Headings that have a line of their own, as the beginning of what follows: "METHODS: We asked ..."."""

    def joined(line: re.Match[str]) -> str:
        return f"\n{line[1].strip()}:" if _stands_for(line[1]) else line[0]

    return _LINE.sub(joined, text).lstrip("\n")


def without_headings(text: str) -> tuple[str, tuple[Section, ...]]:
    """The text without its headings, and the sections they open; a single heading is no structure."""
    parts, starts = [], list[tuple[int, Facet | None]]()
    kept = length = 0
    text = with_heading_lines(text)
    for found in _IN_TEXT.finditer(text):
        facet = _stands_for(found[1])
        if facet is None:
            continue
        parts.append(text[kept : found.start(1)])
        length += len(parts[-1])
        starts.append((length, facet))
        kept = found.end() + len(text[found.end() :][:80]) - len(text[found.end() :][:80].lstrip())
    parts.append(text[kept:])
    if len(starts) == 1:  # no structure; at the very beginning it is still a heading
        return (parts[1] if starts[0][0] == 0 else text), ()
    plain = "".join(parts)
    return plain, sections_of(starts, len(plain))
