"""Search the literature by the part that matters: background, method or result."""

__version__ = "0.1.0"
