"""How long a line of some megabytes takes to read, by field and by what it is filled with."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from index_build.sources import read_bytes

SIZES = (500_000, 1_000_000, 2_000_000)
"""Bytes of a line, each twice the one before."""
MOST_SECONDS = 2.0
"""Seconds that a megabyte may take."""
FIELDS = ("title", "abstract", "author", "keywords", "journal", "doi", "note")
FILLS = {
    "words": "rain falls in the hills. ",
    "one word": "a",
    "names": "Author, Ada and Bee, B. and ",
    "commas": "rain, ",
    "accents": r"{\'e}\~{n}\"o ",
    "formulas": r"$x_{i}^{2}$ and $\frac{a}{b}$ ",
    "open braces in pairs": "{{a}} {b{c}} ",
    "tags": "<i>rain</i> &lt;b&gt; ",
    "open tags": "<i>",
    "backslashes": "\\",
    "dollars": "$ ",
    "hyphens": "a-",
    "spaces": " ",
}
"""What the line is filled with."""


@dataclass(frozen=True, slots=True)
class Row:
    """The seconds a megabyte of one field took, by size; of the processor, so that others do not count."""

    field: str
    fill: str
    seconds: tuple[float, ...]

    @property
    def is_linear(self) -> bool:
        """Whether a megabyte takes at most half as long again in the largest as in the smallest."""
        return self.seconds[-1] < MOST_SECONDS and self.seconds[-1] < 1.5 * self.seconds[0] + 0.1

    def __str__(self) -> str:
        figures = " | ".join(f"{each:.2f}" for each in self.seconds)
        return f"| {self.field} | {self.fill} | {figures} | {'yes' if self.is_linear else 'NO'} |"


def entry(field: str, fill: str, size: int) -> bytes:
    """A BibTeX entry on one line, with so many bytes in one field."""
    value = (fill * (size // len(fill) + 1))[:size].rstrip("{<\\")
    balanced = value + "}" * (value.count("{") - value.count("}"))
    rest = "" if field == "title" else "title = {Rain}, "
    return f"@article{{key, {rest}{field} = {{{balanced}}}, year = 2020}}\n".encode()


def seconds_for(data: bytes) -> float:
    started = time.process_time()
    items = list(read_bytes(data, "file.bib"))
    seconds = time.process_time() - started
    assert items, "nothing was said of the file"
    return seconds


def measure(sizes: tuple[int, ...] = SIZES) -> Iterator[Row]:
    seconds_for(entry("title", "rain ", 1000))  # what is loaded once is not counted
    for field in FIELDS:
        for name, fill in FILLS.items():
            yield Row(
                field, name, tuple(seconds_for(entry(field, fill, size)) / (size / 1e6) for size in sizes)
            )
