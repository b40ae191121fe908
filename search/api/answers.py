"""What each operation answers: one function each, the engine's answer in the schema of the command line."""

from __future__ import annotations

from typing import Any

from search import printing
from search.api import queries
from search.api.exchange import Answer, Asked, page_of, searched
from search.api.problems import Problem
from search.engine import Engine
from search.errors import InputError, TriptychError
from search.exports import FORMATS, Citation, export, write
from search.query import choosing, saving
from search.topics import explore as explore_topic
from search.topics.values import Cluster, Topic
from search.types import PANELS, Facet

MEDIA = {
    "bibtex": "application/x-bibtex",
    "ris": "application/x-research-info-systems",
    "csl-json": "application/vnd.citationstyles.csl+json",
    "csv": "text/csv; charset=utf-8",
    "markdown": "text/markdown; charset=utf-8",
}
"""What each export is sent as."""
MOST_LOOKED_UP = 100
SENTENCES = 10
"""Sentences of each panel that a topic shows unless more are asked for."""


def corpus(asked: Asked) -> Answer:
    engine = asked.here.engine()
    made, store = engine.manifest, engine.store
    years = store.year_counts()
    content = {
        "schema": printing.SCHEMA,
        "build": made.build_id,
        "created": made.created,
        "software": f"Triptych {made.package}",
        "papers": made.papers,
        "sentences": made.sentences,
        "models": {"encoder": made.encoder, "labeller": made.facets, "tokenizer": made.tokenizer},
        "years": {"from": min(years, default=None), "to": max(years, default=None)},
        "fields": store.field_counts(limit=20),
        "venues": store.venue_counts(limit=20),
        "sources": store.source_counts(),
        "origins": store.origin_counts(),
        "facets": {facet.value: round(share, 4) for facet, share in store.facet_shares().items()},
        "licence": "Papers keep the licence of their source; `reference.licence` of a paper names it where "
        "it is known. The software is Apache-2.0.",
        "notice": engine.notice,
    }
    return Answer(content, made.build_id)


def read(asked: Asked) -> Answer:
    """A text as labelled sentences, to be chosen from."""
    queries.only(asked.body, {"text", "title", "abstract"})
    engine = asked.here.engine()
    paper = queries.read_paper(asked.body, engine)
    content = {"build": engine.manifest.build_id, "paper": printing.query_paper_content(paper)}
    return Answer(content, engine.manifest.build_id)


def search(asked: Asked) -> Answer:
    queries.only(asked.body, queries.QUERY_KEYS | queries.PAGE_KEYS)
    engine, page = asked.here.engine(), queries.read_page(asked.body)
    question = {key: value for key, value in asked.body.items() if key not in queries.PAGE_KEYS}
    return page_of(asked, engine, queries.read_query(asked.body, engine), question, page)


def neighbours(asked: Asked) -> Answer:
    """The nearest to a paper of the corpus by one facet, or as a whole."""
    engine = asked.here.engine()
    paper_id = _known(engine, asked.needed("id"))
    facet = asked.parameters.get("facet")
    chosen = {"id": paper_id} | ({"facet": facet} if facet else {})
    body = {"papers": [chosen], "top": asked.number("top", 20, choosing.MOST_RESULTS)}
    size = asked.number("per_page", choosing.MOST_RESULTS, choosing.MOST_RESULTS)
    page = queries.Page(size, asked.parameters.get("cursor", ""))
    return page_of(asked, engine, queries.read_query(body, engine), body, page)


def _known(engine: Engine, paper_id: str) -> str:
    if int(engine.store.rows_of([paper_id])[0]) < 0:
        named = choosing.shorten(paper_id)
        raise Problem(404, f"No paper of this corpus has the id {named}: look it up with /papers?find=TITLE.")
    return paper_id


def paper(asked: Asked) -> Answer:
    engine = asked.here.engine()
    found = engine.store.paper(_known(engine, asked.needed("id")))
    assert found is not None
    build = engine.manifest.build_id
    return Answer({"build": build, "paper": printing.paper_content(found)}, build)


def papers(asked: Asked) -> Answer:
    """Papers looked up by title, author, year, DOI or address."""
    engine = asked.here.engine()
    found = engine.store.find(asked.needed("find"), asked.number("top", 20, MOST_LOOKED_UP))
    build = engine.manifest.build_id
    return Answer({"build": build, "papers": [printing.heading_content(each) for each in found]}, build)


