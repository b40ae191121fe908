"""The title and abstract of a paper from page one of its PDF: by font size, headings and columns."""

from __future__ import annotations

import io
import logging
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from pypdf import PageObject, PdfReader

from index_build.markup import in_one_line
from index_build.sources.records import arxiv_of, doi_of, name_paper
from search.errors import InputError
from search.sentences import parse_pasted
from search.types import Paper

logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what matters comes back as an exception

_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_HEADING = re.compile(
    r"\s*(?:abstract|a\s+b\s+s\s+t\s+r\s+a\s+c\s+t|summary)\s*(?:$|[.:—–-]+\s*(.*))", re.IGNORECASE
)
_BANNER = re.compile(
    r"\b(?:journal|proceedings|transactions|letters|elsevier|springer|ieee|vol(?:ume)?)\b", re.I
)
_AFTER = re.compile(
    r"\s*(?:key\s?words|index terms|ccs concepts|categories and subject|general terms|acm reference|"
    r"(?:[1iI]\s?[.:]?\s*)?introduction\s*$|corresponding author|©|copyright|\d\s+introduction\b)",
    re.IGNORECASE,
)
_MARKS = " *∗†‡§¶⋆"
_DOI = re.compile(r"(?:doi\s*[:.]?\s*|doi\.org/)(10\.\d{4,9}/\S+)", re.IGNORECASE)
_NO_TITLE = re.compile(r"microsoft word|untitled|\.(?:docx?|tex|dvi|pdf|indd)$|^arxiv:", re.IGNORECASE)
_SHORTEST_ABSTRACT = 40
"""Words from which a block of text without a heading may be the abstract."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the page, or the part of it in one column; the origin is at the lower left."""

    x: float
    y: float
    size: float
    text: str
    upright: bool = True


def read_pdf(data: bytes) -> Paper:
    """The paper with what page one says of it; InputError in one sentence if that is nothing."""
    reader = _open(data)
    try:
        page = reader.pages[0]
        pieces, width = _pieces(page), float(page.mediabox.width)
        stated = str((reader.metadata or {}).get("/Title") or "")
    except Exception as error:  # the library meets arbitrary bytes and may raise anything
        raise InputError(
            "The first page of this PDF is damaged: paste the title and abstract instead."
        ) from error
    lines = _in_reading_order([piece for piece in pieces if piece.upright], width)
    if not any(line.text.strip() for line in lines):
        raise InputError(
            "This PDF holds pictures of pages and no text: paste the title and abstract instead."
        )
    return _paper(lines, [piece.text for piece in pieces if not piece.upright], stated)


def _open(data: bytes) -> PdfReader:
    if b"%PDF-" not in data[:1024]:
        raise InputError("This file is not a PDF: choose a PDF, or paste the title and abstract.")
    try:
        reader = PdfReader(io.BytesIO(data))
        locked = reader.is_encrypted and not reader.decrypt("")
        empty = not locked and len(reader.pages) == 0
    except Exception as error:
        if b"/Encrypt" in data:
            raise InputError(
                "This PDF is locked and cannot be read: paste the title and abstract instead."
            ) from error
        raise InputError("This PDF is damaged and cannot be opened: download it again.") from error
    if locked:
        raise InputError("This PDF is locked with a password: save it without one, or paste the text.")
    if empty:
        raise InputError("This PDF has no pages: choose another file.")
    return reader


def _pieces(page: PageObject) -> list[Line]:
    """Stretches of text as the page draws them, with their place and size."""
    pieces: list[Line] = []

    def visit(
        text: str, matrix: Sequence[float], text_matrix: Sequence[float], font: Any, size: float
    ) -> None:
        a, b, c, d, e, f = matrix
        tx, ty = text_matrix[4], text_matrix[5]
        along = (text_matrix[0] * a + text_matrix[1] * c, text_matrix[0] * b + text_matrix[1] * d)
        scale = abs(text_matrix[2] * b + text_matrix[3] * d) or abs(along[0])
        if text.strip():
            upright = abs(along[0]) >= abs(along[1])
            place = (tx * a + ty * c + e, tx * b + ty * d + f)
            pieces.append(Line(*place, round(size * scale, 1), text, upright))

    page.extract_text(visitor_text=visit)
    return pieces


