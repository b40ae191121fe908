"""Structured abstracts as sources give them: parts with headings, and sentences that come with labels.

Headings stay in the text as the source has them ("METHODS: We asked ..."), so that nothing is lost in an
export.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from search.text.headings import facet_of_heading, find_sections, sections_of, with_colons
from search.types import Facet, Section, Sentence

__all__ = [
    "facet_of_heading",
    "find_sections",
    "join_sections",
    "join_sentences",
    "labelled",
    "with_colons",
]


def labelled(text: str) -> str:
    """The abstract without the heading by which PubMed says that it has none."""
    return text[len(_NO_HEADING) :].lstrip() if text.upper().startswith(_NO_HEADING) else text


_NO_HEADING = "UNLABELLED:"


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
    return " ".join(texts), sections_of(starts, length - 1)


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
