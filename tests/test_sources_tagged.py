"""Papers from tagged text: RIS, NBIB, Web of Science and BibTeX."""

from __future__ import annotations

import pytest

from index_build.sources import Reject, detect, read_bytes
from search.types import Facet, Paper

EMBASE = """

TY  - JOUR
M3  - Article
Y1  - 2020//
A1  - Author, A.
A1  - Author, B.
T1  - A title on
two lines
JF  - Journal of Things
KW  - heart
KW  - type 2, of two
N2  - BACKGROUND: We ask. METHODS: We do. CONCLUSION: We know.
UR  - https://www.embase.com/search?a=1;b=2
U2  - L200
L2  - http://dx.doi.org/10.1000/ABC.1
ER  -
"""
WOS_RIS = """TY  - JOUR
AU  - Author, C
TI  - Second
T2  - JOURNAL OF X
PY  - 2019
AN  - WOS:000123
ER  -

EF
"""
BENT = """TY - CONF
TI - One space only
AU - Author, D.
DA - 2018/05/01
UR - https://pubmed.ncbi.nlm.nih.gov/4711/
TY  - JOUR
TI  - The one before had no end, nor has this
AN  - arXiv:2101.00001
C1  - PMID:4712
N1  - a reason that mentions 10.1000/not.this
"""


def papers(text: str) -> list[Paper]:
    items = list(read_bytes(text.encode(), "upload"))
    assert not [item for item in items if isinstance(item, Reject)]
    return [item for item in items if isinstance(item, Paper)]


def rejects(text: str) -> list[Reject]:
    return [item for item in read_bytes(text.encode(), "upload") if isinstance(item, Reject)]


def test_ris_from_embase() -> None:
    (paper,) = papers(EMBASE)
    assert paper.title == "A title on two lines"
    assert paper.authors == ("Author, A.", "Author, B.")
    assert (paper.id, paper.doi, paper.year) == ("doi:10.1000/abc.1", "10.1000/abc.1", 2020)
    assert (paper.venue, paper.fields) == ("Journal of Things", ("heart", "type 2, of two"))
    assert paper.url == "https://www.embase.com/search?a=1;b=2"
    assert [s.facet for s in paper.sections] == [Facet.BACKGROUND, Facet.METHOD, Facet.RESULT]


def test_ris_from_web_of_science() -> None:
    (paper,) = papers(WOS_RIS.replace("\n", "\r\n"))
    assert (paper.id, paper.title, paper.venue, paper.year) == ("wos:000123", "Second", "JOURNAL OF X", 2019)


def test_ris_with_loose_tags_and_missing_ends() -> None:
    first, second = papers(BENT)
    assert (first.title, first.year, first.pmid) == ("One space only", 2018, "4711")
    assert (second.arxiv_id, second.pmid, second.doi) == ("2101.00001", "4712", "")


def test_ris_record_without_text_is_rejected_where_it_begins() -> None:
    (reject,) = rejects(WOS_RIS + "\nTY  - JOUR\nAU  - Author, E.\nER  - \n")
    assert (reject.place, reject.reason) == ("line 11", "no title and no abstract")
    assert reject.raw.startswith("TY  - JOUR\nAU")


NBIB = """
PMID- 12345
OWN - NLM
DP  - 2021 May
TI  - A title that
      goes on.
LID - S1234 [pii]
LID - 10.1000/xyz [doi]
AB  - BACKGROUND: Text here. METHODS: More
      text. CONCLUSIONS: Done.
FAU - Author, Anna
AU  - Author A
JT  - Journal of Tags
MH  - *Heart/drug effects
MH  - Humans
OT  - unused

PMID- 12346
TI  - No full names
AU  - Author BC
CN  - The Group
OT  - *keyword
"""


