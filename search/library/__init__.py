"""Kept papers: named lists with notes and tags, and the file they travel in."""

from search.library.store import Library

__all__ = ["Library"]
