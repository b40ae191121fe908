"""Phrases as papers write them, and which of them are shown."""

from __future__ import annotations

import numpy as np
import pytest

from search.topics import terms
from search.topics.phrases import Phrase, find_phrases, is_content, is_name
from search.types import Facet, Paper, Sentence


def paper(number: int, title: str, *sentences: str, facet: Facet = Facet.METHOD) -> Paper:
    return Paper(
        str(number), title, " ".join(sentences), sentences=tuple(Sentence(s, 0, 0, facet) for s in sentences)
    )


def texts(*sentences: str) -> set[str]:
    """The phrases of papers that each have one of these sentences three times over."""
    made = [
        paper(n, "", sentence) for n, sentence in enumerate(sentence for sentence in sentences for _ in "abc")
    ]
    return {phrase.text for phrase in find_phrases(made)}


def test_phrases_are_shown_as_they_are_written() -> None:
    found = texts("Many species of birds are rare.", "We use WordNet in dependency treebanks.")
    assert {"species", "birds", "WordNet", "dependency treebanks"} <= found
    assert not {"specy", "bird", "wordnet"} & found


def test_the_commonest_spelling_is_shown_whatever_else_there_is() -> None:
    spellings = ["a word embedding is", "word embeddings are", "word embeddings in", "Word-embeddings of"]
    (phrase,) = (
        each
        for each in find_phrases([paper(n, "", text + " use.") for n, text in enumerate(spellings)])
        if "word" in each.text.lower()
    )
    assert phrase.text == "word embeddings"
    assert phrase.papers == {0, 1, 2, 3}


def test_capitals_of_titles_and_first_words_are_not_the_words_own() -> None:
    made = [paper(n, "Chinese Treebank Parsers", "The Chinese language is old.") for n in range(3)]
    found = {phrase.text for phrase in find_phrases(made)}
    assert "Chinese treebank parsers" in found


def test_verbs_adjectives_and_function_words_bound_phrases() -> None:
    found = texts(
        "Our parser outperforms the neural baseline for treebanks.",
        "The kernels zorp the treebanks, and they zorp a lattice.",
        "It is performing inside the lattice.",
    )
    assert {"parser", "treebanks", "lattice", "kernels"} <= found
    words = {word for text in found for word in text.split()}
    assert not words & {"zorp", "performing", "inside", "the", "outperforms", "our", "is"}
    assert not {text for text in found if text.endswith("neural")}


def test_the_end_of_a_longer_phrase_is_no_phrase() -> None:
    found = texts("We study conditional random lattices for parsers.")
    assert "conditional random lattices" in found
    assert not {"random lattices", "lattices"} & found


def test_a_phrase_of_words_of_every_field_names_nothing() -> None:
    assert not is_name(("strong", "system"))
    assert not is_name(("results",))
    assert is_name(("parsing", "system"))
    assert not is_name(("training",))
    assert not is_name(("parser", "trained"))
    assert not is_name(("team", "named", "x1"))
    assert is_name(("named", "entity", "recognition"))
    assert is_name(("lexical", "seed"))
    assert not is_content("2020")
    assert not is_content("significantly")
    assert is_content("w2v")


def test_a_phrase_that_two_papers_use_is_left_out() -> None:
    made = [paper(n, "", "We fit random lattices to data.") for n in range(2)]
    assert find_phrases(made) == []
    assert find_phrases([]) == []


def phrase(text: str, *panels: set[int], titles: int = 3) -> Phrase:
    by_panel = tuple(frozenset(each) for each in panels) or (
        frozenset[int](),
        frozenset({0, 1, 2}),
        frozenset[int](),
    )
    return Phrase(text, tuple(text.lower().split()), frozenset().union(*by_panel), by_panel, titles)


def shown(
    *phrases: Phrase, asked: str = "", usual: terms.Usual = lambda term: 0.0, papers: int = 10
) -> list[str]:
    kept = terms.worth_showing(phrases, papers, asked.split(), usual)
    return [each.phrase.text for each in kept if each.own]


def test_what_was_asked_is_not_shown_again_nor_its_short_form() -> None:
    given = (phrase("word sense disambiguation"), phrase("WSD systems"), phrase("sense inventories"))
    assert shown(*given, asked="word sense disambiguation") == ["sense inventories"]


