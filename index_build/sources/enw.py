"""Reads EndNote's tagged text (.enw), as publishers give it: a per cent sign and a letter."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from index_build.markup import to_text
from index_build.sources.blocks import Block, Layout, first_values, papers_of, read_tagged, values_of
from index_build.sources.papers import kind_of, paper_of
from index_build.sources.records import arxiv_of, doi_of, pmid_of, url_of, year_of
from index_build.sources.references import date_of
from index_build.sources.rejects import Reject
from search.types import Paper, Reference

_TAG = re.compile(r"^\s{0,3}(%[0-9A-Z@!?#$&()*+<=>\[\]~^])(?:[ \t]+|$)(.*)", re.DOTALL)
LAYOUT = Layout(
    tag=_TAG,
    once=frozenset({"%T", "%0"}),
    start=re.compile(r"^\s*%0(?:\s|$)"),
    inside=_TAG,
    seam=re.compile(r"%0 (?:Journal|Book|Conference|Thesis|Report|Generic|Web|Electronic)[ A-Za-z]{0,30}$"),
    harmless=re.compile(r"^\s*\d+\.?\s*$"),
)


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    return papers_of(read_tagged(stream, name, LAYOUT), name, to_paper)


def to_paper(block: Block) -> Paper:
    """A paper; notes (%Z) are the user's own and are not read."""
    values = values_of(block, _TAG)
    get = first_values(values).get
    links = [text for value in values["%U"] for text in value.split()]
    accession = get("%M", "")
    numbers = [get("%R", ""), accession, *links]
    number, editors = " ".join(values["%@"]), [to_text(name) for name in values["%E"]]
    return paper_of(
        "enw",
        get("%T", ""),
        to_text(" ".join(values["%X"])),
        authors=[to_text(name) for name in values["%A"]] or editors,
        year=year_of(get("%D")) or year_of(get("%8")),
        venue=get("%J") or get("%B", ""),
        fields=_keywords(values["%K"]),
        doi=doi_of(get("%R")) or next((doi_of(link) for link in links if "doi.org/" in link), ""),
        arxiv_id=next((arxiv_of(text) for text in numbers if "arxiv" in text.lower()), ""),
        pmid=pmid_of(accession) if any(word in accession.lower() for word in ("pmid", "pubmed")) else "",
        url=next(filter(None, map(url_of, links)), ""),
        reference=Reference(
            kind=kind_of(get("%0", "")),
            genre=get("%9", ""),
            date=date_of(get("%8", "")) or date_of(f"{get('%8', '')} {get('%D', '')}"),
            volume=get("%V", ""),
            issue=get("%N", ""),
            pages=get("%P", ""),
            series=get("%S", "") or (get("%B", "") if get("%J") else ""),
            edition=get("%7", ""),
            publisher=get("%I", ""),
            place=get("%C", ""),
            editors=tuple(editors),
            issn=(number,),
            isbn=(number,),
            language=get("%G", ""),
            key=get("%F", "") or accession,
        ),
    )


def _keywords(texts: list[str]) -> list[str]:
    """One a line, or all in one line, with commas where there is nothing else between them."""
    words = [to_text(word) for text in texts for word in re.split(r"[\n;]", text)]
    return words[0].split(",") if len(words) == 1 else words
