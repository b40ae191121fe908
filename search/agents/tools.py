"""What the tools answer: short, with the aligned sentences quoted and the scope of the corpus stated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from search.engine import Engine
from search.errors import InputError
from search.exports import FORMATS, Citation, write
from search.query import choosing
from search.query.saving import filters_in
from search.ranking.coverage import ELSEWHERE
from search.types import PANELS, Facet, Filters, Paper, Query, QueryPaper, Result, Results

Content = dict[str, Any]
LIMIT, MOST = 10, 50
"""Results unless more are asked for, and at most."""
LONGEST_TITLE, LONGEST_QUOTE = 140, 260
"""Characters of what stands in a list; `fetch` gives the whole."""
EVIDENCE = 1
"""Pairs of sentences with each result unless more are asked for."""
MOST_EVIDENCE, MOST_IDS = 10, 200
LITTLE = "This corpus seems to have next to nothing on this query: its papers are about something else."
NOTHING = "No paper passes these filters. The search worked; widen the filters."


class Tools:
    """The six tools on one engine. Every number of a sentence counts from 1."""

    def __init__(self, engine: Callable[[], Engine]) -> None:
        self._engine = engine

    def search(self, query: str, facet: str = "", limit: int = LIMIT) -> Content:
        engine = self._engine()
        paper = engine.read_text(query)
        if facet:
            paper = choosing.choose_facet(paper, _facet(facet))
        return self._found(engine, Query((paper,), top=_within(limit, MOST, "limit")), EVIDENCE)

    def fetch(self, id: str) -> Content:
        engine = self._engine()
        paper = _known(engine, [id])[0]
        sentences = [f"{each.facet or 'unlabelled'}: {each.text}" for each in paper.sentences]
        return _heading(paper) | {
            "title": paper.title,
            "authors": list(paper.authors),
            "venue": paper.venue,
            "fields": list(paper.fields),
            "doi": paper.doi,
            "url": paper.url,
            "sentences": sentences,
        }

    def read_query(self, text: str) -> Content:
        paper = self._engine().read_text(text)
        return {
            "title": paper.title,
            "sentences": [
                {"number": number, "facet": each.facet, "text": each.text}
                | ({"or_facet": each.or_facet} if each.or_facet else {})
                for number, each in enumerate(paper.sentences, start=1)
            ],
        }

    def find_by_sentences(
        self,
        text: str,
        match: Sequence[int],
        avoid: Sequence[int] = (),
        weights: Mapping[str, float] | None = None,
        year_from: int | None = None,
        year_to: int | None = None,
        fields: Sequence[str] = (),
        venues: Sequence[str] = (),
        limit: int = LIMIT,
        evidence: int = EVIDENCE,
    ) -> Content:
        engine = self._engine()
        paper = engine.example(text.removeprefix("id:").strip()) if text.startswith("id:") else None
        paper = paper or engine.read_text(text)
        chosen = choosing.choose_sentences(paper, [n - 1 for n in match], [n - 1 for n in avoid])
        filters = _filters(year_from=year_from, year_to=year_to, venues=list(venues), fields=list(fields))
        query = Query((_weighed(chosen, weights or {}),), filters=filters, top=_within(limit, MOST, "limit"))
        return self._found(engine, query, _within(evidence, MOST_EVIDENCE, "evidence"))

    def corpus_info(self) -> Content:
        engine = self._engine()
        made, years = engine.manifest, engine.store.year_counts()
        return {
            "papers": made.papers,
            "sentences": made.sentences,
            "years": [min(years, default=None), max(years, default=None)],
            "fields": engine.store.field_counts(limit=15),
            "sources": engine.store.source_counts(),
            "build": made.build_id,
            "created": made.created,
            "encoder": made.encoder,
            "scope": "Titles and abstracts of these papers only: what is not found here may exist elsewhere.",
        } | ({"notice": engine.notice} if engine.notice else {})

    def export(self, ids: Sequence[str], format: str = "bibtex") -> Content:
        if format not in FORMATS:
            raise InputError(f"There is no export format {format!r}: choose one of {', '.join(FORMATS)}.")
        if not 1 <= len(ids) <= MOST_IDS:
            raise InputError(f"An export takes 1 to {MOST_IDS} ids, not {len(ids)}: choose some.")
        papers = _known(self._engine(), ids)
        return {"format": format, "text": write([Citation(paper) for paper in papers], format)}

    def _found(self, engine: Engine, query: Query, evidence: int) -> Content:
        results = engine.search(query)
        content: Content = {
            "scope": f"{engine.manifest.papers} papers, build {results.build_id}",
            "found": len(results.results),
            "results": [_result(each, evidence) for each in results.results],
        }
        if not results.results:
            content["note"] = NOTHING
        elif results.covered < ELSEWHERE and query.filters == Filters():
            content["note"] = LITTLE
        if unknown := _lacking(results):
            content["rare_words"] = unknown
        return content


def _lacking(results: Results) -> list[str]:
    return list(results.lacking.rare[:8])


def _heading(paper: Paper) -> Content:
    return {"id": paper.id, "title": _cut(paper.title, LONGEST_TITLE), "year": paper.year}


def _result(result: Result, evidence: int) -> Content:
    """`query_sentence` is a number of the query's; the sentence itself is quoted from the paper."""
    pairs = [
        {
            "query_sentence": pair.query_sentence + 1,
            "facet": pair.facet,
            "quote": pair.text if evidence > EVIDENCE else _cut(pair.text, LONGEST_QUOTE),
            "share": round(pair.share, 2),
        }
        for pair in result.pairs[:evidence]
    ]
    return _heading(result.paper) | {
        "score": round(result.score, 2),
        "likeness": result.likeness,
        "evidence": pairs,
    }


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rsplit(' ', 1)[0]}…"


def _facet(name: str) -> Facet:
    if name not in [panel.value for panel in PANELS]:
        raise InputError(f"There is no facet {name!r}: choose one of {', '.join(PANELS)}.")
    return Facet(name)


def _within(number: int, most: int, name: str) -> int:
    if not 1 <= number <= most:
        raise InputError(f"{name} is {number}; it must be from 1 to {most}.")
    return number


def _filters(**given: Any) -> Filters:
    """The filters of the API: years of four digits, so many names and no more."""
    try:
        return filters_in(given)
    except ValueError as error:
        raise InputError(f"The filters cannot be read ({error}): correct them.") from None


def _weighed(paper: QueryPaper, weights: Mapping[str, float]) -> QueryPaper:
    known = {str(number) for number in range(1, len(paper.sentences) + 1)}
    if unknown := weights.keys() - known:
        named = choosing.shorten(min(unknown))
        raise InputError(f"There is no sentence {named} to weigh: there are {len(known)}.")
    if wrong := [weight for weight in weights.values() if not 0 <= weight <= choosing.HIGHEST_WEIGHT]:
        most = choosing.HIGHEST_WEIGHT
        raise InputError(f"The weight {wrong[0]} is no number from 0 to {most}: correct it.")
    sentences = (
        replace(each, weight=float(weights.get(str(number), each.weight)))
        for number, each in enumerate(paper.sentences, start=1)
    )
    return replace(paper, sentences=tuple(sentences))


def _known(engine: Engine, ids: Sequence[str]) -> list[Paper]:
    rows = engine.store.rows_of(ids)
    missing = [id for id, row in zip(ids, rows, strict=True) if row < 0]
    if missing:
        named = choosing.shorten(missing[0])
        raise InputError(f"No paper of this corpus has the id {named}: take ids from search.")
    return engine.store.papers_by_row(rows)
