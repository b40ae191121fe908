"""Papers and evidence as HTML: every text of a paper or a visitor goes through `markup`."""

from __future__ import annotations

from collections.abc import Iterable

from pages.ui.escape import markup, one_line, web_addresses
from pages.ui.palette import word
from search.library.origins import Quote
from search.types import Facet, Paper, Sentence, shown_panel

SHOWN_AUTHORS = 4
"""Authors named before "and 3 more"; chosen by hand."""


def heading(paper: Paper, level: int) -> str:
    return f"<h{level}>{link(paper)}</h{level}>"


def link(paper: Paper) -> str:
    """The title, leading to where the paper is read if that is known."""
    title = markup(one_line(paper.title) or "Untitled")
    if address := next(iter(web_addresses(paper).values()), ""):
        return f'<a href="{markup(address)}" target="_blank" rel="noopener noreferrer">{title}</a>'
    return title


def byline(paper: Paper) -> str:
    return f'<p class="quiet">{markup(byline_text(paper))}</p>'


def byline_text(paper: Paper) -> str:
    parts = [authors(paper), str(paper.year or ""), paper.venue, ", ".join(paper.fields[:3])]
    return " · ".join(part for part in parts if part)


def authors(paper: Paper, most: int = SHOWN_AUTHORS) -> str:
    names = [" ".join(reversed(name.split(", ", 1))) for name in paper.authors[:most]]
    more = len(paper.authors) - len(names)
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")


def facet_word(facet: Facet | None) -> str:
    return f'<span class="facet {shown_panel(facet)}">{word(facet)}</span>'


def abstract(paper: Paper, matched: Iterable[int] = ()) -> str:
    """The whole abstract; the sentences at the positions `matched` are marked and say their facet."""
    if not paper.abstract:
        return '<p class="quiet">This record has no abstract; its title was matched.</p>'
    marked, parts, end = set(matched), [], 0
    for position, sentence in enumerate(paper.sentences):
        parts.append(markup(paper.abstract[end : sentence.start]))
        parts.append(_marked(sentence) if position in marked else markup(sentence.text))
        end = sentence.end
    parts.append(markup(paper.abstract[end:]))
    return f'<p class="abstract">{"".join(parts)}</p>'


def _marked(sentence: Sentence) -> str:
    facet = shown_panel(sentence.facet)
    return f'<mark class="{facet}">{markup(sentence.text)}</mark> {facet_word(sentence.facet)}'


def quotes(pairs: Iterable[Quote]) -> str:
    """What matched when a paper was kept: its sentences, and below each the one of the search."""
    return "".join(
        f'<div class="panel {shown_panel(quote.facet)}">'
        f"<p>{facet_word(quote.facet)} “{markup(quote.theirs)}”</p>"
        f'<p class="quiet">for “{markup(quote.yours)}”</p></div>'
        for quote in pairs
    )


def panel(facet: Facet, sentences: Iterable[Sentence]) -> str:
    """One of a paper's three panels."""
    texts = "".join(f"<p>{markup(sentence.text)}</p>" for sentence in sentences)
    empty = f'<p class="quiet">No sentence of this abstract is labelled {facet}.</p>'
    return f'<div class="panel {facet}">{texts or empty}</div>'


def quote(text: str, paper: Paper, facet: Facet) -> str:
    """A sentence and whose it is, for a topic's panels."""
    source = ", ".join(part for part in (authors(paper, 1), str(paper.year or "")) if part)
    return (
        f'<div class="panel {facet}"><p>{markup(text)}</p>'
        f'<p class="quiet">{link(paper)}{f" ({markup(source)})" if source else ""}</p></div>'
    )
