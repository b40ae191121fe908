"""Every operation of the API, once: the routes and the OpenAPI document are both made from this table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from search.api import answers, kept
from search.api.exchange import Answer, Asked
from search.exports import FORMATS
from search.query.choosing import MOST_RESULTS
from search.types import PANELS


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    description: str
    schema: dict[str, Any]
    required: bool = False
    place: str = "query"


@dataclass(frozen=True, slots=True)
class Operation:
    method: str
    path: str
    name: str
    summary: str
    answer: Callable[[Asked], Answer]
    gives: str = ""
    """The name of a schema; empty where `media` says all."""
    takes: str = ""
    """The name of the body's schema; empty where there is no body."""
    parameters: tuple[Parameter, ...] = ()
    status: int = 200
    media: tuple[str, ...] = ("application/json",)
    errors: tuple[int, ...] = ()
    """Statuses of refusals besides those that every operation may answer with."""
    needs_key: bool = True
    tagged: bool = True
    """Whether the answer has an ETag, and an unchanged one is not sent again."""


_ID = Parameter("id", "The id of a paper", {"type": "string", "minLength": 1}, required=True)
_TOP = Parameter(
    "top",
    "How many papers",
    {"type": "integer", "minimum": 1, "maximum": MOST_RESULTS, "default": 20},
)
_PER_PAGE = Parameter(
    "per_page",
    "How many of them at once; by default all",
    {"type": "integer", "minimum": 1, "maximum": MOST_RESULTS},
)
_CURSOR = Parameter("cursor", "`next` of the page before", {"type": "string"})
_SEARCH = Parameter("search", "The id of a kept search", {"type": "string", "minLength": 1}, True, "path")
_FACET = Parameter("facet", "By which facet; by default by all sentences", {"enum": list(map(str, PANELS))})
_FIND = Parameter(
    "find",
    "A title, authors and year, a DOI, or a web address",
    {"type": "string", "minLength": 1},
    required=True,
)
_FOUND = Parameter(
    "top",
    "How many papers",
    {"type": "integer", "minimum": 1, "maximum": answers.MOST_LOOKED_UP, "default": 20},
)
BODY = (413, 415)
"""Refusals of what has a body: larger than MOST_BYTES, or not JSON."""

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "GET", "/corpus", "corpus", "Scope, size, date, build, models and licence", answers.corpus, "Corpus"
    ),
    Operation(
        "POST", "/read", "read", "A text as labelled sentences", answers.read, "Read", "Text", errors=BODY
    ),
    Operation(
        "POST",
        "/search",
        "search",
        "The papers nearest to what is chosen, each with its evidence",
        answers.search,
        "Results",
        "Search",
        errors=(*BODY, 410),
    ),
    Operation(
        "GET",
        "/neighbours",
        "neighbours",
        "The papers nearest to one of the corpus, by a facet",
        answers.neighbours,
        "Results",
        parameters=(_ID, _FACET, _TOP, _PER_PAGE, _CURSOR),
        errors=(404, 410),
    ),
    Operation(
        "GET",
        "/paper",
        "paper",
        "A paper with its labelled sentences",
        answers.paper,
        "OnePaper",
        parameters=(_ID,),
        errors=(404,),
    ),
    Operation(
        "GET",
        "/papers",
        "papers",
        "Papers looked up by title, author, year, DOI or address",
        answers.papers,
        "FoundPapers",
        parameters=(_FIND, _FOUND),
    ),
    Operation(
        "POST",
        "/triptych",
        "triptych",
        "The nearest by background, by method and by result",
        answers.triptych,
        "Triptych",
        "TriptychOf",
        errors=BODY,
    ),
    Operation(
        "POST",
        "/explore",
        "explore",
        "The papers of a topic: sentences and terms by panel, clusters",
        answers.explore,
        "Topic",
        "TopicOf",
        errors=BODY,
    ),
    Operation(
        "POST",
        "/export",
        "export",
        f"References with the reasons as notes: {', '.join(FORMATS)}",
        answers.export_references,
        takes="Export",
        media=tuple(answers.MEDIA.values()),
        errors=(*BODY, 404),
    ),
    Operation(
        "GET", "/searches", "searches", "The kept searches", kept.searches, "KeptSearches", errors=(403,)
    ),
    Operation(
        "POST",
        "/searches",
        "keep",
        "Keep a search by a name",
        kept.keep_search,
        "KeptSearch",
        "NewSearch",
        status=201,
        errors=(*BODY, 403),
        tagged=False,
    ),
    Operation(
        "GET",
        "/searches/{search}",
        "kept",
        "One kept search",
        kept.kept_search,
        "KeptSearch",
        parameters=(_SEARCH,),
        errors=(403, 404),
    ),
    Operation(
        "DELETE",
        "/searches/{search}",
        "forget",
        "Forget a kept search",
        kept.forget_search,
        parameters=(_SEARCH,),
        status=204,
        media=(),
        errors=(403, 404),
        tagged=False,
    ),
    Operation(
        "GET",
        "/searches/{search}/results",
        "run",
        "A kept search, run on the build of today",
        kept.run_search,
        "Results",
        parameters=(_SEARCH, _PER_PAGE, _CURSOR),
        errors=(403, 404, 410),
    ),
    Operation(
        "GET",
        "/health",
        "health",
        "The process is there",
        answers.health,
        "Status",
        needs_key=False,
        tagged=False,
    ),
    Operation(
        "GET",
        "/feeds/{search}",
        "feed",
        "What is new for a kept search, as Atom; the address is a secret and needs no key",
        kept.atom,
        parameters=(_SEARCH,),
        media=(kept.ATOM,),
        errors=(403, 404),
        needs_key=False,
    ),
    Operation(
        "GET",
        "/ready",
        "ready",
        "A corpus is open and its model loaded",
        answers.ready,
        "Status",
        needs_key=False,
        tagged=False,
    ),
)
