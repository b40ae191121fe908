# ruff: noqa: E501  pages are long lines of markup
"""Titles and abstracts that are read from PDFs, beside those the PDFs were typeset from, layout by layout."""

from __future__ import annotations

import argparse
import gzip
import html
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path
from statistics import mean
from typing import Any

from evaluation import pdfium
from index_build.pdf import read_pdf
from search.errors import InputError

FILE = "acl_anthology.jsonl.gz"
_BODY = (
    "Rain has been observed for a long time, and the classification of drops remains difficult. "
    "We describe the data, the office windows and the efficient procedure by which we find them. "
) * 30
_PAGE = "@page {size: letter; margin: 20mm 18mm}" + (
    "body {font: 10pt/1.25 'Liberation Serif'; hyphens: auto; text-align: justify; margin: 0;"
    " font-variant-ligatures: common-ligatures} h1 {font-size: 17pt; text-align: center; hyphens: none}"
    " h2 {font-size: 12pt; text-align: left} .by, .head {text-align: center; hyphens: none}"
    " .head {font-size: 8pt} .columns {column-count: 2; column-gap: 7mm}"
)


READERS = {"pypdf": read_pdf, "pypdfium2": pdfium.read_pdf}


@dataclass(frozen=True, slots=True)
class Layout:
    """How a first page is set: styles beside the usual ones, and the page with {title} and {abstract}."""

    style: str
    page: str


_BY = (
    '<p class="by">Ada Author<sup>1</sup> and Benjamin Bee<sup>2</sup><br>'
    "<sup>1</sup>Institute of Weather, University of Rain<br>ada@example.org</p>"
)
_REST = f"<h2>1 Introduction</h2><p>{_BODY}</p>"
_COLUMNS = f'<div class="columns"><h2>Abstract</h2><p>{{abstract}}</p>{_REST}</div>'
LAYOUTS = {
    "one column": Layout("", f"<h1>{{title}}</h1>{_BY}<h2>Abstract</h2><p>{{abstract}}</p>{_REST}"),
    "two columns": Layout("", f"<h1>{{title}}</h1>{_BY}{_COLUMNS}"),
    "header and footer": Layout(
        ".foot {position: fixed; bottom: 0; font-size: 8pt}",
        '<p class="head">Proceedings of the Conference on Weather, pages 10–19, May 3–5, 2020</p>'
        f'<h1>{{title}}</h1>{_BY}{_COLUMNS}<p class="foot">10 — © 2020 Rain Press</p>',
    ),
    "narrow title": Layout("h1 {width: 60%; margin: 0 auto}", f"<h1>{{title}}</h1>{_BY}{_COLUMNS}"),
    "small capitals": Layout("h1 {font-variant: small-caps}", f"<h1>{{title}}</h1>{_BY}{_COLUMNS}"),
    "sans, ragged": Layout(
        "body {font-family: 'Liberation Sans'; text-align: left} h1 {text-align: left}",
        f'<p class="head">Journal of Weather 7 (2020) 10–19</p><h1>{{title}}</h1>{_BY}'
        f"<h2>Abstract</h2><p>{{abstract}}</p><p>Keywords: rain, snow</p>{_REST}",
    ),
    "inline heading": Layout(
        ".a {font-weight: bold; font-size: 9pt}",
        f'<h1>{{title}}</h1>{_BY}<div class="columns"><p class="a"><i>Abstract</i>—{{abstract}}</p>'
        f'<p class="a"><i>Index Terms</i>—rain, snow</p>{_REST}</div>',
    ),
    "spaced heading": Layout(
        ".s {letter-spacing: 4pt; font-size: 9pt}",
        f'<h1>{{title}}</h1>{_BY}<p class="s">ABSTRACT</p><p>{{abstract}}</p>{_REST}',
    ),
    "no heading": Layout(
        ".a {font-weight: bold}", f'<h1>{{title}}</h1>{_BY}<p class="a">{{abstract}}</p><div class="columns">{_REST}</div>'
    ),
    "stamp": Layout(
        ".stamp {position: fixed; left: -12mm; top: 120mm; transform: rotate(-90deg); font-size: 16pt;"
        " white-space: nowrap; width: 0}",
        f'<div class="stamp">arXiv:2005.00001v2 [cs.CL] 3 May 2020</div><h1>{{title}}</h1>{_BY}{_COLUMNS}',
    ),
    "abstract in a box": Layout(
        ".box {margin: 0 25mm; font-size: 9pt} .box h2 {text-align: center; font-size: 10pt}",
        f'<h1>{{title}}</h1>{_BY}<div class="box"><h2>Abstract</h2><p>{{abstract}}</p></div>'
        f'<div class="columns">{_REST}</div>',
    ),
    "journal banner": Layout(
        ".banner {font-size: 22pt; text-align: left} .side {float: left; width: 45mm; font-size: 8pt;"
        " text-align: left; hyphens: none; margin-right: 6mm} .beside {overflow: hidden}",
        f'<p class="banner">Journal of Weather</p><h1>{{title}}</h1>{_BY}<div class="side">ARTICLE INFO<br>'
        "Received 1 May 2020<br>Keywords:<br>rain<br>snow</div><div class='beside'><h2>Abstract</h2><p>{abstract}</p></div>"
        f'<div style="clear: both">{_REST}</div>',
    ),
}  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--papers", type=int, default=3, help="papers to typeset in each layout")
    parser.add_argument(
        "--texts", type=Path, metavar="FILE", help=f"gzipped JSONL with the texts (default: {FILE})"
    )
    parser.add_argument(
        "--keep", type=Path, metavar="DIR", help="keep the PDFs there, and read those there are"
    )

    parser.add_argument("--reader", choices=sorted(READERS), default="pypdf", help="the library beneath")
    parser.add_argument("--show", action="store_true", help="show where what was read differs")


