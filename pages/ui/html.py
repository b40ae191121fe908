"""Papers and evidence as HTML: every text of a paper or a visitor goes through `markup`."""

from __future__ import annotations

from collections.abc import Iterable

from pages.ui.escape import markup, one_line, web_addresses
from pages.ui.palette import look
from search.types import Facet, Pair, Paper, Result, Sentence

SHOWN_PAIRS = 3
SHOWN_AUTHORS = 4


def card(result: Result, number: int, query_papers: int = 1) -> str:
    """A result: what it is, how close and why, and the pairs of sentences that carry the match."""
    return (
        f'<article class="card">{heading(result.paper, 3, f"{number}. ")}{byline(result.paper)}'
        f'<p class="reason">{score(result)} {markup(result.reason)}</p>'
        f"{pairs(result.pairs[:SHOWN_PAIRS], query_papers)}</article>"
    )


def small_card(result: Result, also: Iterable[Facet] = ()) -> str:
    """A result in one column of the triptych; `also` names the other panels it is near by."""
    marks = "".join(f' <span class="facet {facet}">also by {facet}</span>' for facet in also)
    return (
        f'<article class="card">{heading(result.paper, 3)}{byline(result.paper)}'
        f'<p class="quiet">{score(result)}{marks}</p>'
        f'<p class="quiet">{markup(result.reason)}</p></article>'
    )


def heading(paper: Paper, level: int, before: str = "") -> str:
    return f"<h{level}>{before}{link(paper)}</h{level}>"


def link(paper: Paper) -> str:
    """The title, leading to where the paper is read if that is known."""
    title = markup(one_line(paper.title) or "Untitled")
    if address := next(iter(web_addresses(paper).values()), ""):
        return f'<a href="{markup(address)}" target="_blank" rel="noopener noreferrer">{title}</a>'
    return title


def byline(paper: Paper) -> str:
    parts = [authors(paper), str(paper.year or ""), paper.venue, ", ".join(paper.fields[:3])]
    return f'<p class="quiet">{markup(" · ".join(part for part in parts if part))}</p>'


def authors(paper: Paper, most: int = SHOWN_AUTHORS) -> str:
    names = [" ".join(reversed(name.split(", ", 1))) for name in paper.authors[:most]]
    more = len(paper.authors) - len(names)
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")


def score(result: Result) -> str:
    return f'<span class="score">{markup(result.likeness.capitalize())}, {result.score:.2f}.</span>'


def pairs(shown: Iterable[Pair], query_papers: int = 1) -> str:
    """Your sentence, theirs, and a bar for how much of the match the two carry."""
    return f'<ul class="pairs">{"".join(_pair(pair, query_papers) for pair in shown)}</ul>'


def _pair(pair: Pair, query_papers: int) -> str:
    percent = round(100 * pair.share)
    yours = f"Yours, {pair.query_sentence + 1}"
    if query_papers > 1:
        yours = f"Paper {pair.query_paper + 1}, {pair.query_sentence + 1}"
    return (
        f'<li><div>{percent} %<span class="aside"> of the match</span>'
        f'<div class="bar" aria-hidden="true"><span class="{_facet(pair.query_facet)}" '
        f'style="width: {percent}%"></span></div></div>'
        f'<div><span class="who">{yours} {facet_word(pair.query_facet)}</span>{markup(pair.query_text)}</div>'
        f'<div><span class="who">Theirs, {pair.position + 1} {facet_word(pair.facet)}</span>'
        f"{markup(pair.text)}</div></li>"
    )


def facet_word(facet: Facet | None) -> str:
    return f'<span class="facet {_facet(facet)}">{look(facet).word}</span>'


def _facet(facet: Facet | None) -> Facet:
    return (facet or Facet.OTHER).panel


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
    facet = _facet(sentence.facet)
    return f'<mark class="{facet}">{markup(sentence.text)}</mark> {facet_word(facet)}'


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
