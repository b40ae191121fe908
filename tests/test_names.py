"""Names of authors: in their parts where a source shows them, and the same after an export."""

from __future__ import annotations

import pytest

from index_build.sources import read_bytes
from index_build.sources.names import split_joined, split_names, tidy_names
from index_build.sources.records import authors_of
from search import exports
from search.exports import Citation
from search.names import Name, divide, is_group, is_initials
from search.types import Paper


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("Author, Ada", ("Author", "Ada", "")),
        ("Author A.B.", ("Author", "A.B.", "")),
        ("Author A. B.", ("Author", "A. B.", "")),
        ("Author AB", ("Author", "AB", "")),
        ("AUTHOR AB", ("AUTHOR", "AB", "")),
        ("AUTHOR ADA", ("AUTHOR ADA", "", "")),
        ("de la Author J.-P.", ("de la Author", "J.-P.", "")),
        ("Öner Ş.", ("Öner", "Ş.", "")),
        ("Łoś Ł.Ż.", ("Łoś", "Ł.Ż.", "")),
        ("Автор А.Б.", ("Автор", "А.Б.", "")),
        ("Author Yu.A.", ("Author", "Yu.A.", "")),
        ("Author AB Jr", ("Author", "AB", "Jr")),
        ("Author A.B. III", ("Author", "A.B.", "III")),
        ("Author, Ada, Jr.", ("Author", "Ada", "Jr.")),
        ("Author, Jr., Ada", ("Author", "Ada", "Jr.")),
        ("Author Jr., Ada", ("Author", "Ada", "Jr.")),
        ("Author AB, Jr.", ("Author", "AB", "Jr.")),
        ("Ada Author", ("Ada Author", "", "")),
        ("A. B. Author", ("A. B. Author", "", "")),
        ("Ada Author III", ("Ada Author III", "", "")),
        ("A. B.", ("A. B.", "", "")),
        ("Mononym", ("Mononym", "", "")),
        ("The Rain Group UK", ("The Rain Group UK", "", "")),
        ("Rain Study Group A", ("Rain Study Group A", "", "")),
        ("Author,", ("Author", "", "")),
        ("Ada Author MD", ("Ada Author MD", "", "")),
        ("Author MD", ("Author", "MD", "")),
    ],
)
def test_parts_of_a_name(name: str, parts: tuple[str, str, str]) -> None:
    assert divide(name) == Name(*parts)
    assert divide(str(divide(name))) == Name(*parts)


def test_initials_and_groups() -> None:
    assert all(map(is_initials, ("A", "A.", "AB", "ABC", "A.B.", "A.-B.", "Yu.", "É.")))
    assert not any(map(is_initials, ("Ada", "ABCD", "Jr.", "a.", "", ".", "1.")))
    assert is_group("Society of Drops")
    assert not is_group("Ada Offer")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Ada Author, Mononym, Carl Cee", ("Ada Author", "Mononym", "Carl Cee")),
        ("Mononym, Ada Author, Carl Cee, Dora Dee", ("Mononym", "Ada Author", "Carl Cee", "Dora Dee")),
        ("A. Author, Mononym", ("A. Author", "Mononym")),
        ("Author A.B., Bee C.", ("Author, A.B.", "Bee, C.")),
        ("Author, A., Bee, B. C., Cee, D.", ("Author, A.", "Bee, B. C.", "Cee, D.")),
        ("Author, Ada, Bee, Bob", ("Author, Ada", "Bee, Bob")),
        ("Author, Ada, Jr.", ("Author, Ada, Jr.",)),
        ("Ada Author, Jr., Bob Bee", ("Ada Author, Jr.", "Bob Bee")),
        ("Bee Cee, R. B.", ("Bee Cee, R. B.",)),
        ("Author, Ada; Bee, Bob, Jr.; Mononym", ("Author, Ada", "Bee, Bob, Jr.", "Mononym")),
        ("Wang Y.; Wang Y.; Li X.", ("Wang, Y.", "Wang, Y.", "Li, X.")),
        ("Ada Author|Bob Bee", ("Ada Author", "Bob Bee")),
        ("Author, Ada\nBee, Bob", ("Author, Ada", "Bee, Bob")),
        ("Author, Ada (57190000001); Bee, Bob (57190000002)", ("Author, Ada", "Bee, Bob")),
        ("[No author name available]", ()),
        ("nan", ()),
        ("A Author, B Bee, et al.", ("A Author", "B Bee")),
        ("A Author, B Bee, …", ("A Author", "B Bee")),
        ("Ada Author & Bob Bee", ("Ada Author", "Bob Bee")),
    ],
)
def test_names_in_one_text(text: str, names: tuple[str, ...]) -> None:
    assert authors_of(text) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Ada Author; Bob Bee et al.", ("Ada Author", "Bob Bee")),
        ("Author A.; Bee B., et al.", ("Author, A.", "Bee, B.")),
        ("王伟, 李娜", ("王伟", "李娜")),
        ("王, 小明", ("王, 小明",)),
    ],
)
def test_names_with_more_behind_them_and_without_spaces(text: str, names: tuple[str, ...]) -> None:
    assert authors_of(text) == names


