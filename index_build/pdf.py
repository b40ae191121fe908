"""The title and abstract of a paper from page one of its PDF: by font size, headings and columns."""

from __future__ import annotations

import io
import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from pypdf import PageObject, PdfReader
from pypdf.errors import LimitReachedError

from index_build.markup import in_one_line
from index_build.sources.records import arxiv_of, doi_of, name_paper
from search.errors import InputError
from search.text.pasted import parse_pasted, unwrap
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
_DOI = re.compile(r"(?:doi\s*+(?:[:.]\s*+)?|doi\.org/)(10\.\d{4,9}/\S+)", re.IGNORECASE)
_NO_TITLE = re.compile(r"microsoft word|untitled|\.(?:docx?|tex|dvi|pdf|indd)$|^arxiv:", re.IGNORECASE)
_SHORTEST_ABSTRACT = 40
"""Words from which a block of text without a heading may be the abstract; chosen by hand."""
_RIGHT_HALF, _LINES_OF_A_COLUMN = 0.42, 5
"""A right column begins at least this fraction of the page's width from the left, and at least this many
pieces of text begin at the same place. Chosen by hand."""
_SAME_PLACE = 3
"""Points (1/72 inch) by which the beginnings of lines in one column may differ; chosen by hand."""
_SAME_LINE = 0.6
"""Fraction of the type size by which the heights of pieces on one line may differ; chosen by hand."""
_MOST_PIECES = 20_000
"""Pieces of text that are read of a page; a full one has some thousands. Chosen by hand."""
_LONGEST_PAGE = 100_000
"""Characters of title and abstract that are read; a full page has some 10,000. Chosen by hand."""
_BANNER_WORDS, _LONGEST_TITLE = 7, 400
"""A line of fewer words may be the journal's banner; a title has at most this many characters. Chosen by
hand."""
_RIGHT_OF_A_BOX = 0.2
"""An abstract that begins further to the right than this fraction of the page may have a box of notes to its
left. Chosen by hand."""
_GAP = 1.75
"""Type sizes from one line to the next beyond which a new paragraph begins; chosen by hand."""
_SMALLEST_CAPITALS, _LARGEST_CAPITALS = 0.65, 0.85
"""Small capitals are between these fractions of the type size of the large ones; 0.7 to 0.8 is usual."""
_LARGER = 1.15
"""Type this many times as large as that of the text is a heading; chosen by hand."""


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
    except MemoryError:
        raise  # whoever set the limit tells of it
    except LimitReachedError as error:
        raise InputError(
            "The first page of this PDF is too large to be read: paste the title and abstract instead."
        ) from error
    except Exception as error:  # the library meets arbitrary bytes and may raise anything
        raise InputError(
            "The first page of this PDF is damaged: paste the title and abstract instead."
        ) from error
    return read_pieces(pieces, stated, width)


def read_pieces(pieces: list[Line], stated: str, width: float) -> Paper:
    """The same from the pieces of page one, the title that the file states, and the width of the page."""
    lines = _in_reading_order([piece for piece in pieces if piece.upright], width)
    if not any(line.text.strip() for line in lines):
        raise InputError(
            "This PDF holds pictures of pages and no text: paste the title and abstract instead."
        )
    return _paper(lines, [piece.text for piece in pieces if not piece.upright], stated, width)


def _open(data: bytes) -> PdfReader:
    if b"%PDF-" not in data[:1024]:
        raise InputError("This file is not a PDF: choose a PDF, or paste the title and abstract.")
    try:
        reader = PdfReader(io.BytesIO(data))
        locked = reader.is_encrypted and not reader.decrypt("")
        empty = not locked and len(reader.pages) == 0
    except MemoryError:
        raise
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
        if len(pieces) == _MOST_PIECES:
            raise _EnoughError

    with suppress(_EnoughError):
        page.extract_text(visitor_text=visit)
    return pieces


class _EnoughError(Exception):
    """A page has more pieces of text than are read."""


def _in_reading_order(pieces: list[Line], width: float) -> list[Line]:
    """Whole lines from the top: what is above the columns, then the left column, then the right one.

    The right column shows in that many lines begin at one place in the right half of the page.
    """
    right = _right_column(pieces, width)
    lines = _join(pieces, right)
    top = max((line.y for line in lines if abs(line.x - right) < _SAME_PLACE), default=0.0)

    def part(line: Line) -> int:
        if line.y > top + 1:
            return 0
        return 2 if line.x >= right - _SAME_PLACE else 1

    return sorted(lines, key=lambda line: (part(line), -line.y))


def _right_column(pieces: list[Line], width: float) -> float:
    """Where the right column begins; beyond the page if there is none."""
    starts = Counter(round(piece.x) for piece in pieces if piece.x > _RIGHT_HALF * width)
    place, count = starts.most_common(1)[0] if starts else (0, 0)
    return float(place) if count >= _LINES_OF_A_COLUMN else 2 * width


