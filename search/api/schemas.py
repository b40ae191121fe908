"""The values that go in and out, as JSON Schema 2020-12; outgoing ones are those of `search/printing.py`."""

from __future__ import annotations

from typing import Any

from search.exports import FORMATS
from search.query.choosing import HIGHEST_WEIGHT, MOST_PAPERS, MOST_RESULTS, MOST_SENTENCES
from search.query.saving import LATEST_YEAR, MOST_IN_A_FILTER
from search.types import FACETS, PANELS, Choice, Likeness, Matcher

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer"}
TRUTH: Schema = {"type": "boolean"}
COUNTS: Schema = {"type": ["boolean", "number"]}
PANEL: Schema = {"type": "string", "enum": [panel.value for panel in PANELS]}
FACET: Schema = {"enum": [*(facet.value for facet in FACETS), None]}
MATCHER: Schema = {"enum": [*(matcher.value for matcher in Matcher), None]}
TOP: Schema = {"type": "integer", "minimum": 1, "maximum": MOST_RESULTS}


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def listed(of: Schema, **limits: int) -> Schema:
    return {"type": "array", "items": of, **limits}


def given(needed: tuple[str, ...] = (), **properties: Schema) -> Schema:
    """What a client sends: a name that is not known is refused."""
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        **({"required": list(needed)} if needed else {}),
    }