def test_names_with_nothing_between_them() -> None:
    assert split_joined("Ada AuthorBob McBeeCarl D. Cee") == ["Ada Author", "Bob McBee", "Carl D. Cee"]
    assert split_joined("Ada Author") == ["Ada Author"]
    assert split_names("Ada Author") == ["Ada Author"]
    assert tidy_names(["", " ,", "e\u0301mile Zed"]) == ("émile Zed",)


NAMES = (
    "Author, A.B.", "Bee, Bob, Jr.", "Ada Author", "Mononym", "The Rain Group", "van der Cee, D.",
    "Wang, Y.", "Wang, Y.", "Öner, Ş.", "Rock and Roll, A.",
)  # fmt: skip


@pytest.mark.parametrize("format", ["ris", "csv"])
def test_names_come_back_from_an_export(format: str) -> None:
    file = exports.write([Citation(Paper("x", "Rain", authors=NAMES))], format)
    (paper,) = read_bytes(file.encode(), f"export.{format}")
    assert isinstance(paper, Paper)
    assert paper.authors == NAMES


def test_names_come_back_from_bibtex_with_families_found() -> None:
    file = exports.write([Citation(Paper("x", "Rain", authors=NAMES))], "bibtex")
    (paper,) = read_bytes(file.encode(), "export.bib")
    assert isinstance(paper, Paper)
    assert paper.authors == tuple("Author, Ada" if name == "Ada Author" else name for name in NAMES)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("Author A.B.", "Author, A.B."),  # as older corpora hold it
        ("Author AB", "Author, AB"),
        ("Bee, Bob, Jr.", "Bee, Jr., Bob"),
        ("Bob Bee Jr.", "Bee, Jr., Bob"),
        ("Bee, Bob, MD, PhD", "Bee, {MD, PhD}, Bob"),
        ("Ada Author", "Ada Author"),
        ("Rain Collaboration", "{Rain Collaboration}"),
        ("Rock and Roll, A.", "{Rock and Roll, A.}"),
    ],
)
def test_bibtex_names_in_its_own_order(name: str, written: str) -> None:
    entry = exports.write([Citation(Paper("x", "Rain", authors=(name,)))], "bibtex")
    assert f"  author = {{{written}}}" in entry


def test_keys_keep_letters_with_strokes() -> None:
    entry = exports.write([Citation(Paper("x", "Smørrebrød now", authors=("Łoś Ł.",), year=2020))], "bibtex")
    assert "{los2020smorrebrod," in entry


def test_names_in_bibtex_that_are_not_bibtex() -> None:
    text = (
        "@misc{a, title={Rain}, author={Author A.B. and Bee, Jr., Bob and {Rain Team AB} and "
        "{\\O}st, {\\'E}mile}}\n"
        "@misc{b, title={Snow}, author={Ada Author, Bob Bee, Mononym}}\n"
        "@misc{d, title={Fog}, author={Author, Ada and others}}\n"
        "@misc{c, title={Hail}, author={Author, A.; Bee, B.}}\n"
    )
    papers = [item for item in read_bytes(text.encode(), "x.bib") if isinstance(item, Paper)]
    assert [paper.authors for paper in papers] == [
        ("Author, A.B.", "Bee, Bob, Jr.", "Rain Team AB", "Øst, Émile"),
        ("Ada Author", "Bob Bee", "Mononym"),
        ("Author, Ada",),
        ("Author, A.", "Bee, B."),
    ]


def test_organisations_are_not_turned_round_by_an_export() -> None:
    names = ("World Health Organization", "CONSORT Grp", "United Nations", "Rain Lab", "Press, William H.")
    (paper,) = read_bytes(
        exports.write([Citation(Paper("x", "Rain", authors=names))], "bibtex").encode(), "x.bib"
    )
    assert isinstance(paper, Paper)
    assert paper.authors == names


@pytest.mark.parametrize(
    "name", ["Author, Ada B.", "Author, Ada Bee", "Author Bee, Ada Cee", "Author, A. B."]
)
def test_a_lone_name_comes_back_from_a_table(name: str) -> None:
    (paper,) = read_bytes(
        exports.write([Citation(Paper("x", "Rain", authors=(name,)))], "csv").encode(), "x.csv"
    )
    assert isinstance(paper, Paper)
    assert paper.authors == (name,)
