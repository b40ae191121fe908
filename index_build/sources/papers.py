"""A paper put together from the parts a record has, with its id, its sections and its reference tidied."""

from __future__ import annotations

import re
from collections.abc import Iterable

from index_build.sources import references
from index_build.sources.names import tidy_names
from index_build.sources.records import complete, name_paper, unique
from index_build.sources.references import kind_of_words, make_reference, page_range
from index_build.sources.sections import find_sections
from search.references import EMPTY, as_dict
from search.types import Kind, Paper, Reference, Section

_MORE_KINDS = {
    "electronicarticle": Kind.ARTICLE, "text": Kind.ARTICLE, "articlepreprint": Kind.PREPRINT,
    "electronicbook": Kind.BOOK, "ebook": Kind.BOOK, "thesisdissertation": Kind.THESIS,
    "unpublishedwork": Kind.MANUSCRIPT, "softwarecode": Kind.SOFTWARE, "journalarticles": Kind.ARTICLE,
    "booksectionchapter": Kind.CHAPTER, "dissertationthesisunpublished": Kind.THESIS,
    "reportsresearch": Kind.REPORT, "reportsdescriptive": Kind.REPORT, "reportsevaluative": Kind.REPORT,
    "reportsgeneral": Kind.REPORT, "dissertationsthesesdoctoraldissertation": Kind.THESIS,
    "dissertationsthesesmasterthese": Kind.THESIS, "collectedworksproceeding": Kind.PROCEEDINGS,
    "speechesmeetingpaper": Kind.PROCEEDINGS_PAPER, "unpublishedmaterial": Kind.MANUSCRIPT,
}  # fmt: skip
"""Words for kinds that only these formats have, without spaces and the like."""
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NOT_LETTERS = re.compile(r"[^a-z]")


def kind_of(*words: str) -> Kind | None:
    """The kind for the first of the words that is known, in the spelling of any format: "JournalArticle"."""
    for word in words:
        apart = _CAPITAL.sub(" ", word[:200])
        kind = kind_of_words(apart) or _MORE_KINDS.get(_NOT_LETTERS.sub("", apart.lower()))
        if kind:
            return kind
    return None


def pages_of(first: str, last: str = "") -> str:
    """ "123-145" from a range or from its two ends."""
    return references.pages_of(page_range(first, last))


def paper_of(
    source: str,
    title: str,
    abstract: str = "",
    *,
    own_id: str = "",
    authors: Iterable[str] = (),
    year: int | None = None,
    venue: str = "",
    fields: Iterable[str] = (),
    doi: str = "",
    arxiv_id: str = "",
    pmid: str = "",
    url: str = "",
    sections: tuple[Section, ...] | None = None,
    reference: Reference = EMPTY,
) -> Paper:
    """The paper, if there is anything in it to search for; BadRecord else."""
    named = name_paper(f"{source}:", title, abstract, doi=doi, arxiv=arxiv_id, pmid=pmid)
    return complete(
        Paper(
            id=own_id or named,
            title=title,
            abstract=abstract,
            authors=tidy_names(authors),
            year=year,
            venue=venue,
            fields=unique(fields),
            doi=doi,
            arxiv_id=arxiv_id,
            pmid=pmid,
            url=url,
            source=source,
            sections=find_sections(abstract) if sections is None else sections,
            reference=make_reference(**as_dict(reference) | {"editors": tidy_names(reference.editors)}),
        )
    )
