"""The body of a request as a query: papers by id, text or sentence, and what to do with them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from search.errors import InputError
from search.query import choosing
from search.query.saving import filters_in, list_in, object_in, one_of, paper_in, text_in, whole_in
from search.types import PANELS, Facet, Filters, Matcher, Query, QueryPaper

if TYPE_CHECKING:
    from search.engine import Engine

QUERY_KEYS = frozenset({"papers", "matcher", "filters", "top"})
PAGE_KEYS = frozenset({"per_page", "cursor"})
PAPER_KEYS = frozenset({"id", "text", "title", "abstract", "sentences", "facet", "match", "avoid"})
SENTENCE_KEYS = frozenset({"number", "text", "facet", "or_facet", "choice", "weight"})
_FOUR = "an id, a text, a title with an abstract, or sentences"


@dataclass(frozen=True, slots=True)
class Page:
    """Which part of an answer is asked for."""

    size: int | None
    """None: all of it."""
    cursor: str


def only(body: Mapping[str, Any], known: Collection[str]) -> None:
    """Refuses what would be overlooked, such as a slip in a name."""
    if unknown := body.keys() - set(known):
        names = ", ".join(sorted(known))
        raise InputError(f"There is no field {choosing.shorten(min(unknown))} here: the fields are {names}.")


def read_query(body: Mapping[str, Any], engine: Engine) -> Query:
    """InputError in a sentence where a field is missing or holds what it may not hold."""
    try:
        papers = list_in(body.get("papers"), "papers", choosing.MOST_PAPERS)
        top = whole_in(body.get("top", 20), "top")
        _filled(body, {"matcher"})
        matcher = one_of(Matcher, body.get("matcher"))
        filters = read_filters(body)
    except ValueError as error:
        raise InputError(f"This query cannot be read ({error}): correct it.") from None
    query = Query(tuple(read_paper(paper, engine) for paper in papers), matcher, filters, top)
    choosing.check_size(query)
    return query


def read_filters(body: Mapping[str, Any]) -> Filters:
    try:
        return filters_in(object_in(body.get("filters", {}), "filters"))
    except ValueError as error:
        raise InputError(f"The filters cannot be read ({error}): correct them.") from None


def read_paper(given: Any, engine: Engine) -> QueryPaper:
    """One paper to search with, its sentences chosen."""
    try:
        body = object_in(given, "paper")
        only(body, PAPER_KEYS)
        for name, value in body.items():
            if value is None:
                raise ValueError(f"{name} is null: leave it out")
        paper = _paper(body, engine)
        facet, match = body.get("facet"), body.get("match")
        panel = _panel(facet) if facet is not None else None
        chosen = _positions(match, "match") if match is not None else None
        if panel and chosen is None:
            chosen = choosing.positions_of(paper, panel)
        avoid = _avoided(paper, body.get("avoid"), chosen or ())
    except ValueError as error:
        raise InputError(f"A paper of this query cannot be read ({error}): correct it.") from None
    if panel and match is not None:
        raise InputError("A paper has both a facet and numbers of sentences to match: give one of them.")
    if chosen is not None:
        return choosing.choose_sentences(paper, chosen, avoid or ())
    if avoid is not None:
        rest = [place for place in range(len(paper.sentences)) if place not in avoid]
        return choosing.choose_sentences(paper, rest, avoid)
    return paper


def _paper(body: dict[str, Any], engine: Engine) -> QueryPaper:
    if body.get("sentences") is not None:
        if "text" in body or "abstract" in body:
            raise InputError(f"A paper is given twice over: give {_FOUR}, one of these.")
        for sentence in list_in(body["sentences"], "sentences", choosing.MOST_SENTENCES):
            _check_sentence(sentence)
        return engine.restore(Query((paper_in(body),))).papers[0]
    paper_id, text = text_in(body.get("id"), "id"), text_in(body.get("text"), "text")
    title, abstract = text_in(body.get("title"), "title"), text_in(body.get("abstract"), "abstract")
    if sum(map(bool, (paper_id, text, title or abstract))) > 1:
        raise InputError(f"A paper is given twice over: give {_FOUR}, one of these.")
    if paper_id:
        return engine.example(paper_id)
    return engine.read_text(text) if text else engine.read(title, abstract)


def _check_sentence(given: Any) -> None:
    """What a saved query forgives is refused in a request: a slip would be overlooked."""
    sentence = object_in(given, "sentence")
    only(sentence, SENTENCE_KEYS)
    whole_in(sentence.get("number", 1), "number")
    for name in ("text", "choice"):
        if not isinstance(sentence.get(name, ""), str):
            raise ValueError(f"{name} is {choosing.shorten(sentence[name])}, not a text")
    _filled(sentence, {"choice", "facet", "or_facet"})


def _filled(given: Mapping[str, Any], names: Collection[str]) -> None:
    for name in names:
        if given.get(name) == "":
            raise ValueError(f"{name} is empty: leave it out")


def _panel(value: Any) -> Facet:
    if value not in [panel.value for panel in PANELS]:
        raise ValueError(f"{choosing.shorten(value)} is none of {', '.join(PANELS)}")
    return Facet(value)


def _positions(value: Any, name: str) -> list[int]:
    """Positions from the numbers users count by."""
    return [whole_in(each, name) - 1 for each in list_in(value, name, choosing.MOST_SENTENCES)]


def _avoided(paper: QueryPaper, given: Any, match: Collection[int]) -> list[int] | None:
    if given is None:
        return None
    if isinstance(given, str):
        return choosing.positions_to_avoid(paper, _panel(given), match)
    return _positions(given, "avoid")


def read_page(body: Mapping[str, Any]) -> Page:
    try:
        if None in (body.get("per_page", 1), body.get("cursor", "")):
            raise ValueError("per_page or cursor is null: leave it out")
        size = body.get("per_page")
        if size is not None and not 1 <= whole_in(size, "per_page") <= choosing.MOST_RESULTS:
            raise ValueError(f"per_page is {choosing.shorten(size)}, not 1 to {choosing.MOST_RESULTS}")
        return Page(size, text_in(body.get("cursor"), "cursor"))
    except ValueError as error:
        raise InputError(f"The page cannot be read ({error}): correct it.") from None
