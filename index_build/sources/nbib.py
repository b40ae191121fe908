"""Reads NBIB, PubMed's tagged text: four letters, a hyphen, and lines that go on after six spaces."""

from __future__ import annotations

import io
import re
from collections import defaultdict
from collections.abc import Iterator

from index_build.markup import to_text
from index_build.sources.blocks import Block, papers_of, read_blocks
from index_build.sources.pubmed import title_of
from index_build.sources.records import complete, doi_of, name_paper, pmid_of, unique, year_of
from index_build.sources.rejects import Reject
from index_build.sources.sections import find_sections
from search.types import Paper

_START = re.compile(r"\s*PMID ?-")
_TAG = re.compile(r"([A-Z]{2,4}) {0,2}- ?(.*)")
_INITIALS = re.compile(r"(.+) ([A-Z]{1,4})$")


def read(stream: io.BufferedReader, name: str) -> Iterator[Paper | Reject]:
    return papers_of(read_blocks(stream, name, _START), name, to_paper)


def to_paper(block: Block) -> Paper:
    """A paper under its PMID; its fields are the starred MeSH headings, or the keywords without them."""
    values = _values(block)
    first = {tag: texts[0] for tag, texts in values.items()}
    pmid, title = pmid_of(first.get("PMID")), title_of(to_text(first.get("TI") or first.get("TT", "")))
    abstract = to_text(first.get("AB", ""))
    doi = next((doi_of(text) for text in values["LID"] + values["AID"] if "[doi]" in text), "")
    names = values["FAU"] or [_INITIALS.sub(r"\1, \2", name) for name in values["AU"]]
    headings = [text.split("/")[0].strip("*") for text in values["MH"] if "*" in text]
    return complete(
        Paper(
            id=f"pmid:{pmid}" if pmid else name_paper("nbib:", title, abstract, doi=doi),
            title=title,
            abstract=abstract,
            authors=unique(map(to_text, names + values["CN"])),
            year=year_of(first.get("DP") or first.get("DEP")),
            venue=to_text(first.get("JT") or first.get("TA", "")),
            fields=unique(headings or [text.strip("*") for text in values["OT"]]),
            doi=doi,
            pmid=pmid,
            url=f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/" if pmid else "",
            source="nbib",
            sections=find_sections(abstract),
        )
    )


def _values(block: Block) -> defaultdict[str, list[str]]:
    """All values of each tag, with continued lines joined."""
    values: defaultdict[str, list[str]] = defaultdict(list)
    tag = ""
    for line in block.lines:
        found = _TAG.match(line)
        if found:
            tag = found[1]
            values[tag].append(found[2].strip())
        elif tag and line.startswith("   "):
            values[tag][-1] += " " + line.strip()
    return values