def _in_reading_order(pieces: list[Line], width: float) -> list[Line]:
    """Whole lines from the top: what is above the columns, then the left column, then the right one.

    The right column shows in that many lines begin at one place in the right half of the page.
    """
    right = _right_column(pieces, width)
    lines = _join(pieces, right)
    top = max((line.y for line in lines if abs(line.x - right) < 3), default=0.0)

    def part(line: Line) -> int:
        if line.y > top + 1:
            return 0
        return 2 if line.x >= right - 3 else 1

    return sorted(lines, key=lambda line: (part(line), -line.y))


def _right_column(pieces: list[Line], width: float) -> float:
    """Where the right column begins; beyond the page if there is none."""
    starts = Counter(round(piece.x) for piece in pieces if piece.x > 0.42 * width)
    place, count = starts.most_common(1)[0] if starts else (0, 0)
    return float(place) if count >= 5 else 2 * width


def _join(pieces: list[Line], right: float) -> list[Line]:
    """Pieces that follow each other on one line, joined; the library has put the spaces between them."""
    lines: list[Line] = []
    for piece in pieces:
        last = lines[-1] if lines else None
        if (
            last
            and abs(piece.y - last.y) < 0.6 * max(piece.size, last.size)
            and piece.x > last.x
            and not (last.x < right - 3 <= piece.x)
            and not last.text.endswith("\n")
        ):
            main = piece if len(piece.text) > len(last.text) else last
            lines[-1] = replace(last, y=main.y, size=main.size, text=last.text + piece.text)
        else:
            lines.append(piece)
    return lines


def _paper(lines: list[Line], margin: list[str], stated: str) -> Paper:
    heading = next((at for at, line in enumerate(lines) if _HEADING.match(line.text)), None)
    title_lines = _title(lines[:heading])
    title = " ".join(title_lines) or ("" if _NO_TITLE.search(stated) else stated)
    body = _abstract(lines, heading)
    text = "\n".join([title.strip(_MARKS), "", "Abstract", *body]).translate(_LIGATURES)
    title, abstract = map(in_one_line, parse_pasted(text))
    whole = " ".join([line.text for line in lines] + margin)
    doi = _DOI.search(whole)
    found = {
        "doi": doi_of(doi[1]) if doi else "",
        "arxiv": arxiv_of(next((t for t in margin if "arXiv:" in t), "")),
    }
    return Paper(
        id=name_paper("pdf:", title, abstract, **found),
        title=title,
        abstract=abstract,
        doi=found["doi"],
        arxiv_id=found["arxiv"],
        source="pdf",
    )


def _title(lines: list[Line]) -> list[str]:
    """The first run of lines in the largest type that has the words for a title and is not the journal's."""
    runs = [list(run) for _, run in groupby(lines, key=lambda line: round(line.size))]
    for run in sorted(runs, key=lambda run: -run[0].size):
        text = " ".join(line.text for line in run)
        banner = len(text.split()) < 7 and _BANNER.search(text)
        if len(text.split()) > 1 and len(text) <= 400 and not banner:
            return [line.text.strip() for line in run]
    return []


def _abstract(lines: list[Line], heading: int | None) -> list[str]:
    """The lines under the heading up to the next one; without a heading, the first long block."""
    if heading is None:
        blocks = (list(run) for _, run in groupby(lines, key=lambda line: line.size))
        texts = ([line.text for line in _until_next(block)] for block in blocks)
        return next((block for block in texts if len(" ".join(block).split()) >= _SHORTEST_ABSTRACT), [])
    match = _HEADING.match(lines[heading].text)
    rest = (match[1] if match else "") or ""
    return [rest, *(line.text for line in _until_next(lines[heading + 1 :]))]


def _until_next(lines: list[Line]) -> list[Line]:
    """Lines up to the first that begins another part: by its words, or by type larger than the text's."""
    size = lines[0].size if lines else 0.0
    for at, line in enumerate(lines):
        if _AFTER.match(line.text) or line.size > 1.15 * size:
            return lines[:at]
    return lines
