"""Results on paper and for programs: a readable list, and JSON whose schema is documented and stable."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from search.ranking.calibration import CAVEAT
from search.types import Choice, Pair, Paper, Query, QueryPaper, Result, Results

SCHEMA = 1
"""Raised when a field changes its meaning or goes away; new fields do not raise it."""
PAIRS_SHOWN = 3
"""Pairs of sentences printed for each result; chosen by hand."""
_PAPER_FIELDS = ("id", "title", "authors", "year", "venue", "fields", "doi", "arxiv_id", "pmid", "url")


def as_json(results: Results) -> str:
    return json.dumps(content_of(results), ensure_ascii=False, indent=1)


def content_of(results: Results) -> dict[str, Any]:
    """What the command line prints and the HTTP API answers: the schema is written here, once."""
    return {
        "schema": SCHEMA,
        "build": results.build_id,
        "query": query_content(results.query),
        "candidates": results.candidates,
        "lacking": asdict(results.lacking),
        "covered": results.covered,
        "seconds": {stage: round(seconds, 4) for stage, seconds in results.seconds.items()},
        "results": [result_content(rank, result) for rank, result in enumerate(results.results, start=1)],
    }


def query_content(query: Query) -> dict[str, Any]:
    return {
        "papers": [query_paper_content(paper) for paper in query.papers],
        "matcher": query.matcher,
        "filters": asdict(query.filters),
        "top": query.top,
    }


def query_paper_content(paper: QueryPaper) -> dict[str, Any]:
    sentences = enumerate(paper.sentences, start=1)
    return {
        "id": paper.paper_id,
        "title": paper.title,
        "sentences": [{"number": number, **asdict(sentence)} for number, sentence in sentences],
    }


def heading_content(paper: Paper) -> dict[str, Any]:
    """A paper without its text."""
    return {name: getattr(paper, name) for name in _PAPER_FIELDS}


def paper_content(paper: Paper) -> dict[str, Any]:
    """A paper with its labelled sentences and what a bibliography prints of it, as far as that is known."""
    sentences = enumerate(paper.sentences, start=1)
    return heading_content(paper) | {
        "abstract": paper.abstract,
        "source": paper.source,
        "sentences": [
            {"number": number, "text": each.text, "facet": each.facet} for number, each in sentences
        ],
        "reference": {name: value for name, value in asdict(paper.reference).items() if value},
    }


def result_content(rank: int, result: Result) -> dict[str, Any]:
    return {
        "rank": rank,
        **heading_content(result.paper),
        "score": round(result.score, 4),
        "likeness": result.likeness,
        "reason": result.reason,
        "evidence": {name: round(value, 4) for name, value in asdict(result.evidence).items()},
        "pairs": [_pair(pair) for pair in result.pairs],
        "duplicates": result.duplicates,
    }


def _pair(pair: Pair) -> dict[str, Any]:
    """With everything counted from 1, as users count."""
    return {
        "query_paper": pair.query_paper + 1,
        "query_sentence": pair.query_sentence + 1,
        "query_text": pair.query_text,
        "query_facet": pair.query_facet,
        "sentence": pair.position + 1,
        "text": pair.text,
        "facet": pair.facet,
        "similarity": round(pair.similarity, 4),
        "share": round(pair.share, 4),
        "shared_terms": pair.shared_terms,
        "near_terms": pair.near_terms,
    }


def as_text(results: Results, width: int = 100) -> str:
    """A list to read: each paper with its reason and the sentences that match."""
    lines = [line for rank, result in enumerate(results.results, 1) for line in _entry(rank, result, width)]
    if not lines:
        return "No paper passes these filters: widen the years or leave a filter out."
    return "\n".join([*lines, CAVEAT])


def _entry(rank: int, result: Result, width: int) -> Iterator[str]:
    mark = f"{rank:3d}. "
    title = result.paper.title or result.paper.id
    yield textwrap.fill(title, width, initial_indent=mark, subsequent_indent=" " * len(mark))
    indent = " " * len(mark)
    yield f"{indent}{result.score:.2f} {result.likeness} · {_byline(result.paper)}"
    yield textwrap.fill(result.reason, width, initial_indent=indent, subsequent_indent=indent)
    for pair in result.pairs[:PAIRS_SHOWN]:
        facet = f"{pair.facet}: " if pair.facet else ""
        start = f"{indent}{pair.query_sentence + 1} → {pair.position + 1} ({pair.share:3.0%}) "
        text = f"{facet}{pair.text}"
        yield textwrap.fill(text, width, initial_indent=start, subsequent_indent=" " * len(start))
    yield ""


def _byline(paper: Paper) -> str:
    authors = "; ".join(paper.authors[:3]) + (" et al." if len(paper.authors) > 3 else "")
    return " · ".join(str(part) for part in (authors, paper.year, paper.venue, paper.id) if part)


def as_sentences(paper: QueryPaper, width: int = 100) -> str:
    """The sentences of a query with the numbers and facets to choose them by."""
    marks = {Choice.MATCH: "+", Choice.IGNORE: " ", Choice.AVOID: "-"}
    lines = [paper.title] if paper.title else []
    for number, sentence in enumerate(paper.sentences, start=1):
        start = f"{marks[sentence.choice]}{number:3d} {sentence.facet or '':<10} "
        lines.append(
            textwrap.fill(sentence.text, width, initial_indent=start, subsequent_indent=" " * len(start))
        )
    return "\n".join(lines)
