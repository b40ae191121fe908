"""Fields are tidied the same way whatever the source: years, identifiers, names, sections."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index_build.sources.arxiv_categories import NAMES, field_names
from index_build.sources.records import (
    arxiv_of,
    authors_of,
    complete,
    doi_of,
    full_name,
    keywords_of,
    name_paper,
    pmid_of,
    url_of,
    year_of,
)
from index_build.sources.rejects import BadRecord
from index_build.sources.sections import (
    facet_of_heading,
    find_sections,
    join_sections,
    join_sentences,
    with_colons,
)
from search.text.sentences import split_paper
from search.types import Facet, Paper


@pytest.mark.parametrize(
    ("value", "year"),
    [
        (2017, 2017),
        ("2017", 2017),
        (2017.0, 2017),
        ("2017-05-01", 2017),
        ("May 3, 1998", 1998),
        ([["2020", 5]], 2020),
        ("2020///", 2020),
        ("Mon, 2 Apr 2007 19:18:42 GMT", 2007),
        (0, None),
        (20170, None),
        (9999, None),
        ("12017", None),
        ("in press", None),
        (None, None),
        (True, None),
    ],
)
def test_years(value: object, year: int | None) -> None:
    assert year_of(value) == year


@pytest.mark.parametrize(
    ("value", "doi"),
    [
        ("10.1000/ABC", "10.1000/abc"),
        ("https://doi.org/10.1000/abc.", "10.1000/abc"),
        ("http://dx.doi.org/10.1000%2Fabc", "10.1000/abc"),
        ("doi: 10.1000/s0140(05)12-6, and more", "10.1000/s0140(05)12-6"),
        ("(see 10.1000/abc)", "10.1000/abc"),
        ("10.1000/a 10.1000/b", "10.1000/a"),
        ("10.1000/", ""),
        ("no doi", ""),
        (10.1, ""),
        (None, ""),
    ],
)
def test_dois(value: object, doi: str) -> None:
    assert doi_of(value) == doi


@pytest.mark.parametrize(
    ("value", "arxiv_id"),
    [
        ("2101.00001v3", "2101.00001"),
        ("arXiv:0704.0001", "0704.0001"),
        ("https://arxiv.org/abs/math.CO/0101001v1", "math.CO/0101001"),
        ("hep-th/9901001", "hep-th/9901001"),
        ("1.5", ""),
        ("2101.000011", ""),
        (2101.00001, ""),
    ],
)
def test_arxiv_ids(value: object, arxiv_id: str) -> None:
    assert arxiv_of(value) == arxiv_id


def test_other_identifiers() -> None:
    assert [pmid_of(value) for value in ("PMID: 123", 123, "1234567890", None)] == ["123", "123", "", ""]
    assert url_of(" https://example.org/a ") == "https://example.org/a"
    assert not any(map(url_of, ("javascript:x", "example.org", "https://a b", "https://a\u200bb", 1)))


def test_links_and_dois_complete_the_identifiers() -> None:
    by_doi = complete(Paper(id="x", title="T", doi="10.48550/arxiv.2101.00001"))
    assert by_doi.arxiv_id == "2101.00001"
    by_link = complete(Paper(id="x", title="T", url="https://doi.org/10.1000/A"))
    assert by_link.doi == "10.1000/a"
    assert (
        complete(Paper(id="x", title="T", url="https://arxiv.org/abs/2101.00001v2")).arxiv_id == "2101.00001"
    )
    assert complete(Paper(id="x", title="T", url="https://pubmed.ncbi.nlm.nih.gov/17/")).pmid == "17"
    with pytest.raises(BadRecord, match="no title and no abstract"):
        complete(Paper(id="x", title=""))


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ("Author, A.; Author, B.", ("Author, A.", "Author, B.")),
        ("Author, A. and Author, B.", ("Author, A.", "Author, B.")),
        ("A. Author, B. Author and C. Author", ("A. Author", "B. Author", "C. Author")),
        ("A. Author, B. Author, and C. Author", ("A. Author", "B. Author", "C. Author")),
        ("Author AB, Author CD.", ("Author, AB", "Author, CD")),
        ("Author, Ada", ("Author, Ada",)),
        ("van der Author, Ada B.", ("van der Author, Ada B.",)),
        ("Author", ("Author",)),
        (["A. Author", {"name": "B. Author"}, None, 7], ("A. Author", "B. Author", "7")),
        ([{"family": "Author", "given": "A."}], ("Author, A.",)),
        ([{"last": "Bee", "first": "B.", "middle": ["C."]}], ("Bee, B. C.",)),
        (["A. Author", "A. Author"], ("A. Author", "A. Author")),
        (None, ()),
    ],
)  # fmt: skip
def test_authors(value: object, names: tuple[str, ...]) -> None:
    assert authors_of(value) == names


def test_names_and_keywords() -> None:
    assert full_name(" Author ", "Ada", "Jr.") == "Author, Ada, Jr."
    assert keywords_of("a, b, a,") == ("a", "b")
    assert keywords_of("Type 2, of two; b") == ("Type 2, of two", "b")


def test_ids_are_the_most_lasting_there_are() -> None:
    assert name_paper("x:", "T", doi="10.1/a", arxiv="1", pmid="2") == "doi:10.1/a"
    assert name_paper("x:", "T", arxiv="1", pmid="2") == "arxiv:1"
    assert name_paper("x:", "T", pmid="2") == "pmid:2"
    assert name_paper("x:", "T", "A") == name_paper("x:", "T", "A") != name_paper("x:", "T", "B")


def test_arxiv_categories_by_name() -> None:
    assert field_names(["cs.CL", "stat.ML", "solv-int", "new.XX"]) == (
        "Computer Science",
        "Statistics",
        "Physics",
        "Computation and Language (cs.CL)",
        "Machine Learning (stat.ML)",
        "Exactly Solvable and Integrable Systems (nlin.SI)",
        "new.XX",
    )
    assert field_names(["cs.IT", "math.IT"]) == (
        "Computer Science",
        "Mathematics",
        "Information Theory (cs.IT/math.IT)",
    )
    assert len(NAMES) > 140


# -- structured abstracts


@pytest.mark.parametrize(
    ("heading", "facet"),
    [
        ("BACKGROUND", Facet.BACKGROUND),
        ("Background and Objectives", Facet.BACKGROUND),
        ("AIM", Facet.OBJECTIVE),
        ("Purpose of Review", Facet.OBJECTIVE),
        ("MATERIALS AND METHODS", Facet.METHOD),
        ("DESIGN, SETTING, AND PARTICIPANTS", Facet.METHOD),
        ("Main Outcome Measures", Facet.METHOD),
        ("FINDINGS", Facet.RESULT),
        ("CONCLUSIONS AND RELEVANCE", Facet.RESULT),
        ("CONCLUSION", Facet.RESULT),
        ("TRIAL REGISTRATION", Facet.OTHER),
        ("background_label", Facet.BACKGROUND),
        ("other_label", Facet.OTHER),
        ("METHOD", Facet.METHOD),
        ("METHODS AND RESULTS", None),
        ("UNASSIGNED", None),
        ("", None),
    ],
)
def test_facets_of_headings(heading: str, facet: Facet | None) -> None:
    assert facet_of_heading(heading) == facet


def cut(text: str) -> list[tuple[str, Facet]]:
    return [(text[section.start : section.end].strip(), section.facet) for section in find_sections(text)]


def test_headings_within_a_plain_abstract() -> None:
    text = "BACKGROUND: It rains. METHODS: We look: often. TRIAL NUMBER: 17. RESULTS: It is wet."
    assert cut(text) == [
        ("BACKGROUND: It rains.", Facet.BACKGROUND),
        ("METHODS: We look: often.", Facet.METHOD),
        ("RESULTS: It is wet.", Facet.RESULT),
    ], "an unknown heading ends a section and begins none"
    assert [facet for _, facet in cut("Motivation: It rains. Results: It is wet.")] == [
        Facet.BACKGROUND,
        Facet.RESULT,
    ]
    assert [facet for _, facet in cut("Before. Methods: We look. Results: Wet.")] == [
        Facet.METHOD,
        Facet.RESULT,
    ]


@pytest.mark.parametrize(
    "text",
    [
        "We show three results: rain, snow and hail. The methods: none.",
        "Background: a word on rain.",
        "RAIN: a system. SNOW: another system.",
        "No colon at all.",
        "",
    ],
)
def test_plain_abstracts_have_no_sections(text: str) -> None:
    assert find_sections(text) == ()


def test_headings_with_stops_get_colons() -> None:
    text = "Context. It rains. Aims. We want to know why. Methods. We look. It is Rain. Results. Wet."
    assert with_colons(text) == (
        "Context: It rains. Aims: We want to know why. Methods: We look. It is Rain. Results: Wet."
    )
    assert [section.facet for section in find_sections(with_colons(text))] == [
        Facet.BACKGROUND,
        Facet.OBJECTIVE,
        Facet.METHOD,
        Facet.RESULT,
    ]
    assert with_colons("It rains. Methods. We look.") == "It rains. Methods. We look."


@given(
    st.lists(st.tuples(st.sampled_from(["", "AIM", "METHODS", "UNKNOWN"]), st.just(""), st.text(min_size=1)))
)
def test_sections_cover_their_parts(parts: list[tuple[str, str, str]]) -> None:
    abstract, sections = join_sections(parts)
    bodies = [body for heading, _, body in parts if facet_of_heading(heading)]
    assert len(sections) == len(bodies)
    for section, body in zip(sections, bodies, strict=True):
        assert body in abstract[section.start : section.end]


def test_sections_become_hints_of_the_sentences() -> None:
    abstract, sections = join_sections(
        [("AIM", "", "To see. To hear."), ("X", "", "So."), ("RESULTS", "", "Wet.")]
    )
    paper = split_paper(Paper(id="x", title="T", abstract=abstract, sections=sections))
    assert [(sentence.text, sentence.facet) for sentence in paper.sentences] == [
        ("AIM: To see.", Facet.OBJECTIVE),
        ("To hear.", Facet.OBJECTIVE),
        ("X: So.", None),
        ("RESULTS: Wet.", Facet.RESULT),
    ]


@given(st.lists(st.tuples(st.text(), st.sampled_from(["method_label", "RESULT", None, "nonsense", 3]))))
def test_given_sentences_have_exact_spans(labelled: list[tuple[str, object]]) -> None:
    abstract, sentences = join_sentences([text for text, _ in labelled], [label for _, label in labelled])
    assert [sentence.text for sentence in sentences] == [text for text, _ in labelled if text]
    for sentence in sentences:
        assert abstract[sentence.start : sentence.end] == sentence.text
        assert sentence.hinted == (sentence.facet is not None)


@pytest.mark.parametrize(
    "written",
    [
        "10.1002/(SICI)1521-3951(199911)216:1<391::AID-PSSB391>3.0.CO;2-K",
        "https://doi.org/10.1002/(SICI)1521-3951(199911)216:1%3C391::AID-PSSB391%3E3.0.CO;2-K",
        "10.1002/(SICI)1521-3951(199911)216:1&lt;391::AID-PSSB391&gt;3.0.CO;2-K",
        "10.1002/(SICI)1521-3951(199911)216:1&amp;lt;391::AID-PSSB391&amp;gt;3.0.CO;2-K",
        r"10.1002/(SICI)1521-3951(199911)216:1{\textless}391::AID-PSSB391{\textgreater}3.0.CO;2-K",
        r"10.1002/(SICI)1521-3951(199911)216:1\textless{}391::AID-PSSB391\textgreater{}3.0.CO;2-K",
        r"10.1002/(SICI)1521-3951(199911)216:1\textless391::AID-PSSB391\textgreater3.0.CO;2-K",
        "10.1002/(SICI)1521-3951(199911)216:1$<$391::AID-PSSB391$>$3.0.CO;2-K",
        "http://dx.doi.org/10.1002%2F(SICI)1521-3951(199911)216%3A1%3C391%3A%3AAID-PSSB391%3E3.0.CO%3B2-K",
    ],
)
def test_dois_with_angle_brackets_are_whole(written: str) -> None:
    assert doi_of(written) == "10.1002/(sici)1521-3951(199911)216:1<391::aid-pssb391>3.0.co;2-k"


def test_angle_brackets_of_tags_end_a_doi() -> None:
    assert (
        doi_of("10.1175/1520-0477(1996)077<0437:TNYRP>2.0.CO;2")
        == "10.1175/1520-0477(1996)077<0437:tnyrp>2.0.co;2"
    )
    assert doi_of("<a>10.1000/abc</a>") == "10.1000/abc"
    assert doi_of("10.1000/abc<br>1 more") == "10.1000/abc"
    assert doi_of("10.1000/abc&lt;br&gt;") == "10.1000/abc"


@pytest.mark.parametrize(
    "nothing", ["nan", "NA", "[No abstract available]", "No abstract available.", "None"]
)
def test_what_stands_for_no_text_is_no_text(nothing: str) -> None:
    paper = complete(Paper(id="x", title="Rain", abstract=nothing, venue=nothing))
    assert (paper.abstract, paper.venue) == ("", "")
    with pytest.raises(BadRecord, match="no title and no abstract"):
        complete(Paper(id="x", title=nothing, abstract=nothing))


def test_words_that_only_look_like_nothing_stay() -> None:
    for title in ("Nan, a study", "None of us", "NA+", "Abstract art"):
        assert complete(Paper(id="x", title=title)).title == title


def test_no_number_is_no_pubmed_id() -> None:
    assert [pmid_of(value) for value in ("0", 0, "000", "PMID: 0", "0017")] == ["", "", "", "", "17"]


def test_an_abstract_does_not_begin_with_unlabelled() -> None:
    paper = complete(Paper(id="x", title="Rain", abstract="UNLABELLED: It rains."))
    assert paper.abstract == "It rains."