def test_what_the_corpus_uses_as_often_is_not_shown() -> None:
    given = phrase("random lattices")
    assert shown(given, usual=lambda term: 0.2) == ["random lattices"]
    assert shown(given, usual=lambda term: 0.3) == []


def test_a_word_alone_must_be_in_titles_or_in_capitals() -> None:
    assert shown(phrase("sarcasm", titles=3), phrase("proliferation", titles=0)) == ["sarcasm"]
    assert shown(phrase("BLEU", titles=0)) == ["BLEU"]


def test_a_short_form_must_be_familiar_or_spelt_out() -> None:
    given = (phrase("VLP"), phrase("KBs"), phrase("MetaQA"), phrase("sparse lattices"))
    assert shown(*given, papers=91) == ["MetaQA", "sparse lattices"]
    assert shown(*given, papers=90) == ["KBs", "MetaQA", "VLP", "sparse lattices"]
    assert "KBs" in shown(*given, phrase("knowledge bases"), papers=91)


def test_each_phrase_is_in_the_panel_that_uses_it_most() -> None:
    none: set[int] = set()
    given = [
        phrase("noisy recordings", {0, 1, 2, 3}, {4}, none),
        phrase("hidden lattices", {0}, {1, 2, 3, 4, 5}, none),
        phrase("alarm rate", none, none, {6, 7, 8}),
    ]
    found = terms.terms_of_panels(terms.worth_showing(given, 10, (), lambda term: 0.0))
    assert {facet: [term.text for term in each] for facet, each in found.items()} == {
        Facet.BACKGROUND: ["noisy recordings"],
        Facet.METHOD: ["hidden lattices"],
        Facet.RESULT: ["alarm rate"],
    }
    assert found[Facet.METHOD][0].papers == {0, 1, 2, 3, 4, 5}
    assert terms.terms_of_panels([]) == dict.fromkeys(found, ())


def test_log_odds_by_hand() -> None:
    """y = (3, 1), z = (1, 3), prior (4, 4): (3+4)/(4+8-7) against (1+4)/(4+8-5), over sqrt(1/7 + 1/5)."""
    own, rest = np.array([3.0, 1.0]), np.array([1.0, 3.0])
    right = (np.log(7 / 5) - np.log(5 / 7)) / np.sqrt(1 / 7 + 1 / 5)
    assert terms.log_odds(own, rest) == pytest.approx([right, -right])


def test_clusters_are_named_by_what_sets_them_apart() -> None:
    none: set[int] = set()
    given = [
        phrase("noisy recordings", {0, 1, 2, 3}, none, none),
        phrase("random lattices", {4, 5, 6}, none, none),
        phrase("shared corpora", {0, 1, 2, 4, 5, 6}, none, none),
    ]
    weighed = terms.worth_showing(given, 8, (), lambda term: 0.0)
    names = terms.names_of_clusters(weighed, dict(enumerate([0, 0, 0, 0, 1, 1, 1, 2])))
    assert names[0].startswith("noisy recordings")
    assert names[1].startswith("random lattices")
    assert names[2] == ""
    by_method = terms.names_of_clusters(weighed, {0: 0, 1: 0, 2: 0, 4: 1}, panel=1)
    assert by_method == ["", ""]


def test_no_cluster_is_named_by_a_part_of_another_name() -> None:
    none: set[int] = set()
    given = [
        phrase("convolutional network", {0, 1, 2, 3, 4, 5, 6, 7, 8}, none, none),
        phrase("gated convolutional network", {5, 6, 7, 8}, none, none),
        phrase("noisy recordings", {5, 6, 7}, none, none),
        phrase("random lattices", {9, 10, 11, 12}, none, none),
    ]
    weighed = terms.worth_showing(given, 13, (), lambda term: 0.0)
    names = terms.names_of_clusters(weighed, dict(enumerate([0] * 5 + [1] * 4 + [2] * 4)))
    assert "random lattices" in names[2]
    first, second = (set(name.split(", ")) for name in names[:2])
    assert "convolutional network" in first
    assert second == {"noisy recordings"}
