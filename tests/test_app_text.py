"""Texts of papers and visitors reach the page as text, whatever they hold."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.ui import html, results
from pages.ui.escape import markup, one_line, plain, web_addresses
from pages.ui.parts import parts_in_words
from search.types import Evidence, Facet, Likeness, Pair, Paper, Result, Sentence

HOSTILE = (
    '<script>alert("x")</script>',
    '"><img src=x onerror=alert(1)>',
    "</style></article><iframe src=//evil.example></iframe>",
    "[click](javascript:alert(1)) ![x](http://evil.example/p.png)",
    ":red[no] $x^2$ `code` **bold** :material/home: &lt;b&gt;",
)


class Reader(HTMLParser):
    """The tags, attributes and text of a page as a browser would see them."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text += data


def hostile_result(text: str) -> Result:
    sentence = Sentence(text, 0, len(text), Facet.METHOD)
    paper = Paper("x", text, text, (text,), 2020, text, (text,), doi=text, sentences=(sentence,))
    pair = Pair(0, 0, text, Facet.BACKGROUND, 0, text, None, 0.5, 1.0, (text,))
    return Result(paper, 0.5, Likeness.SIMILAR, text, (pair,), Evidence(0.5, 0.5, 0.5))


def drawn(text: str) -> str:
    result = hostile_result(text)
    return (
        html.heading(result.paper, 3)
        + html.byline(result.paper)
        + html.quote(text, result.paper, Facet.RESULT)
        + html.abstract(result.paper, [0])
        + html.abstract(result.paper)
        + html.panel(Facet.METHOD, result.paper.sentences)
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(text: str) -> None:
    page = Reader(drawn(text))
    assert not {"script", "img", "iframe", "style", "b"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on") or name == "src"]
    assert all(
        (value or "").startswith("https://doi.org/") for name, value in page.attributes if name == "href"
    )
    assert text in page.text


@given(st.text(max_size=80))
def test_any_text_draws_the_same_tags(text: str) -> None:
    assert Reader(drawn(text or "x")).tags == Reader(drawn("x")).tags


@given(st.text(max_size=60))
def test_markdown_is_escaped_everywhere(text: str) -> None:
    escaped = plain(text)
    assert "\n" not in escaped
    unescaped = escaped
    for mark in "!\"#$%&'()*+,-./:;<=>?@[]^_`{|}~":
        assert unescaped.count(mark) == unescaped.count("\\" + mark)


def test_control_and_direction_characters_are_left_out() -> None:
    assert one_line("a\x00b\n\t c \u202egnp.exe") == "ab c gnp.exe"
    assert markup("a\u202e<b>\x00") == "a&lt;b&gt;"


def test_addresses_are_web_addresses() -> None:
    paper = Paper("x", "T", doi='10.1/a"b<c', arxiv_id="cs/0101001", pmid="12", url="https://a.org/x y?z=1")
    assert web_addresses(paper) == {
        "DOI": "https://doi.org/10.1/a%22b%3Cc",
        "arXiv": "https://arxiv.org/abs/cs/0101001",
        "PubMed": "https://pubmed.ncbi.nlm.nih.gov/12/",
        "Web page": "https://a.org/x%20y?z=1",
    }
    for url in ("javascript:alert(1)", "data:text/html,x", "//evil.example", "http://[bad", "ftp://a.b", ""):
        assert web_addresses(Paper("x", "T", url=url)) == {}


def test_the_abstract_is_reproduced_with_its_matched_sentences_marked() -> None:
    text = "We ask why.  We measure & weigh. It rains."
    sentences = (
        Sentence("We ask why.", 0, 11, Facet.OBJECTIVE),
        Sentence("We measure & weigh.", 13, 32, Facet.METHOD),
        Sentence("It rains.", 33, 42, Facet.RESULT),
    )
    page = html.abstract(Paper("x", "T", text, sentences=sentences), [1])
    assert '<mark class="method">We measure &amp; weigh.</mark>' in page
    assert page.count("<mark") == 1
    assert Reader(page).text.replace(" Method", "") == text


def test_authors_read_as_names_and_stop_after_four() -> None:
    paper = Paper("x", "T", authors=("Noether, Emmy", "The Group", "B, A", "D, C", "F, E"))
    assert html.authors(paper) == "Emmy Noether, The Group, A B, C D and 1 more"


@pytest.mark.parametrize(
    ("counts", "end"),
    [(True, "avoided 0.00, whole paper 0.40."), (False, "avoided 0.00. Not counted: whole paper 0.40.")],
)
def test_the_evidence_says_whether_the_whole_paper_counts(counts: bool, end: str) -> None:
    told = parts_in_words(Evidence(0.6, 0.4, 0.2, 0.0, counts))
    assert told == f"Before weighting: sentences 0.60, words 0.20, {end}"


def test_the_marks_of_a_long_pair_are_not_remembered() -> None:
    """Thousands of them would fill the memory; the same is drawn either way."""
    results._known_pair.cache_clear()
    for size, remembered in ((10, 1), (results.LONGEST_PAIR, 0)):
        words = "water " * size
        pair = Pair(0, 0, words, Facet.METHOD, 0, "Water moves.", None, 0.5, 1.0, ("water",))
        drawn = results._pair(pair, one=True)
        assert drawn["theirsWhole"] == [("Water", 1), (" moves.", 0)]
        assert results._known_pair.cache_info().currsize == remembered
        results._known_pair.cache_clear()
