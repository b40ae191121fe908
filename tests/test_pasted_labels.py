"""Labels of pasted text: headings are hints, long texts keep their labels, titles and keywords get none."""

from __future__ import annotations

import pytest

from search.encoder.loading import load_encoder
from search.query.reader import Reader
from search.text.headings import without_headings
from search.types import Facet

ABSTRACT = (
    "Sentence labels help readers to find what they need in long abstracts. However, labels drift when a "
    "text is longer than the model was made for. Little is known about how far they drift in practice. "
    "We split each text at its paragraphs and label every paragraph on its own. "
    "Labels are then compared with those of the first paragraph by exact agreement. "
    "We used four collections of abstracts from two fields and one model of six layers. "
    "Agreement rose from 61 to 98 percent on all four collections. "
    "These results suggest that long texts should be read paragraph by paragraph."
)


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader(load_encoder().encode_one, lambda _: None, lambda _: pytest.fail("no corpus here"))


def facets(reader: Reader, text: str) -> list[Facet | None]:
    return [sentence.facet for sentence in reader.read_text(text).sentences]


@pytest.mark.slow
@pytest.mark.parametrize("between", ["\n\n", "\n"])
def test_a_repeated_abstract_keeps_its_labels(reader, between):
    once = facets(reader, f"Labels that drift\n\n{ABSTRACT}")
    again = facets(reader, "Labels that drift\n\n" + between.join([ABSTRACT] * 8))
    assert again == once * 8


@pytest.mark.parametrize(
    "text",
    [
        "BACKGROUND: Noise is common. METHODS: We asked 40 nurses. RESULTS: Most agreed.",
        "A title\n\nBackground\nNoise is common.\nMethods\nWe asked 40 nurses.\nResults\nMost agreed.",
        "Introduction. Noise is common. Materials and methods. We asked 40 nurses. Results. Most agreed.",
        "Title of it\nIntroduction\nNoise is common.\n\nMETHODS\nWe asked 40 nurses.\n\nRESULTS:\nMost "
        "agreed.",
    ],
)
def test_headings_are_hints_and_no_text(reader, text):
    paper = reader.read_text(text)
    assert [(each.text, each.facet) for each in paper.sentences] == [
        ("Noise is common.", Facet.BACKGROUND),
        ("We asked 40 nurses.", Facet.METHOD),
        ("Most agreed.", Facet.RESULT),
    ]


def test_one_heading_is_no_structure():
    assert without_headings("Introduction. Noise is common. We ask.") == ("Noise is common. We ask.", ())
    assert without_headings("Noise is common. Models: three of them.")[0].endswith("Models: three of them.")


@pytest.mark.parametrize(
    "text",
    [
        "Attention is all you need",
        "Deep learning for\nCitation analysis",
        "citation analysis; sentence labels; drift",
        "neural networks\ncitation analysis\nlabels",
        "Keywords: nurses, noise",
    ],
)
def test_a_title_or_keywords_get_no_label(reader, text):
    assert set(facets(reader, text)) == {None}