def test_nbib() -> None:
    first, second = papers(NBIB)
    assert (first.id, first.title, first.year, first.doi) == (
        "pmid:12345",
        "A title that goes on",
        2021,
        "10.1000/xyz",
    )
    assert first.abstract == "BACKGROUND: Text here. METHODS: More text. CONCLUSIONS: Done."
    assert [s.facet for s in first.sections] == [Facet.BACKGROUND, Facet.METHOD, Facet.RESULT]
    assert (first.authors, first.fields, first.venue) == (("Author, Anna",), ("Heart",), "Journal of Tags")
    assert (second.authors, second.fields) == (("Author, BC", "The Group"), ("keyword",))


WOS = """FN Clarivate Analytics Web of Science
VR 1.0
PT J
AU Author, A
AF Author, Anna
   Author, Bea
TI Title over
   two lines
SO JOURNAL OF Y
AB An abstract.
PY 2020
DI 10.1000/Q
PM 99
WC Computer Science, Theory; Robotics
UT WOS:0001
ER

PT J
TI Second
UT WOS:0002
ER

EF
"""


def test_web_of_science_plain_text() -> None:
    first, second = papers(WOS)
    assert (first.id, first.title, first.venue) == ("wos:0001", "Title over two lines", "JOURNAL OF Y")
    assert first.authors == ("Author, Anna", "Author, Bea")
    assert (first.doi, first.pmid, first.year) == ("10.1000/q", "99", 2020)
    assert first.fields == ("Computer Science, Theory", "Robotics")
    assert second.id == "wos:0002"


BIBTEX = r"""
% a comment with an @ in it
@string{jx = "Journal of X"}
@STRING(part = {Part~B})
@comment{jabref-meta: ignored}
@article{key1,
  title = {A {BERT} study of \'{e}t\'e: $\mathcal{O}(n^2)$},
  author = {Anna Author and de la Bee, B. and Cee, Jr., C. and {The Big Team} and Auth{\"o}r, K.},
  journal = jx # ", " # part,
  year = 2020,
  month = jan,
  doi = {https://doi.org/10.1000/x\_1},
  keywords = {one, two},
  abstract = {Over 50\% of ``words''.},
  note = {found because of 10.1000/other},
}
@misc{key2, title = "Second", howpublished = "arXiv preprint arXiv:2101.00001v2", date = "2021-05"}
@inproceedings{key3, title = {Third}, title = {Twice}, booktitle = {Proc. of Z}, url = {https://example.org/a\_b}}
@online{key4, title = {Fourth}, eprint = {cs/0101001}, eprinttype = {arXiv}, pmid = {17}}
"""


def test_bibtex() -> None:
    first, second, third, fourth = papers(BIBTEX)
    assert first.title == "A BERT study of été: O(n²)"
    assert first.authors == ("Author, Anna", "de la Bee, B.", "Cee, C., Jr.", "The Big Team", "Authör, K.")
    assert (first.venue, first.year, first.doi) == ("Journal of X, Part B", 2020, "10.1000/x_1")
    assert (first.fields, first.abstract) == (("one", "two"), "Over 50% of “words”.")
    assert (second.id, second.venue, second.year) == ("arxiv:2101.00001", "arXiv", 2021)
    assert (third.title, third.venue, third.url) == ("Third", "Proc. of Z", "https://example.org/a_b")
    assert third.id.startswith("bibtex:key3-")
    assert (fourth.arxiv_id, fourth.pmid) == ("cs/0101001", "17")


def test_a_broken_bibtex_entry_costs_only_itself() -> None:
    broken = "@article{open, title = {never closed, year = 2020\n"
    text = BIBTEX.replace("@misc{key2", broken + "@misc{key2")
    (reject,) = rejects(text)
    assert reject.reason == "entry cannot be parsed"
    assert text.splitlines()[int(reject.place.removeprefix("line ")) - 1] == broken.strip()
    assert sum(isinstance(item, Paper) for item in read_bytes(text.encode(), "x")) == 4


@pytest.mark.parametrize(
    ("text", "kind"),
    [(EMBASE, "ris"), (WOS_RIS, "ris"), (BENT, "ris"), (NBIB, "nbib"), (WOS, "wos"), (BIBTEX, "bibtex")],
)
def test_formats_are_told_apart(text: str, kind: str) -> None:
    assert detect(text.encode(), "misleading.json") == kind


# -- what lies between records


