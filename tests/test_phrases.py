"""Phrases: the part of a sentence that carries a match, with the words that both share."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.ranking.phrases import LONGEST, SHOWN, mark, phrase
from search.text.tokenizer import tokenize

LONG = (
    "This paper introduces a generalized method of moments technique to estimate dependence parameters "
    "where associations are represented using copulas."
)


def text_of(segments: list[tuple[str, int]]) -> str:
    return "".join(text for text, _ in segments)


def test_the_phrase_is_around_the_shared_words() -> None:
    found = phrase(LONG, ("copulas",), tokenize)
    assert text_of(found) == "… are represented using copulas."
    assert [text for text, shared in found if shared] == ["copulas."]


def test_a_joined_word_counts_and_spelling_does_not() -> None:
    found = phrase("We propose a copula-based model.", ("Copulas",), tokenize)
    assert [text for text, shared in found if shared] == ["copula-based"]


def test_without_shared_words_it_is_how_the_sentence_begins() -> None:
    shown = "This paper introduces a generalized method of moments technique …"
    assert text_of(phrase(LONG, (), tokenize)) == shown


def test_shared_words_are_never_behind_the_end_of_the_line() -> None:
    for shared in ("moments", "estimate dependence", "parameters", "associations"):
        found = phrase(LONG, (shared,), tokenize)
        assert " ".join(text for text, kind in found if kind).split() == shared.split()
        assert max(text_of(found).index(word) + len(word) for word in shared.split()) <= LONGEST + len("… ")
    tight = "A joint model of longitudinally measured biomarkers and of survival times."
    assert text_of(phrase(tight, ("survival",), tokenize)) == "… biomarkers and of survival times."


def test_a_phrase_begins_where_a_clause_does() -> None:
    text = "In the clinic, where nobody counts them, seals recover from their wounds within weeks."
    assert text_of(phrase(text, ("wounds",), tokenize)) == "… seals recover from their wounds within weeks."


@pytest.mark.parametrize("text", ["", " ", "word", "a, b", "… …"])
def test_little_text_is_shown_whole(text: str) -> None:
    assert text_of(phrase(text, ("word",), tokenize)) == " ".join(text.split())


@given(
    st.text(alphabet="ab ,;(\n-", max_size=200),
    st.lists(st.sampled_from(["a", "b", "ab", "b a"]), max_size=3),
)
def test_nothing_is_lost_and_a_phrase_is_a_part(text: str, shared: list[str]) -> None:
    whole = mark(text, shared, tokenize)
    assert text_of(whole) == " ".join(text.split())
    assert text_of(phrase(text, shared, tokenize)).strip("… ") in text_of(whole)
    shown = text_of(phrase(text, shared, tokenize)).strip("… ")
    assert len(shown) <= SHOWN or len(shown.split()) == 1
