"""What Milvus has no type for, as text: 16-bit vectors, weighed terms, whole papers; long ones in parts."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.corpus.checksums import DamagedError
from search.corpus.store import tables
from search.references import pack
from search.types import FACETS, Paper

LONGEST = 65_532
"""Characters of one text field: Milvus takes 65,535, and four of these letters hold three bytes."""
MOST_PARTS = 64
"""Parts of one paper: 3 MB of vectors or of packed text, thousands of sentences."""
LARGEST = 2**26
"""Bytes that one paper may unpack to; ours have some thousand."""
_CODES = {facet: code for code, facet in enumerate(FACETS)}
_UNREADABLE = (ValueError, KeyError, TypeError, IndexError, struct.error, zlib.error, RecursionError)


@dataclass(frozen=True, slots=True)
class Vectors:
    """One paper in numbers."""

    whole: NDArray[np.float16]
    """[d]"""
    sentences: NDArray[np.float16]
    """[n, d]"""
    panels: NDArray[np.uint8]
    """[n]"""


def to_text(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def from_text(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError as error:
        raise damaged(error) from error


def damaged(error: Exception | str) -> DamagedError:
    return DamagedError(f"The server holds a paper that cannot be read ({error}); publish the corpus again.")


def parts_of(text: str) -> list[str]:
    """A text in pieces that fit a field; at least one."""
    pieces = [text[start : start + LONGEST] for start in range(0, len(text), LONGEST)] or [""]
    if len(pieces) > MOST_PARTS:
        raise ValueError(f"a paper of {len(text)} characters is longer than {MOST_PARTS} fields")
    return pieces


def pack_vectors(vectors: Vectors) -> str:
    """Panels [n] as bytes, then the whole paper [d] and its sentences [n, d] in 16 bits."""
    numbers = np.concatenate([vectors.whole, vectors.sentences.ravel()]).astype("<f2")
    return to_text(vectors.panels.tobytes() + numbers.tobytes())


def unpack_vectors(text: str, dimension: int) -> Vectors:
    content = from_text(text)
    count, rest = divmod(len(content) - 2 * dimension, 1 + 2 * dimension)
    if count < 1 or rest:
        raise damaged(f"{len(content)} bytes of vectors")
    numbers = np.frombuffer(content, "<f2", offset=count).reshape(1 + count, dimension)
    return Vectors(numbers[0], numbers[1:], np.frombuffer(content, np.uint8, count))


def pack_terms(terms: Mapping[int, float]) -> str:
    """Numbers of terms and their weights, for servers without sparse vectors."""
    numbers = np.fromiter(terms.keys(), "<u4", len(terms))
    weights = np.fromiter(terms.values(), "<f4", len(terms))
    return to_text(numbers.tobytes() + weights.tobytes())


def unpack_terms(text: str) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
    content = from_text(text)
    if len(content) % 8:
        raise damaged(f"{len(content)} bytes of terms")
    half = len(content) // 2
    return np.frombuffer(content[:half], "<u4"), np.frombuffer(content[half:], "<f4")


def pack_paper(paper: Paper, ids: Sequence[str]) -> str:
    """The paper with its labelled sentences, and the ids of all its records."""
    record = {name: getattr(paper, name) for name in ("id", *tables.FIELDS)}
    record["reference"] = pack(paper.reference)
    record["ids"] = list(ids)
    record["sentences"] = [
        (each.start, each.end, None if each.facet is None else _CODES[each.facet], each.hinted)
        for each in paper.sentences
    ]
    labels = np.array([each.probabilities for each in paper.sentences if each.probabilities], "<f2")
    record["labels"] = to_text(labels.tobytes()) if len(labels) == len(paper.sentences) else ""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return to_text(zlib.compress(text.encode("utf-8", "surrogatepass"), 6))


def unpack_paper(text: str) -> tuple[Paper, tuple[str, ...]]:
    """The paper and the ids of all its records."""
    try:
        record = _record(text)
        labels = np.frombuffer(from_text(record["labels"]), "<f2").astype(float).reshape(-1, len(FACETS))
        sentences = [
            {
                "first": int(first),
                "last": int(last),
                "facet": facet,
                "hinted": bool(hinted),
                "probabilities": labels[place].tolist() if len(labels) else [],
            }
            for place, (first, last, facet, hinted) in enumerate(record["sentences"])
        ]
        return tables.paper_of(record | {"sentences": sentences}), tuple(map(str, record["ids"]))
    except _UNREADABLE as error:
        raise damaged(repr(error)[:200]) from error


def _record(text: str) -> dict[str, Any]:
    unpacking = zlib.decompressobj()
    content = unpacking.decompress(from_text(text), LARGEST)
    if not unpacking.eof:
        raise ValueError("it does not end")
    record = json.loads(content.decode("utf-8", "surrogatepass"))
    for name in ("id", *tables.FIELDS):
        wanted: Any = str
        if name in ("authors", "fields"):
            wanted = list
        elif name == "year":
            wanted = int | None
        if not isinstance(record[name], wanted):
            raise TypeError(f"{name} is {record[name]!r}"[:80])
    return dict(record)