def told(text: str, name: str = "upload") -> list[str]:
    """The titles of the papers, and the places and reasons of what was not read."""
    return [
        item.title if isinstance(item, Paper) else f"{item.place}: {item.reason}"
        for item in read_bytes(text.encode(), name)
    ]


def ris(*titles: str, end: str = "ER  - \n") -> str:
    return "".join(f"TY  - JOUR\nTI  - {title}\n{end}" for title in titles)


def test_text_outside_of_records_is_one_reject_with_its_place() -> None:
    text = "Found by hand\nand by eye\n" + ris("Rain") + "\n\nMore\n\nby ear\n" + ris("Snow") + "The end"
    outside = "text outside of any record"
    assert told(text) == [f"line 1: {outside}", "Rain", f"line 8: {outside}", "Snow", f"line 14: {outside}"]
    first = next(iter(read_bytes(text.encode(), "x")))
    assert isinstance(first, Reject)
    assert first.raw == "Found by hand\nand by eye"


@pytest.mark.parametrize(
    "text",
    [
        "Provider: a host\nDatabase: of things\nContent: text/plain\n\n" + ris("Rain"),
        "1.\n" + ris("Rain") + "EF\n",
        "FN Clarivate\nVR 1.0\nPT J\nTI Rain\nER\n\nEF",
        "% Encoding: UTF-8\nScopus\nEXPORT DATE: today\n@misc{a, title = {Rain}}\n\n% the end\n",
        "\n1: \nPMID- 1\nTI  - Rain\n",
    ],
)
def test_headers_counters_and_comments_need_no_mention(text: str) -> None:
    assert told(text) == ["Rain"]


@pytest.mark.parametrize(
    "seam",
    [
        "ER  - \nTY  - JOUR\n",
        "ER  - TY  - JOUR\n",
        "ER  -TY  - JOUR\n",
        "ER  - \ufeffTY  - JOUR\n",
        "AB  - Wet.TY  - JOUR\n",
        "TY  - JOUR\n",
        "ER  - \n",
        "ER  - \n\ufeffTY  - JOUR\n",
        "ER  - \u2028TY  - JOUR\u2028",
        "ER  - \x85TY  - JOUR\x85",
    ],
    ids=repr,
)
def test_ris_files_that_were_put_together_carelessly(seam: str) -> None:
    assert told(f"TY  - JOUR\nTI  - Rain\n{seam}TI  - Snow\nER  - ") == ["Rain", "Snow"]


def test_line_separators_within_a_value_are_spaces() -> None:
    for separator in "\u2028\u2029\x85\x0b\x0c\x1c":
        text = f"TY  - JOUR\nTI  - Rain{separator}again\nAB  - It{separator}rains.\nER  - \n"
        (paper,) = papers(text)
        assert (paper.title, paper.abstract) == ("Rain again", "It rains.")
        (entry,) = papers(f"@misc{{a, title = {{Rain{separator}again}},{separator} year = 2020}}")
        assert (entry.title, entry.year) == ("Rain again", 2020)


def test_web_of_science_files_that_were_put_together_carelessly() -> None:
    one = "FN Clarivate\nVR 1.0\nPT J\nTI {}\nER\n\nEF"
    for seam in ("\n", "", "\ufeff", "\n\ufeff"):
        assert told(one.format("Rain") + seam + one.format("Snow")) == ["Rain", "Snow"]
    assert told("FN Clarivate\nVR 1.0\nPT J\nTI Rain\nER\n\nAU Author, A\nTI Snow\nER\nEF") == [
        "Rain",
        "Snow",
    ]


def test_pubmed_records_that_were_put_together_carelessly() -> None:
    for seam in ("\n\n", "\n", "", "\n\n\ufeff", "\ufeff"):
        text = f"PMID- 1\nTI  - Rain\nSO  - J. 2020.{seam}PMID- 2\nTI  - Snow\n"
        assert told(text) == ["Rain", "Snow"]
    headless = "PMID- 1\nOWN - NLM\nTI  - Rain\nFAU - Author, A\n\nOWN - NLM\nTI  - Snow\nFAU - Bee, B\n\n"
    first, second = papers(headless + "PMID- 3\nTI  - Hail\n")[:2]
    assert (first.authors, second.title, second.authors) == (("Author, A",), "Snow", ("Bee, B",))
    spaced = "PMID- 1\n\nOWN - NLM\n\nTI  - Rain\n\nAB  - It rains.\n\nPMID- 2\n\nTI  - Snow\n"
    assert told(spaced) == ["Rain", "Snow"]