def triptych(asked: Asked) -> Answer:
    """The nearest by background, by method and by result."""
    queries.only(asked.body, {"paper", "matcher", "filters", "top"})
    engine = asked.here.engine()
    one = {"papers": [asked.body.get("paper")]}
    rest = {key: value for key, value in asked.body.items() if key != "paper"}
    query = queries.read_query({"top": 8} | rest | one, engine)
    panels = engine.triptych(query.papers[0], query.filters, query.top, query.matcher)
    if not panels:
        raise InputError(
            "No sentence of this paper is labelled background, method or result: search with it."
        )
    build = next(iter(panels.values())).build_id
    content = {panel.value: printing.content_of(results) for panel, results in panels.items()}
    return Answer({"build": build, "panels": content}, build)


def explore(asked: Asked) -> Answer:
    queries.only(asked.body, {"topic", "filters", "top"})
    try:
        text = saving.text_in(asked.body.get("topic"), "topic")
        top = saving.whole_in(asked.body.get("top", SENTENCES), "top")
    except ValueError as error:
        raise InputError(f"This topic cannot be read ({error}): correct it.") from None
    if not 1 <= top <= choosing.MOST_RESULTS:
        raise InputError(f"top is {choosing.shorten(top)}; it must be from 1 to {choosing.MOST_RESULTS}.")
    engine = asked.here.engine()
    topic = explore_topic(engine, text, queries.read_filters(asked.body))
    return Answer({"build": engine.manifest.build_id} | _topic(topic, top), engine.manifest.build_id)


def _topic(topic: Topic, top: int) -> dict[str, Any]:
    return {
        "related": topic.related,
        "bounded": topic.bounded,
        "papers": [printing.heading_content(each) for each in topic.papers],
        "panels": {panel.value: _panel(topic, panel, top) for panel in PANELS},
        "clusters": [_cluster(topic, cluster) for cluster in topic.clusters],
    }


def _panel(topic: Topic, panel: Facet, top: int) -> dict[str, Any]:
    return {
        "sentences": [
            {"id": hit.paper.id, "text": hit.text, "similarity": round(hit.likeness, 4)}
            for hit in topic.hits[panel][:top]
        ],
        "terms": [{"text": term.text, "papers": len(term.papers)} for term in topic.terms[panel][:top]],
    }


def _cluster(topic: Topic, cluster: Cluster) -> dict[str, Any]:
    return {"name": cluster.name, "papers": [topic.papers[place].id for place in cluster.papers]}


def export_references(asked: Asked) -> Answer:
    """The papers of a search, or those named by their ids, as references."""
    queries.only(asked.body, {"format", "ids"} | queries.QUERY_KEYS)
    format = asked.body.get("format")
    if not isinstance(format, str) or format not in FORMATS:
        named = choosing.shorten(format)
        raise InputError(f"There is no export format {named}: choose one of {', '.join(FORMATS)}.")
    engine = asked.here.engine()
    if "ids" not in asked.body:
        results = searched(asked, engine, queries.read_query(asked.body, engine))
        return Answer(export(results, format), results.build_id, MEDIA[format])
    if asked.body.keys() - {"format", "ids"}:
        raise InputError("An export is of ids or of a search: leave one of them out.")
    return Answer(_cited(engine, asked.body["ids"], format), engine.manifest.build_id, MEDIA[format])


def _cited(engine: Engine, ids: Any, format: str) -> str:
    try:
        wanted = [saving.text_in(id, "id") for id in saving.list_in(ids, "ids", choosing.MOST_RESULTS)]
    except ValueError as error:
        raise InputError(f"The ids cannot be read ({error}): correct them.") from None
    for paper_id in wanted:
        _known(engine, paper_id)
    return write([Citation(found) for found in engine.store.papers(wanted)], format)


def health(asked: Asked) -> Answer:
    """The process is there."""
    return Answer({"status": "ok"})


def load(engine: Engine) -> None:
    """Reads a text, which loads what is otherwise loaded by the first question: the model, the splitter."""
    engine.read_text("We look whether a text can be read.")


def ready(asked: Asked) -> Answer:
    """A corpus is open and its model is loaded."""
    try:
        load(asked.here.engine())
    except TriptychError:
        raise Problem(503, "No corpus can be searched yet: the log says why.", {"Retry-After": "5"}) from None
    return Answer({"status": "ready"})