def _join(pieces: list[Line], right: float) -> list[Line]:
    """Pieces that follow each other on one line, joined; the library has put the spaces between them."""
    lines: list[Line] = []
    started = Line(0, 0, 0, "")
    for piece in pieces:
        last = lines[-1] if lines else None
        if (
            last
            and abs(piece.y - last.y) < _SAME_LINE * max(piece.size, last.size)
            and piece.x > last.x
            and not _begins_right_column(last, piece, right, _is_small_capitals(last, started, piece))
            and not last.text.endswith("\n")
        ):
            lines[-1] = _joined(last, piece, started)
            started = piece
        else:
            lines.append(piece)
            started = piece
    return lines


def _begins_right_column(line: Line, piece: Line, right: float, capitals: bool) -> bool:
    """Whether a piece is the first of the right column; a title in capitals may go beyond its edge."""
    if capitals:
        return line.x < right and abs(piece.x - right) < _SAME_PLACE
    return line.x < right - _SAME_PLACE <= piece.x


def _joined(line: Line, piece: Line, before: Line) -> Line:
    """The line with the next piece of it, which follows the piece `before`."""
    if _is_small_capitals(line, before, piece):
        added = f" {piece.text}" if before.size == piece.size else piece.text.removeprefix(" ")
        return replace(line, size=max(line.size, piece.size), text=line.text + added)
    main = piece if len(piece.text) > len(line.text) else line
    return replace(line, y=main.y, size=main.size, text=line.text + piece.text)


def _is_small_capitals(line: Line, before: Line, piece: Line) -> bool:
    """Whether a piece goes on with a line in capitals of two sizes.

    There, the library puts a space where the size changes, also within a word, and none between words of
    one size.
    """
    if before.y != piece.y or (before.text + piece.text).upper() != before.text + piece.text:
        return False
    large, small = max(line.size, piece.size), min(before.size, piece.size)
    return _SMALLEST_CAPITALS * large <= small < _LARGEST_CAPITALS * large


def _paper(lines: list[Line], margin: list[str], stated: str, width: float) -> Paper:
    heading = next((at for at, line in enumerate(lines) if _HEADING.match(line.text)), None)
    title_lines = _title(lines[:heading])
    title = "\n".join(title_lines) or ("" if _NO_TITLE.search(stated) else stated)
    body = _abstract(_beside_no_box(lines, heading, width), heading)
    text = "\n".join(body).translate(_LIGATURES)
    title = in_one_line(unwrap(title.strip(_MARKS).translate(_LIGATURES)))
    abstract = in_one_line(parse_pasted(f"\n\nAbstract\n{text}"[:_LONGEST_PAGE])[1])
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
        banner = len(text.split()) < _BANNER_WORDS and _BANNER.search(text)
        if len(text.split()) > 1 and len(text) <= _LONGEST_TITLE and not banner:
            return [line.text.strip() for line in [*run, *_more_capitals(lines, run)]]
    return []


def _more_capitals(lines: list[Line], run: list[Line]) -> Iterator[Line]:
    """The lines that go on with a title in small capitals and have no large one."""
    last = run[-1]
    for line in lines[lines.index(last) + 1 :]:
        near = 0 < last.y - line.y < _GAP * run[0].size
        if not (near and last.text.isupper() and line.text.isupper()):
            return
        if not _SMALLEST_CAPITALS * run[0].size <= line.size < _LARGEST_CAPITALS * run[0].size:
            return
        yield line
        last = line


def _abstract(lines: list[Line], heading: int | None) -> list[str]:
    """The lines under the heading up to the next one; without a heading, the first long block."""
    if heading is None:
        texts = ([line.text for line in _until_next(block)] for block in _paragraphs(lines))
        return next((block for block in texts if len(" ".join(block).split()) >= _SHORTEST_ABSTRACT), [])
    match = _HEADING.match(lines[heading].text)
    rest = (match[1] if match else "") or ""
    return [rest, *(line.text for line in _until_next(lines[heading + 1 :]))]


def _beside_no_box(lines: list[Line], heading: int | None, width: float) -> list[Line]:
    """The lines without a box of notes to the left of an abstract whose lines begin below its heading."""
    if heading is None or lines[heading].x < _RIGHT_OF_A_BOX * width:
        return lines
    left, top = lines[heading].x, lines[heading].y
    below = [line for line in lines[heading:] if abs(line.x - left) < _SAME_PLACE]
    if len(below) < _LINES_OF_A_COLUMN:
        return lines
    bottom = min(line.y for line in below)
    return [
        line
        for at, line in enumerate(lines)
        if at <= heading or line.x > left - _SAME_PLACE or not bottom <= line.y <= top
    ]


def _paragraphs(lines: list[Line]) -> Iterator[list[Line]]:
    """Runs of lines of one size without a gap between them; a new column goes on with the old one."""
    run: list[Line] = []
    for line in lines:
        if run and (line.size != run[-1].size or run[-1].y - line.y > _GAP * line.size):
            yield run
            run = []
        run.append(line)
    if run:
        yield run


def _until_next(lines: list[Line]) -> list[Line]:
    """Lines up to the first that begins another part: by its words, or by type larger than the text's."""
    size = lines[0].size if lines else 0.0
    for at, line in enumerate(lines):
        if _AFTER.match(line.text) or line.size > _LARGER * size:
            return lines[:at]
    return lines
