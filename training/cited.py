"""Pairs of papers that citations link, and which of them are never learned from."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from training.papers import COCITED, Cocited, read_cocited

COMPANY = 3
"""Most papers a sentence may cite for two of them to count as co-cited."""
TESTS, AMONG = 300, 1000
"""Held-out pairs that are scored, each among so many papers."""


def is_held_out(paper: str) -> bool:
    """Papers whose citations are only scored: about one in twelve, chosen by the id alone."""
    return hashlib.sha256(paper.encode()).digest()[0] < 21


def may_learn(*papers: str) -> bool:
    return not any(is_held_out(paper) for paper in papers)


def read_few_cocited(data: Path) -> list[Cocited]:
    """Pairs that a sentence with few citations names: the others are hardly alike."""
    return [pair for pair in read_cocited(data / COCITED) if pair.company <= COMPANY]


def held_out(pairs: Sequence[Cocited]) -> list[Cocited]:
    """Pairs that are only scored, a held-out paper first: it asks for the other."""
    return [
        pair if is_held_out(pair.first) else replace(pair, first=pair.second, second=pair.first)
        for pair in pairs
        if not may_learn(pair.first, pair.second)
    ]


def read_partners(data: Path) -> Mapping[str, set[str]]:
    """Paper -> all papers it is co-cited with, in however crowded a sentence."""
    partners = defaultdict(set)
    for pair in read_cocited(data / COCITED):
        partners[pair.first].add(pair.second)
        partners[pair.second].add(pair.first)
    return partners