def test_ris_records_without_first_and_last_lines_are_parted_by_blank_lines() -> None:
    assert told("TY  - JOUR\nTI  - Rain\nAU  - A\n\nTI  - Snow\nAU  - B\n\nAU  - C\nTI  - Hail\n") == [
        "Rain", "Snow", "Hail",
    ]  # fmt: skip
    assert told("TY  - JOUR\n\nTI  - Rain\n\nT2  - Journal\n\nAB  - It rains.\n\nER  - \n") == ["Rain"]


def test_a_file_without_any_first_lines_is_still_ris() -> None:
    assert told("TI  - Rain\nAU  - Author, A.\nER  - \n\nTI  - Snow\nER  - \n") == ["Rain", "Snow"]


def test_two_entries_on_one_line_and_lines_of_another_format() -> None:
    outside = "text outside of any record"
    assert told("@misc{a, title={Rain}} @misc{b, title={Snow}}@misc{c, title={Hail}}") == [
        "Rain",
        "Snow",
        "Hail",
    ]
    text = "@misc{a, title={Rain}}\nTY  - JOUR\n@misc{b, title={Snow}} stray\n"
    assert told(text, "x.bib") == ["Rain", f"line 2: {outside}", "Snow", f"line 3: {outside}"]
    assert told("@misc{a, title={Ra}in}, year=2020}\n@misc{b, title={Snow}}") == [
        "Ra",
        f"line 1: {outside}",
        "Snow",
    ]
    assert told("@misc{a, title={Rain}}\n% @misc{b, title={Snow}}\n") == ["Rain"]


# -- how single programs bend the formats


def test_ris_from_cochrane_has_two_spaces() -> None:
    (paper,) = papers("TY  -  JOUR\nAN  -  CN-1\nTI  -  Rain\nJO  -  Journal\nPY  -  2020\nER  -  \n")
    assert (paper.title, paper.venue, paper.year) == ("Rain", "Journal", 2020)


def test_ris_without_the_last_space() -> None:
    (paper,) = papers("TY  -JOUR\nTI  -Rain\nAU  -Author, A.\nER  -\n")
    assert (paper.title, paper.authors) == ("Rain", ("Author, A.",))


def test_ris_gives_the_journal_in_full_and_books_their_titles() -> None:
    (paper,) = papers("TY  - JOUR\nT1  - Rain\nJO  - J. Water\nJF  - Journal of Water\nER  - \n")
    assert paper.venue == "Journal of Water"
    (book,) = papers("TY  - BOOK\nBT  - All about rain\nA1  - Author, A.\nER  - \n")
    assert (book.title, book.venue) == ("All about rain", "")
    (chapter,) = papers("TY  - CHAP\nTI  - Rain\nBT  - All about weather\nER  - \n")
    assert (chapter.title, chapter.venue) == ("Rain", "All about weather")


def test_books_in_pubmeds_text() -> None:
    text = "PMID- 1\nTI  - Rain\nBTI - All about weather\nFAU - Author, A\nFED - Bee, B\n"
    chapter, book = papers(text + "\nPMID- 2\nBTI - Snow\nFED - Bee, B\n")
    assert (chapter.title, chapter.venue, chapter.authors) == ("Rain", "All about weather", ("Author, A",))
    assert (book.title, book.venue, book.authors) == ("Snow", "", ("Bee, B",))


def test_an_abstract_without_headings_does_not_say_so() -> None:
    (paper,) = papers("PMID- 1\nTI  - Rain\nAB  - UNLABELLED: It rains: often.\n")
    assert paper.abstract == "It rains: often."


