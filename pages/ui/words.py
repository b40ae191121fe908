"""Numbers as a reader says them."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """ "1 paper", "1,204 papers"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