def run(args: argparse.Namespace) -> int:
    """Print a line for each layout and one for all."""
    rows = list(_measure(args))
    print(f"{'layout':<20} {'titles':>8} {'abstracts':>10} {'similarity':>11} {'seconds':>8}")
    for layout in LAYOUTS:
        _print(layout, [row for row in rows if row.layout == layout])
    _print("all", rows)
    return 0


@dataclass(frozen=True, slots=True)
class Row:
    layout: str
    title: bool
    """Whether it is right to the letter, but for capitals."""
    similarity: float
    """Of the abstracts, 0 to 1."""
    seconds: float


def _print(name: str, rows: list[Row]) -> None:
    titles, whole = sum(row.title for row in rows), sum(row.similarity == 1 for row in rows)
    similarity, seconds = mean(row.similarity for row in rows), mean(row.seconds for row in rows)
    count = len(rows)
    print(
        f"{name:<20} {titles:>3} of {count:<2} {whole:>4} of {count:<3} {similarity:>10.3f} {seconds:>8.3f}"
    )


def _measure(args: argparse.Namespace) -> Iterator[Row]:
    texts = list(_texts(args.texts or _collections() / FILE, args.papers * len(LAYOUTS)))
    wanted = [
        (layout, *texts[number * args.papers + at])
        for number, layout in enumerate(LAYOUTS)
        for at in range(args.papers)
    ]
    for (layout, title, abstract), data in zip(wanted, _typeset(wanted, args.keep), strict=True):
        started = time.perf_counter()
        try:
            paper = READERS[args.reader](data)
            got = (paper.title, paper.abstract)
        except InputError:
            got = ("", "")
        seconds = time.perf_counter() - started
        if args.show:
            _show(layout, (title, abstract), got)
        yield Row(layout, _same(title, got[0]), _similarity(abstract, got[1]), seconds)


def _same(one: str, other: str) -> bool:
    return one.casefold() == other.casefold()


def _similarity(one: str, other: str) -> float:
    return 1.0 if one == other else min(SequenceMatcher(None, one, other, autojunk=False).ratio(), 0.9999)


def _texts(file: Path, count: int) -> Iterator[tuple[str, str]]:
    """Plain titles and abstracts of the usual length."""
    if not file.is_file():
        raise InputError(f"There is no file {file}: name one with --texts.")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        records = map(json.loads, lines)
        usual = (
            (" ".join(record["title"].split()), " ".join(record["abstract"].split()))
            for record in records
            if record.get("title") and 500 < len(record.get("abstract") or "") < 1500
        )
        plain = (
            pair for pair in usual if "".join(pair).isascii() and not set("\\{}$<>&") & set("".join(pair))
        )
        yield from islice(plain, count)


def _collections() -> Path:
    beside = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    return Path(os.environ.get("TRIPTYCH_DATA") or beside)


def _typeset(wanted: list[tuple[str, str, str]], keep: Path | None) -> Iterator[bytes]:
    """Each paper as a PDF; those that are kept already are not set again."""
    names = [f"{number:03}-{layout.replace(' ', '-')}.pdf" for number, (layout, *_) in enumerate(wanted)]
    if keep and all((keep / name).is_file() for name in names):
        yield from ((keep / name).read_bytes() for name in names)
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"))
        page = browser.new_page()
        for name, (layout, title, abstract) in zip(names, wanted, strict=True):
            page.set_content(_page(LAYOUTS[layout], title, abstract))
            data = page.pdf(prefer_css_page_size=True)
            if keep:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / name).write_bytes(data)
            yield data
        browser.close()


def _page(layout: Layout, title: str, abstract: str) -> str:
    body = layout.page.replace("{title}", html.escape(title)).replace("{abstract}", html.escape(abstract))
    return f'<html lang="en"><style>{_PAGE}{layout.style}</style><body>{body}</body></html>'


def _show(layout: str, wanted: tuple[str, str], got: tuple[str, str]) -> None:
    """For those who mend the reader: what went in and what came out, where they differ."""
    for one, other in zip(wanted, got, strict=True):
        if not _same(one, other):
            matcher = SequenceMatcher(None, one, other, autojunk=False)
            pairs: list[Any] = [
                (one[a - 8 : b + 8], other[c - 8 : d + 8])
                for kind, a, b, c, d in matcher.get_opcodes()
                if kind != "equal"
            ]
            print(layout, [(x[:70], y[:70]) for x, y in pairs[:6]])
