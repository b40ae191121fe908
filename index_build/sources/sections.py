"""Structured abstracts: which facet a heading stands for, and sentences that come with labels.

Headings stay in the text as the source has them ("METHODS: We asked ..."), so that nothing is lost in an
export; a section begins with its heading and ends where the next begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from search.types import Facet, Section, Sentence

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


def labelled(text: str) -> str:
    """The abstract without the heading by which PubMed says that it has none."""
    return text[len(_NO_HEADING) :].lstrip() if text.upper().startswith(_NO_HEADING) else text


_NO_HEADING = "UNLABELLED:"


def find_sections(text: str) -> tuple[Section, ...]:
    """The sections of a plain abstract with headings such as "METHODS:"; it takes two known ones."""
    if ":" not in text:
        return ()
    headings = _headings(text)
    if sum(facet_of_heading(heading) is not None for _, heading in headings) < 2:
        return ()
    return _sections([(start, facet_of_heading(heading)) for start, heading in headings], len(text))


def _sections(starts: Sequence[tuple[int, Facet | None]], end: int) -> tuple[Section, ...]:
    return tuple(
        Section(start, following, facet)
        for (start, facet), (following, _) in pairwise([*starts, (end, None)])
        if facet is not None
    )


def join_sections(parts: Iterable[tuple[str, str, str]]) -> tuple[str, tuple[Section, ...]]:
    """The abstract and its sections from (heading, category, text) parts; a known category decides."""
    texts: list[str] = []
    starts: list[tuple[int, Facet | None]] = []
    length = 0
    for heading, category, body in parts:
        if heading.upper() == "UNLABELLED":
            heading = ""
        text = f"{heading}: {body}" if heading else body
        texts.append(text)
        starts.append((length, facet_of_heading(category) or facet_of_heading(heading)))
        length += len(text) + 1
    return " ".join(texts), _sections(starts, length - 1)


def join_sentences(sentences: Iterable[str], labels: Sequence[object]) -> tuple[str, tuple[Sentence, ...]]:
    """The abstract, and its sentences with spans and the facets of their labels, if there is one for each."""
    sentences = list(sentences)
    known = labels if len(labels) == len(sentences) else [None] * len(sentences)
    kept: list[Sentence] = []
    at = 0
    for text, label in zip(sentences, known, strict=True):
        if not text:
            continue
        facet = facet_of_heading(label) if isinstance(label, str) else None
        kept.append(Sentence(text, at, at + len(text), facet=facet, hinted=facet is not None))
        at += len(text) + 1
    return " ".join(sentence.text for sentence in kept), tuple(kept)
