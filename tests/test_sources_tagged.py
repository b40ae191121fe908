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
BENT = """1. Found by a database
TY - CONF
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
