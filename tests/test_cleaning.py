"""Pasted things as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.errors import InputError
from search.text.cleaning import clean_text, has_words


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


def test_of_a_book_the_beginning_is_taken():
    assert clean_text("a" * 1001 + "<p>", 1000) == "a" * 1000


@pytest.mark.parametrize(
    ("given", "cleaned"),
    [
        ("a<!-- <p>b</p> -->c", "a c"),
        ("a<!-- b", "a<!-- b"),
        ("a<script>b", "a b"),
        ("a<SCRIPT x='<p>'>b</Script >c", "a c"),
        ("a<style><!--</style>b<!-- c", "a b<!-- c"),
        ("a<script b<script>c</script>d", "a d"),
        ("a<b<i>c", "a<b c"),
    ],
)
def test_comments_scripts_and_style_sheets_go_whole_if_they_end(given, cleaned):
    assert clean_text(given, 1000) == cleaned


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
