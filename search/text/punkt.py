"""Punkt, the sentence splitter of nltk, without the rest, which brings all of SciPy: a second and 70 MB."""

from __future__ import annotations

import sys
import threading
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

_LOADING = threading.Lock()


def load() -> ModuleType:
    """The module `nltk.tokenize.punkt`; threads that come while it is loaded wait for it."""
    with _LOADING:
        return _load()


@cache
def _load() -> ModuleType:
    found = find_spec("nltk")
    if "nltk" in sys.modules or found is None:
        return import_module("nltk.tokenize.punkt")
    # An empty package of that name, for as long as it takes: who asks for nltk later gets all of it.
    package = ModuleType("nltk")
    package.__path__ = list(found.submodule_search_locations or ())
    sys.modules["nltk"] = package
    try:
        return import_module("nltk.tokenize.punkt")
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "nltk"]:
            del sys.modules[name]