def answered(**properties: Schema) -> Schema:
    """What the server sends: all fields are there, and later versions may add some."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def counts() -> Schema:
    return {"type": "object", "additionalProperties": WHOLE}


_YEAR: Schema = {"type": ["integer", "null"], "minimum": 0, "maximum": LATEST_YEAR}
_NAMES = listed(TEXT, maxItems=MOST_IN_A_FILTER)
_HEADING: dict[str, Schema] = {
    "id": TEXT,
    "title": TEXT,
    "authors": listed(TEXT),
    "year": {"type": ["integer", "null"]},
    "venue": TEXT,
    "fields": listed(TEXT),
    "doi": TEXT,
    "arxiv_id": TEXT,
    "pmid": TEXT,
    "url": TEXT,
}
_QUERY: dict[str, Schema] = {
    "papers": listed(ref("QueryPaper"), minItems=1, maxItems=MOST_PAPERS),
    "matcher": MATCHER,
    "filters": ref("Filters"),
    "top": TOP | {"default": 20},
}
_NUMBERS = listed({"type": "integer", "minimum": 1}, maxItems=MOST_SENTENCES)

SENT: dict[str, Schema] = {
    "Text": given(text=TEXT, title=TEXT, abstract=TEXT),
    "QuerySentence": given(
        number=WHOLE,
        text=TEXT,
        facet=FACET,
        or_facet=FACET,
        choice={"type": "string", "enum": [choice.value for choice in Choice]},
        weight={"type": "number", "minimum": 0, "maximum": HIGHEST_WEIGHT},
    ),
    "QueryPaper": given(
        id=TEXT,
        text=TEXT,
        title=TEXT,
        abstract=TEXT,
        sentences=listed(ref("QuerySentence"), maxItems=MOST_SENTENCES),
        facet=PANEL,
        match=_NUMBERS,
        avoid={"anyOf": [PANEL, _NUMBERS]},
    )
    | {
        "description": "An `id` of the corpus, a `text`, a `title` with an `abstract`, or `sentences` as "
        "/read gives them; then which of them to match (`facet`, or their numbers in `match`) and to `avoid`."
    },
    "Filters": given(
        year_from=_YEAR,
        year_to=_YEAR,
        venues=_NAMES,
        fields=_NAMES,
        sources=_NAMES,
        ids={"anyOf": [_NAMES, {"type": "null"}]},
        has_doi=TRUTH,
        origins=_NAMES,
    ),
    "Search": given(
        ("papers",), **_QUERY, per_page=TOP, cursor=TEXT | {"description": "`next` of the page before"}
    ),
    "TriptychOf": given(
        ("paper",), paper=ref("QueryPaper"), matcher=MATCHER, filters=ref("Filters"), top=TOP | {"default": 8}
    ),
    "TopicOf": given(("topic",), topic=TEXT, filters=ref("Filters"), top=TOP | {"default": 10}),
    "Export": given(
        ("format",),
        format={"type": "string", "enum": list(FORMATS)},
        ids=listed(TEXT, maxItems=MOST_RESULTS),
        **_QUERY,
    ),
    "NewSearch": given(("name", "papers"), name=TEXT | {"minLength": 1, "maxLength": 120}, **_QUERY),
}

_UNDERSTOOD = answered(
    id=TEXT,
    title=TEXT,
    sentences=listed(
        answered(number=WHOLE, text=TEXT, facet=FACET, choice=TEXT, weight=NUMBER, or_facet=FACET)
    ),
)
_ASKED = answered(papers=listed(_UNDERSTOOD), matcher=MATCHER, filters={"type": "object"}, top=WHOLE)
_PAIR = answered(
    query_paper=WHOLE,
    query_sentence=WHOLE,
    query_text=TEXT,
    query_facet=FACET,
    sentence=WHOLE,
    text=TEXT,
    facet=FACET,
    similarity=NUMBER,
    share=NUMBER,
    shared_terms=listed(TEXT),
    near_terms=listed(listed(TEXT)),
)
_EVIDENCE = answered(
    sentences=NUMBER,
    whole_paper=NUMBER,
    words=NUMBER,
    avoided=NUMBER,
    whole_counts={"type": ["boolean", "number"]},
)
_RESULT = answered(
    rank=WHOLE,
    **_HEADING,
    score=NUMBER,
    likeness={"type": "string", "enum": [word.value for word in Likeness]},
    reason=TEXT,
    evidence=_EVIDENCE,
    pairs=listed(_PAIR),
    duplicates=listed(TEXT),
)
_RANKING: dict[str, Schema] = {
    "schema": WHOLE,
    "build": TEXT,
    "query": _ASKED,
    "candidates": WHOLE,
    "lacking": answered(rare=listed(TEXT), unknown=NUMBER),
    "covered": NUMBER,
    "seconds": {"type": "object", "additionalProperties": NUMBER},
    "results": listed(_RESULT),
}
_PANELS: Schema = {
    "type": "object",
    "properties": {panel.value: answered(**_RANKING) for panel in PANELS},
}
_TOPIC_PANEL = answered(
    sentences=listed(answered(id=TEXT, text=TEXT, similarity=NUMBER)),
    terms=listed(answered(text=TEXT, papers=WHOLE)),
)
_SENTENCE = answered(number=WHOLE, text=TEXT, facet=FACET)

GIVEN_BACK: dict[str, Schema] = {
    "Status": answered(status=TEXT),
    "Corpus": answered(
        schema=WHOLE,
        build=TEXT,
        created=TEXT,
        software=TEXT,
        papers=WHOLE,
        sentences=WHOLE,
        models={"type": "object", "additionalProperties": TEXT},
        years={"type": "object", "additionalProperties": {"type": ["integer", "null"]}},
        fields=counts(),
        venues=counts(),
        sources=counts(),
        origins=counts(),
        facets={"type": "object", "additionalProperties": NUMBER},
        licence=TEXT,
        notice=TEXT,
    ),
    "Read": answered(build=TEXT, paper=_UNDERSTOOD),
    "Results": answered(**_RANKING, next={"type": ["string", "null"]}),
    "OnePaper": answered(
        build=TEXT,
        paper=answered(
            **_HEADING, abstract=TEXT, source=TEXT, sentences=listed(_SENTENCE), reference={"type": "object"}
        ),
    ),
    "FoundPapers": answered(build=TEXT, papers=listed(answered(**_HEADING))),
    "Triptych": answered(build=TEXT, panels=_PANELS),
    "Topic": answered(
        build=TEXT,
        related=WHOLE,
        bounded=TRUTH,
        papers=listed(answered(**_HEADING)),
        panels={"type": "object", "additionalProperties": _TOPIC_PANEL},
        clusters=listed(answered(name=TEXT, papers=listed(TEXT))),
    ),
    "KeptSearch": answered(id=TEXT, name=TEXT, title=TEXT, last_used=TEXT, query=_ASKED),
    "KeptSearches": answered(searches=listed(ref("KeptSearch"))),
    "Problem": answered(type=TEXT, title=TEXT, status=WHOLE, detail=TEXT),
}
SCHEMAS = SENT | GIVEN_BACK