def test_bibtex_with_slips() -> None:
    text = """
@article{title = {No key}, year = 2020}
@article{, title = {Empty key}, year = 2020}
@article{k1
  title = {No commas}
  author = {Author, Ada}
  year = "2020"
}
@article{k2, title = {Comma missing after braces} year = 2020, journal = "J" # { of} # " Rain"}
@article{k6,
  a note by hand
  title = {Strange line}, year = 2020}
@article{k3, title = {}, title = {Twice}, year = 2020,}
@article(k4, title = {Round (brackets)}, year = 2020)
@ARTICLE { k5 , TITLE={Spaces} , YEAR = 2020 , }
"""
    found = papers(text)
    assert [paper.title for paper in found] == [
        "No key", "Empty key", "No commas", "Comma missing after braces", "Strange line", "Twice",
        "Round (brackets)", "Spaces",
    ]  # fmt: skip
    assert {paper.year for paper in found} == {2020}
    assert found[2].authors == ("Author, Ada",)
    assert found[3].venue == "J of Rain"


def test_bibtex_entries_inherit_from_their_collection() -> None:
    text = """
@inproceedings{a, title = {Rain}, crossref = {p20}}
@inproceedings{b, title = {Snow}, crossref = {nowhere}}
@proceedings{P20, title = {Proceedings of Weather}, year = 2020, editor = {Bee, B.}, doi = {10.1000/p}}
@inproceedings{c, title = {Hail}, crossref = "P20", year = 2021}
"""
    found = {paper.title: paper for paper in papers(text)}
    assert set(found) == {"Rain", "Snow", "Hail", "Proceedings of Weather"}
    assert (found["Rain"].venue, found["Rain"].year) == ("Proceedings of Weather", 2020)
    assert (found["Hail"].venue, found["Hail"].year) == ("Proceedings of Weather", 2021)
    assert (found["Rain"].doi, found["Snow"].venue) == ("", "")


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"5 \textpm{} 2 \texteuro{}, {\DH}or{\dj}e", "5 ± 2 €, Ðorđe"),
        (
            r"{\textless}i{\textgreater}E. coli{\textless}/i{\textgreater} at p {\textless} 0.05",
            "E. coli at p < 0.05",
        ),
        (r"H{\textless}sub{\textgreater}2{\textless}/sub{\textgreater}O", "H₂O"),
        (r"\&lt;b\&gt;R\&amp;D\&lt;/b\&gt;", "R&D"),
        (r"CO\textsubscript{2}, 10\textsuperscript{3}", "CO₂, 10³"),
        (r"{\guillemotleft}pluie{\guillemotright} {\textquestiondown}qu\'e?", "«pluie» ¿qué?"),
        (r"\textonehalf{} \textperthousand{} \textbullet{} \textrightarrow{}", "½ ‰ • →"),
    ],
)
def test_macros_do_not_print_their_names(latex: str, text: str) -> None:
    (paper,) = papers(f"@misc{{a, title = {{{latex}}}}}")
    assert paper.title == text


@pytest.mark.parametrize(
    "text",
    [
        "PMID- 1\nTI  - Rain\nAB  - WetMID- 2\nTI  - Snow\nAB  - Cold.\n\nPMID- 3\nTI  - Hail\n\n",
        "FN Clarivate\nPT J\nTI Rain\nAB Wet:2\nTI Snow\nAB Cold.\nER\n\nPT J\nTI Hail\nER\nEF",
        "TY  - JOUR\nTI  - Rain\nAB  - WetTI\nTI  - Snow\nER  - \nTY  - JOUR\nTI  - Hail\nER  - ",
        "%0 Book\n%T Rain\n%A A\n%T Snow\n\n%0 Book\n%T Hail\n",
    ],
)
def test_a_record_whose_first_line_was_lost_shows_by_its_title(text: str) -> None:
    assert told(text) == ["Rain", "Snow", "Hail"]


def test_a_title_that_comes_twice_is_one_title() -> None:
    assert told("TY  - JOUR\nT1  - Rain\nTI  - Rain\nTI  - Rain\nER  - \n") == ["Rain"]
