"""Pasted things as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.cleaning import clean_text, has_words
from search.errors import InputError


@pytest.mark.parametrize(
    ("given", "cleaned"),
    [
        ("plain text", "plain text"),
        ("  padded\n", "padded"),
        ("<p>One.</p><p>Two.</p>", "One.\n\nTwo."),
        ("H<sub>2</sub>O &lt; ice", "H 2 O < ice"),
        ("if a < b and c > d", "if a < b and c > d"),
        ("p<0.05, n>30", "p<0.05, n>30"),
        ("&amp;lt;b&gt;", "&lt;b>"),
        ("before<script>alert('x')</script>after", "before after"),
        ("no\x00nulls\x07 here", "nonulls here"),
        ("two\nlines\tkept", "two\nlines\tkept"),
        ("émile 漢字 🚗", "émile 漢字 🚗"),
    ],
)
def test_markup_and_control_characters_go_and_text_stays(given, cleaned):
    assert clean_text(given, 1000) == cleaned


def test_a_book_is_refused_with_both_numbers():
    with pytest.raises(InputError, match=r"1,001 characters.*up to 1,000"):
        clean_text("a" * 1001, 1000)


def test_binary_data_is_refused_and_a_few_bad_characters_are_not():
    with pytest.raises(InputError, match="binary"):
        clean_text("%PDF\x00\x01\x02\x03\ufffd\ufffd", 1000)
    assert clean_text("A na\ufffdve approach", 1000) == "A nave approach"


@given(st.text(max_size=300))
def test_whatever_comes_out_can_be_written_to_a_file(text):
    try:
        cleaned = clean_text(text, 1000)
    except InputError:
        return
    assert cleaned.encode("utf-8").decode("utf-8") == cleaned
    assert "\x00" not in cleaned


@pytest.mark.parametrize(
    ("text", "has"), [("a", True), ("7", True), ("語", True), ("", False), ("🚗 …", False)]
)
def test_words_of_any_script_count(text, has):
    assert has_words(text) is has
