"""Search the literature by the part that matters: background, method or result."""

import importlib
from typing import TYPE_CHECKING, Any

from search.errors import TriptychError
from search.types import Facet, Filters, Matcher, Query, Results

if TYPE_CHECKING:
    from search.engine import Engine
    from search.exports import export
    from search.query.choosing import choose_facet, choose_sentences

__version__ = "0.9.0"
__all__ = [
    "Engine",
    "Facet",
    "Filters",
    "Matcher",
    "Query",
    "Results",
    "TriptychError",
    "choose_facet",
    "choose_sentences",
    "export",
]
_LATER = {
    "Engine": "search.engine",
    "choose_facet": "search.query.choosing",
    "choose_sentences": "search.query.choosing",
    "export": "search.exports",
}
"""Imported when first asked for: the engine's libraries take a second to load."""


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(importlib.import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
