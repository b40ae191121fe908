"""Title and abstract from page one, on pages drawn here line by line."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path

import pytest
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from index_build import pdf
from index_build.pdf import read_pdf
from index_build.sources import Reject, read
from search.errors import InputError
from search.types import Paper

TITLE = "Counting rain drops with office windows"
ABSTRACT = (
    "We count drops of rain on the windows of an office. Nobody has measured their effect before. "
    "Our method compares each window with a sunny one and finds rain in nine of ten cases. "
    "This is enough for most offices, and we say where it is not."
).split(". ")


def draw(
    lines: Iterable[tuple[float, float, float, str]], info: dict[str, str] | None = None, password: str = ""
) -> bytes:
    """A page with text at (x, y) in a size; "ﬁ" and "ﬂ" are single glyphs as in typeset papers."""
    writer = PdfWriter()
    page = writer.add_blank_page(612, 792)
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject("/Helvetica"),
            NameObject("/Encoding"): NameObject("/MacRomanEncoding"),
        }
    )
    fonts = DictionaryObject({NameObject("/F1"): writer._add_object(font)})
    page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
    content = DecodedStreamObject()
    content.set_data(b"".join(_operators(*line) for line in lines))
    page[NameObject("/Contents")] = writer._add_object(content)
    writer.add_metadata(info or {})
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def _operators(x: float, y: float, size: float, text: str) -> bytes:
    shown = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)").encode("mac-roman")
    turn = b"0 1 -1 0" if x < 30 else b"1 0 0 1"  # a stamp in the margin runs upwards
    return b"BT /F1 %g Tf %s %g %g Tm (%s) Tj ET\n" % (size, turn, x, y, shown)


def block(x: float, top: float, size: float, lines: Iterable[str]) -> list[tuple[float, float, float, str]]:
    return [(x, top - number * 1.2 * size, size, text) for number, text in enumerate(lines)]


def wrapped(text: str, width: int) -> list[str]:
    """Lines of at most that many characters; a long last word is cut with a hyphen."""
    lines, line = [], ""
    for word in text.split():
        room = width - len(line) - 1
        if len(word) > room and len(word) > 6 and room > 4:
            lines.append(f"{line} {word[:3]}-".strip())
            line = word[3:]
        elif len(word) > room:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return [*lines, line]


def test_of_a_word_without_end_the_beginning_is_read() -> None:
    lines = [(90, 700, 20, "A title of words"), (90, 600, 10, "Abstract"), (90, 580, 10, "a" * 200_000)]
    paper = read_pdf(draw(lines))
    assert paper.title == "A title of words"
    assert 90_000 < len(paper.abstract) <= 100_000


def test_of_a_page_without_end_the_beginning_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "_MOST_PIECES", 100)
    lines = [(90, 700, 20, "A title of words"), (90, 600, 10, "Abstract"), *[(90, 580, 10, "rain ")] * 300]
    paper = read_pdf(draw(lines))
    assert paper.title == "A title of words"
    assert 90 < paper.abstract.count("rain") <= 100


def test_the_doi_may_stand_apart() -> None:
    lines = [(90, 700, 20, "A title of words"), (90, 600, 10, "Abstract"), (90, 580, 10, "We count.")]
    for written in ("doi: 10.1000/rain", "DOI 10.1000/rain", "doi .  10.1000/rain", "doi.org/10.1000/rain"):
        assert read_pdf(draw([*lines, (90, 40, 8, written)])).doi == "10.1000/rain"
    assert read_pdf(draw([*lines, (90, 40, 8, "doi :: 10.1000/rain")])).doi == ""


def test_one_column() -> None:
    page = [
        *block(100, 740, 18, [TITLE]),
        *block(200, 700, 11, ["A. Author and B. Author", "Some Institute"]),
        *block(280, 650, 12, ["Abstract"]),
        *block(100, 630, 10, wrapped(". ".join(ABSTRACT), 80)),
        *block(100, 540, 10, ["Keywords: rain, windows"]),
        *block(100, 500, 12, ["1 Introduction"]),
        *block(100, 480, 10, ["Rain is old."] * 10),
    ]
    paper = read_pdf(draw(page))
    assert paper.title == TITLE
    assert paper.abstract == ". ".join(ABSTRACT)
    assert paper.source == "pdf"
    assert paper.id.startswith("pdf:")


@pytest.mark.parametrize("row_by_row", [False, True])
def test_two_columns_in_either_order_of_drawing(row_by_row: bool) -> None:
    head = block(80, 750, 16, ["Counting rain drops", "with office windows"])
    head += block(330, 700, 10, ["A. Author"])
    texts = ["Abstract", *wrapped(". ".join(ABSTRACT), 45), "1 Introduction"]
    left = block(54, 660, 9, texts)
    right = block(320, 660, 9, [f"Text of the right column, line {number}." for number in range(len(texts))])
    rows = [cell for row in zip(left, right, strict=True) for cell in row]
    paper = read_pdf(draw(head + (rows if row_by_row else left + right)))
    assert paper.title == TITLE
    assert paper.abstract == ". ".join(ABSTRACT)


@pytest.mark.parametrize(
    "first",
    ["Abstract", "ABSTRACT:", "Abstract.", "A B S T R A C T", "Summary", "Abstract—We begin at once."],
)
def test_headings_of_an_abstract(first: str) -> None:
    page = [*block(100, 740, 18, [TITLE]), *block(100, 600, 10, [first, *ABSTRACT, "Index Terms—rain"])]
    text = ("We begin at once. " if "begin" in first else "") + " ".join(ABSTRACT)
    assert read_pdf(draw(page)).abstract == text


def test_ligatures_and_cut_words_are_made_whole() -> None:
    page = [
        *block(100, 740, 18, ["Efﬁcient ﬂow of", "classiﬁcation"]),
        *block(
            100,
            600,
            10,
            ["Abstract", "We ﬁnd the ﬂow and the classi-", "ﬁcation of a well-", "known type of rain."],
        ),
    ]
    paper = read_pdf(draw(page))
    assert paper.title == "Efficient flow of classification"
    assert paper.abstract == "We find the flow and the classification of a well-known type of rain."


def test_hyphens_of_compounds_stay_and_those_of_syllables_go() -> None:
    cut = (
        "Abstract|A pre-|dictive model of real-|world rain by Marslen-|Wilson, in left-|to-right order (c)-"
        "|type, with word-|based and multi-|agent rules of GPT-|3 and target-|language recogni-|tion."
    )
    page = [*block(100, 740, 18, ["Learning left-to-", "right rain"]), *block(100, 600, 10, cut.split("|"))]
    paper = read_pdf(draw(page))
    assert paper.title == "Learning left-to-right rain"
    assert paper.abstract == (
        "A predictive model of real-world rain by Marslen-Wilson, in left-to-right order (c)-type, with "
        "word-based and multi-agent rules of GPT-3 and target-language recognition."
    )


def test_a_title_in_small_capitals() -> None:
    title = [
        (100, 740, 18, "C"), (113, 740, 13, "OUNTING"), (190, 740, 13, "RAIN"), (240, 740, 18, " 2-D O"),
        (304, 740, 13, "FFICE"), (180, 718, 13, "WINDOWS"),
    ]  # fmt: skip
    page = [*title, *block(100, 680, 10, ["A. Author"]), *block(100, 600, 10, ["Abstract", *ABSTRACT])]
    assert read_pdf(draw(page)).title == "COUNTING RAIN 2-D OFFICE WINDOWS"


def test_a_box_of_notes_beside_the_abstract_is_no_part_of_it() -> None:
    text = wrapped(". ".join(ABSTRACT), 50)
    page = [
        *block(50, 740, 18, [TITLE]),
        *block(50, 650, 8, ["ARTICLE INFO", "Received 1 May", "Keywords:", "rain", "snow", "hail"]),
        *block(200, 650, 10, ["Abstract", *text]),
        *block(50, 500, 12, ["1 Introduction"]),
    ]
    assert read_pdf(draw(page)).abstract == ". ".join(ABSTRACT)


def test_without_a_heading_the_address_above_is_no_part_of_the_abstract() -> None:
    page = [
        *block(50, 740, 18, [TITLE]),
        *block(50, 700, 10, ["Ada Author", "Institute of Rain"]),
        *block(50, 660, 10, wrapped(". ".join(ABSTRACT), 80)),
    ]
    assert read_pdf(draw(page)).abstract == ". ".join(ABSTRACT)


def test_an_abstract_without_a_heading() -> None:
    page = [
        *block(100, 740, 18, [TITLE]),
        *block(100, 700, 11, ["A. Author"]),
        *block(100, 650, 10, wrapped(". ".join(ABSTRACT), 70)),
        *block(100, 500, 12, ["Introduction"]),
        *block(100, 480, 10, ["Rain is old and wet. " * 4] * 10),
    ]
    assert read_pdf(draw(page)).abstract == ". ".join(ABSTRACT)


def test_the_banner_of_a_journal_is_not_the_title() -> None:
    page = [
        *block(100, 760, 24, ["Journal of Rain"]),
        *block(100, 720, 16, [TITLE + "*"]),
        *block(100, 600, 10, ["Abstract", *ABSTRACT]),
    ]
    assert read_pdf(draw(page)).title == TITLE


def test_identifiers_on_the_page() -> None:
    page = [
        (20.0, 200.0, 14.0, "arXiv:2101.00001v2 [cs.CL] 1 Jan 2021"),
        *block(100, 740, 18, [TITLE]),
        *block(100, 600, 10, ["Abstract", *ABSTRACT, "© 2021. https://doi.org/10.1000/RAIN.1."]),
    ]
    paper = read_pdf(draw(page))
    assert (paper.arxiv_id, paper.doi, paper.id) == ("2101.00001", "10.1000/rain.1", "doi:10.1000/rain.1")
    assert "arXiv" not in paper.title + paper.abstract


def test_the_title_in_the_properties_is_a_last_resort() -> None:
    page = block(100, 600, 10, ["Abstract", *ABSTRACT])
    assert read_pdf(draw(page, {"/Title": "A stated title"})).title == "A stated title"
    assert read_pdf(draw(page, {"/Title": "Microsoft Word - draft7.docx"})).title == ""


ONE_PAGE = [*block(100, 740, 18, [TITLE]), *block(100, 600, 10, ["Abstract", *ABSTRACT])]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"@misc{k, title = {BibTeX}}", "not a PDF"),
        (b"", "not a PDF"),
        (b"%PDF-1.4\ngarbage", "damaged"),
        (draw(ONE_PAGE)[:700], "damaged"),
        (draw([]), "pictures of pages and no text"),
        (draw(ONE_PAGE, password="secret"), "password"),
    ],
    ids=["bibtex", "empty", "garbage", "cut", "scan", "locked"],
)
def test_what_cannot_be_read_is_said_in_one_sentence(data: bytes, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as caught:
        read_pdf(data)
    assert str(caught.value).endswith(".")
    assert ":" in str(caught.value), "it says what to do"


def test_a_pdf_without_pages() -> None:
    writer, out = PdfWriter(), io.BytesIO()
    writer.write(out)
    with pytest.raises(InputError, match="no pages"):
        read_pdf(out.getvalue())


def test_a_folder_of_pdfs_is_a_source(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(draw(ONE_PAGE))
    (tmp_path / "b.pdf").write_bytes(draw([]))
    paper, reject = read(tmp_path)
    assert isinstance(paper, Paper)
    assert paper.title == TITLE
    assert isinstance(reject, Reject)
    assert reject.reason == "no title and abstract found in the PDF"
    assert "no text" in reject.raw
