"""Fifty papers that are hard to write out: every kind; names, titles and identifiers that break files."""

from __future__ import annotations

from dataclasses import replace

from search.types import Kind, Paper, Reference

TITLES = (
    "50% of R&D is lost: a #1 problem_of $5",
    "On {braces} and ~tildes~ in C# \\ C++",
    "BERT for PubMed: what does it know of Kalman filters?",
    "The mass of the Z⁰ at √s = 13 TeV and α ≤ β²",
    "Über die Größe von Ångström-Łódź structures",
    "深層学習による画像認識",
    "Глубокое обучение — обзор",
    "A very long title " + "that goes on and on " * 20 + "until it ends",
    "“Quoted” titles, 'single' ones – and dashes — too",
    "E. coli O157:H7 in <i>vitro</i> & x < y",
)
AUTHORS: tuple[tuple[str, ...], ...] = (
    ("van der Berg, Anna", "de la Cruz, María José"),
    ("King, Martin Luther, Jr.", "Smith, John, III"),
    ("The Rain Collaboration",),
    ("王, 小明", "山田, 太郎"),
    ("Иванов, Иван Иванович",),
    ("O'Neil, Conan", "Müller-Lüdenscheidt, Émile"),
    ("Barnes and Noble, Inc.", "Ødegård, Bjørn"),
    (),
    ("Plato",),
    ("Şahin, İ. Ö.", "Nguyễn, Văn A."),
)
DOIS = (
    "10.1002/(sici)1521-3951(199911)216:1<391::aid-pssb391>3.0.co;2-k",
    "10.1000/a_b#c",
    "10.1000/x%y",
    "",
    "10.1000/plain",
)


def _paper(number: int) -> Paper:
    kind = tuple(Kind)[number % len(Kind)]
    reference = Reference(
        kind=kind,
        volume=str(number) if number % 2 else "",
        issue="3" if kind in (Kind.ARTICLE, Kind.NEWS) else "",
        pages=("101-119", "e12", "")[number % 3],
        publisher=("Rain & Sons", "Universität Zürich", "100% Press")[number % 3],
        place="St. Gallen" if number % 4 else "",
        editors=("von Regen, Émile",) if kind in (Kind.CHAPTER, Kind.PROCEEDINGS_PAPER) else (),
        series="Notes in R&D" if kind is Kind.BOOK else "",
        issn=("1234-5678",) if kind is Kind.ARTICLE else (),
        isbn=("978-3-16-148410-0",) if kind is Kind.BOOK else (),
        language="de" if number % 5 == 0 else "",
    )
    venue = {Kind.ARTICLE: "Proceedings of the National Academy of Sciences", Kind.NEWS: "Rain & Weather",
             Kind.PROCEEDINGS_PAPER: "NeurIPS", Kind.CHAPTER: "The Book of 100% Rain",
             Kind.ENTRY: "Encyclopedia of Rain"}.get(kind, "")  # fmt: skip
    return Paper(
        f"x{number}",
        TITLES[number % len(TITLES)],
        "We study rain. 50% of it & more.",
        AUTHORS[(number * 3 + number // 10) % len(AUTHORS)],
        None if number % 7 == 3 else 1990 + number % 30,
        venue,
        ("Weather",),
        DOIS[number % len(DOIS)],
        reference=replace(reference, key=f"key{number}"),
    )


PAPERS = tuple(_paper(number) for number in range(50))
