"""Page one of a PDF as pypdfium2 sees it, to compare it with the library that the import uses."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from index_build.pdf import Line, read_pieces
from search.errors import InputError
from search.types import Paper

_END_OF_LINE = frozenset((0, 10, 13))
_HYPHEN = frozenset((0x2, 0xAD, 0xFFFE))
"""What the library gives for a hyphen at the end of a line."""
_SAME_SIZE = 0.05
"""Points by which type of one piece may differ."""


def read_pdf(data: bytes) -> Paper:
    """As `index_build.pdf.read_pdf`, with the pieces of the other library and the same rules behind them."""
    try:
        library, raw = import_module("pypdfium2"), import_module("pypdfium2.raw")
    except ImportError as error:
        raise InputError("pypdfium2 is not installed: run pip install pypdfium2.") from error
    file = library.PdfDocument(data)
    try:
        page = file[0]
        stated = file.get_metadata_value("Title")
        return read_pieces(list(_pieces(page.get_textpage(), raw)), stated, page.get_width())
    finally:
        file.close()


def _pieces(text_page: Any, raw: Any) -> Iterator[Line]:
    """Characters of one line and size, joined; a line end of the library ends a piece with one."""
    text, start, size = "", (0.0, 0.0), 0.0
    for index in range(text_page.count_chars()):
        code = raw.FPDFText_GetUnicode(text_page, index)
        if code in _END_OF_LINE:
            if text:
                yield Line(*start, round(size, 1), text)
            text = ""
            continue
        place, this = _origin(text_page, index, raw), _size(text_page, index, raw)
        if text and (abs(place[1] - start[1]) > size / 2 or abs(this - size) > _SAME_SIZE) and code != 32:
            yield Line(*start, round(size, 1), text)
            text = ""
        if not text:
            start, size = place, this
        text += "-" if code in _HYPHEN else chr(code)
    if text:
        yield Line(*start, round(size, 1), text)


def _origin(text_page: Any, index: int, raw: Any) -> tuple[float, float]:
    x, y = ctypes.c_double(), ctypes.c_double()
    raw.FPDFText_GetCharOrigin(text_page, index, x, y)
    return x.value, y.value


def _size(text_page: Any, index: int, raw: Any) -> float:
    """The size of the type on the page, with the scale of its matrix."""
    matrix = raw.FS_MATRIX()
    raw.FPDFText_GetMatrix(text_page, index, matrix)
    scale = max(abs(matrix.d), abs(matrix.b)) or 1.0
    return float(raw.FPDFText_GetFontSize(text_page, index) * scale)
