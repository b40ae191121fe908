"""Sentences: hard cases by hand, agreement with two collections, and spans that reproduce any text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.text.pasted import parse_pasted
from search.text.sentences import split, split_paper
from search.types import Facet, Paper, Section, Sentence

HARD = {
    "et al.": ["Mikolov et al. (2013) learn vectors.", "We extend it with Peters et al. and more."],
    "et al. before a sentence": ["This follows Devlin et al.", "We train longer."],
    "figures and equations": ["As Fig. 2 shows, it works.", "See Eq. (3) and Sec. 4 of Ref. 5."],
    "i.e. and e.g.": ["Some models, e.g. BERT, are large, i.e. they do not fit.", "Others (cf. Sec. 2) do."],
    "abbreviation before a capital": [
        "Compare this, cf. The Handbook of Saws, vs. That of Dr. Who.",
        "It agrees.",
    ],
    "decimals": ["We reach 98.5 at p < .05.", "This is 3.2 points more than 95.3."],
    "citations": ["It was shown [3, 4].", "It was doubted (see [12]).", "We settle it."],
    "formulae": ["Let f(x) = a.b + c.", "Then f is O(n log n) for n > 0.5."],
    "initials": ["The proof by E. W. Dijkstra is short.", "A. M. Turing had another."],
    "species": ["E. coli and S. cerevisiae grow.", "B. subtilis does not grow at 37.5 C."],
    "a letter that ends a sentence": ["We measure vitamin C.", "We find little."],
    "URLs": ["Code is at https://example.org/a/b.git.", "Data is at www.example.org/a.html?b=1.c."],
    "no final stop": ["We propose a model.", "It has no end"],
    "all caps": ["WE SHOW A THING.", "IT WORKS WELL.", "RESULTS ARE GOOD."],
    "abbreviations": ["Approx. 30 mg of St. John's wort vs. placebo was given at 5 p.m.", "All slept."],
    "questions": ["Is it so?", "It is!", "Why?!", "Nobody knows."],
    "aside": ['"Is it true?" they ask.', "(It is.)", "We agree."],
    "numbered list": ["1. We read.", "2. We write."],
    "ellipsis": ["They learn words, tags, ... and more.", "We learn less."],
    "names with stops": ["Node.js and ASP.NET are used.", "The U.S. Government agreed."],
    "copyright": ["We conclude.", "2012 Elsevier B.V.", "All rights reserved."],
}


@pytest.mark.parametrize("case", HARD)
def test_hard_case(case):
    assert [sentence.text for sentence in split(" ".join(HARD[case]))] == HARD[case]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("本文提出一种新方法。实验表明该方法有效！结果很好", 3),
        ("これは新しい手法である。「本当か？」実験で確かめた。", 3),
        ("यह एक वाक्य है। यह दूसरा वाक्य है।", 2),
        ("هذا نص قصير. هل هو سؤال؟ نعم هو كذلك", 3),
        ("Это первое предложение. Это второе предложение.", 2),
        ("Αυτή είναι μια πρόταση. Αυτή είναι άλλη.", 2),
        ("이것은 문장이다. 이것도 문장이다.", 2),
    ],
)
def test_other_scripts(text, count):
    assert len(split(text)) == count


def test_space_lost_after_a_stop():
    texts = [s.text for s in split("We train a new model.We test it on text.However, node.The stays.")]
    assert texts[:2] == ["We train a new model.", "We test it on text."]


def test_nothing_gives_nothing():
    assert split("") == split(" \n\t ") == ()


def test_one_giant_sentence_stays_whole():
    text = "word " * 3000 + "end"
    assert [s.text for s in split(text)] == [text]


def test_text_that_is_not_language_is_split_in_time():
    # A megabyte of dots once took minutes; now it is cut into stretches.
    assert len(split("a. " * 30_000)) >= 1


@pytest.mark.parametrize("unit", ["a", "a.", "漢", "a\n", "1!"])
def test_a_word_without_end_is_cut(unit):
    """No stretch is longer than what Punkt gets at once; nothing is lost."""
    text = unit * (90_000 // len(unit))
    sentences = split(text)
    assert max(len(sentence.text) for sentence in sentences) <= 20_300
    assert "".join(sentence.text for sentence in sentences).replace("\n", "") == text.replace("\n", "")


def test_thousands_of_sections_give_their_facets():
    text = "We count. " * 1900
    facets = [Facet.METHOD, Facet.RESULT] * 950
    sections = tuple(Section(10 * at, 10 * at + 10, facet) for at, facet in enumerate(facets) if at % 5)
    paper = split_paper(Paper("a", "Rain", text, sections=sections))
    expected = [facet if at % 5 else None for at, facet in enumerate(facets)]
    assert [sentence.facet for sentence in paper.sentences] == expected
    assert [sentence.hinted for sentence in paper.sentences] == [facet is not None for facet in expected]


def test_words_cut_at_line_ends_are_made_whole():
    text = "Rain\n\nA multi-\nagent sys-\ntem and self-\nmade tools, as multi-agents go, are\nhere: 漢-\nabc"
    assert parse_pasted(text) == (
        "Rain",
        "A multi-agent system and self-made tools, as multi-agents go, are here: 漢abc",
    )


def test_many_cut_words_are_made_whole():
    cut = " ".join(f"wo-\nrd{number}" for number in range(5000))
    whole = " ".join(f"word{number}" for number in range(5000))
    assert parse_pasted(f"Rain\n\n{cut}") == ("Rain", whole)


def test_wrapped_lines_are_only_spaces():
    assert [s.text for s in split("A line that\nwraps. And\nanother.")] == [
        "A line that\nwraps.",
        "And\nanother.",
    ]


def test_one_sentence_per_line_is_the_users_split():
    text = "We do it like Smith et al.\nThen vs. Now, we say. Fine.\nAnd it works."
    assert [s.text for s in split(text)] == text.split("\n")


def test_paragraphs_of_sentences_are_still_split():
    text = "One is here. Two is here. Three is here.\nFour is here. Five is here. Six is here."
    assert len(split(text)) == 6


def test_blank_line_ends_a_sentence():
    assert len(split("a heading without a stop\n\nThe text\nbegins here.")) == 2


def gold_sentences(folder, name):
    if name == "csfcube":
        lines = (
            (folder / "csfcube" / "abstracts-csfcube-preds.jsonl").read_text(encoding="utf-8").splitlines()
        )
        return [json.loads(line)["abstract"] for line in lines]
    files = (folder / "csabstruct" / "train.jsonl", folder / "csabstruct" / "dev.jsonl")
    lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return [json.loads(line)["sentences"] for line in lines]


def boundaries(texts):
    """Where the sentences end in their joined text, but for the last."""
    ends, place = set(), 0
    for text in texts:
        place += len(text)
        ends.add(place)
        place += 1
    return ends - {place - 1}


@pytest.mark.data
@pytest.mark.parametrize("name", ["csfcube", "csabstruct"])
def test_agreement_with_given_sentences(shared_data, name):
    """F1 over sentence boundaries, as sentence splitters are measured (Kiss and Strunk 2006)."""
    right = found = expected = 0
    for given_texts in gold_sentences(shared_data, name):
        texts = [text.strip() for text in given_texts if text.strip()]
        joined = " ".join(texts)
        gold = boundaries(texts)
        ours = {sentence.end for sentence in split(joined)} - {len(joined)}
        right, found, expected = right + len(gold & ours), found + len(ours), expected + len(gold)
    assert 2 * right / (found + expected) >= 0.98


PIECES = st.sampled_from(
    'We_show|e.g.|i.e.|et_al.|Fig.|.|._|!_|?|\n|\n\n|(|)|"|1.|E._coli|。|！|؟_|।|_|__|U.S.|The|a|…|'
    "\u00a0|é|𝒳|\x1c|\u2028|...|]".replace("_", " ").split("|")
)
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=30).map("".join))


@given(TEXTS)
def test_spans_reproduce_the_text(text):
    sentences = split(text)
    place = 0
    for sentence in sentences:
        assert text[sentence.start : sentence.end] == sentence.text
        assert sentence.text == sentence.text.strip() != ""
        assert text[place : sentence.start].strip() == ""
        place = sentence.end
    assert text[place:].strip() == ""


@given(TEXTS, st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40))))
def test_sections_never_lose_text(text, spans):
    sections = tuple(Section(a, b, Facet.METHOD) for a, b in spans if a < b <= len(text))
    paper = split_paper(Paper("p", "A title", abstract=text, sections=sections))
    whole = paper.abstract or paper.title
    assert "".join("".join(s.text for s in paper.sentences).split()) == "".join(whole.split())
    assert all(whole[s.start : s.end] == s.text for s in paper.sentences)


def test_section_becomes_a_hint_and_ends_a_sentence():
    abstract = "We care about it. We use a saw It cuts well."
    start = abstract.index("It cuts")
    sections = (Section(18, start, Facet.METHOD), Section(start, len(abstract), Facet.RESULT))
    paper = split_paper(Paper("p", "Saws", abstract=abstract, sections=sections))
    assert [(s.text, s.facet, s.hinted) for s in paper.sentences] == [
        ("We care about it.", None, False),
        ("We use a saw", Facet.METHOD, True),
        ("It cuts well.", Facet.RESULT, True),
    ]


def test_title_stands_in_for_a_missing_abstract():
    paper = split_paper(Paper("p", " Dr. Who vs. time. A study ", abstract="  "))
    assert paper.sentences == (Sentence("Dr. Who vs. time. A study", 1, 26),)
    assert paper.abstract == ""


def test_given_sentences_are_kept():
    sentences = (Sentence("One two.", 0, 8, Facet.RESULT, hinted=True), Sentence("three", 9, 14))
    paper = Paper("p", "T", abstract="One two. three", sentences=sentences)
    assert split_paper(paper) is paper


def test_given_sentences_that_do_not_fit_make_the_abstract():
    sentences = (Sentence("One.", 0, 0, Facet.RESULT), Sentence(" ", 0, 0), Sentence("Two.", 0, 0))
    paper = split_paper(Paper("p", "T", abstract="something else", sentences=sentences))
    assert paper.abstract == "One. Two."
    assert [(s.start, s.end, s.facet) for s in paper.sentences] == [(0, 4, Facet.RESULT), (5, 9, None)]


PASTED = {
    "title, then text": (
        "Attention is all you need\nThe dominant models are complex. We propose a simple one.",
        ("Attention is all you need", "The dominant models are complex. We propose a simple one."),
    ),
    "labels": (
        "Title: A study of things\n\nAbstract: We study things. They are good.\nKeywords: things, study",
        ("A study of things", "We study things. They are good."),
    ),
    "PDF with authors and a cut word": (
        "BERT: Pre-training of deep\nbidirectional transformers\nSome Authors\n\nAbstract\n"
        "We introduce a new lan-\nguage model. It is self-\nsupervised.\n1 Introduction\nRecently",
        (
            "BERT: Pre-training of deep bidirectional transformers",
            "We introduce a new language model. It is self-supervised.",
        ),
    ),
    "hyphen seen elsewhere": (
        "A title\n\nWe use a graph-\nbased method. A graph-based one is fast.",
        ("A title", "We use a graph-based method. A graph-based one is fast."),
    ),
    "only an abstract": ("We propose it. It works.", ("", "We propose it. It works.")),
    "only a wrapped abstract": (
        "We propose a thing that,\nover lines, wraps. It works.",
        ("", "We propose a thing that, over lines, wraps. It works."),
    ),
    "a question for a title": ("Do saws cut?\nWe ask. They do.", ("Do saws cut?", "We ask. They do.")),
    "a first line that is no title": (
        "We offer a tool for\nDNA. It works.",
        ("", "We offer a tool for DNA. It works."),
    ),
    "only words": ("graph neural networks", ("graph neural networks", "")),
    "one sentence per line": ("A title\nWe do.\nWe say.", ("A title", "We do.\nWe say.")),
    "Windows line ends": ("A title\r\n\r\nSome text\r\nhere.", ("A title", "Some text here.")),
    "nothing": ("  \n ", ("", "")),
}


@pytest.mark.parametrize("case", PASTED)
def test_pasted(case):
    text, expected = PASTED[case]
    assert parse_pasted(text) == expected


@given(TEXTS)
def test_pasting_anything_gives_text_back(text):
    title, abstract = parse_pasted(text)
    assert isinstance(title, str)
    assert "\r" not in title + abstract
    assert "\n" not in title
