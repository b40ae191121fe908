"""Reasons say only what is in the sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from search.encoder import load_encoder
from search.ranking.explanation import (
    NEAR,
    Place,
    Words,
    avoided_terms,
    find_pairs,
    give_reason,
    near_terms,
    shared_terms,
)
from search.text.tokenizer import tokenize
from search.types import Choice, Facet, Paper, Query, QueryPaper, QuerySentence, Sentence

RARE = {"noisy": 5.0, "label": 3.0, "pretraining": 6.0, "training": 2.0, "graph": 4.0, "model": 0.5}
WORDS = Words(tokenize, lambda term: RARE.get(term, 0.0))


def paper(*texts: str) -> Paper:
    return Paper("p", "Found", sentences=tuple(Sentence(text, 0, len(text), Facet.METHOD) for text in texts))


QUERY = Query(
    (
        QueryPaper(
            "Asked",
            (
                QuerySentence("Data are scarce.", Facet.BACKGROUND),
                QuerySentence("We use pre-training on noisy labels.", Facet.METHOD),
            ),
        ),
    )
)
PLACES = (Place(0, 0), Place(0, 1))


def test_terms_in_both_texts_rarest_first_and_spelt_as_asked():
    ours = "We use pre-training with noisy labels and a model."
    theirs = "A noisy label hurts pretraining of any model."
    assert shared_terms(ours, theirs, WORDS) == ("noisy labels", "pre-training")


def test_neighbours_count_as_a_pair_only_in_both_texts():
    assert shared_terms("noisy labels", "labels that are noisy", WORDS) == ("noisy", "labels")


def test_what_is_avoided_is_named_by_phrases_or_else_by_words():
    avoided = QuerySentence("Noisy labels hurt a graph.", choice=Choice.AVOID)
    query = Query((QueryPaper("Asked", (avoided, QuerySentence("Pretraining helps."))),))
    found = Paper("p", "Noisy labels in a graph", "Pretraining helps.")
    assert avoided_terms(query, found, WORDS) == ("Noisy labels",)
    assert avoided_terms(query, replace(found, title="A noisy graph"), WORDS) == ("Noisy", "graph")
    assert avoided_terms(query, replace(found, title="Nothing"), WORDS) == ()


def test_a_word_is_seen_inside_a_joined_one():
    words = Words(tokenize, lambda term: {"graphbased": 7.0, "graph": 4.0, "non": 9.0}.get(term, 0.0))
    assert shared_terms("We learn graphs.", "A graph-based approach.", words) == ("graphs",)
    assert shared_terms("A Graph-based approach.", "We learn graphs.", words) == ("Graph",)
    # Said once: the whole, not its part as well.
    assert shared_terms("A graph-based approach.", "Another graph-based one.", words) == ("graph-based",)
    assert shared_terms("A non-linear approach.", "A non-negative one.", words) == ()


def test_common_and_empty_words_are_no_evidence():
    assert shared_terms("We propose the model in 2019", "We propose the model in 2019", WORDS) == ()
    assert shared_terms("", "noisy", WORDS) == ()


def test_no_term_stands_in_only_one_of_the_two():
    ours, theirs = "graph pre-training on noisy labels", "noisy graph"
    for term in shared_terms(ours, theirs, WORDS):
        assert set(tokenize(term)) <= set(tokenize(ours)) & set(tokenize(theirs))


def test_pairs_are_ordered_and_sum_to_one():
    similarity = np.array([[0.2, 0.3], [0.8, 0.4]], dtype=np.float32)
    shares = np.array([[0.0, 0.5], [0.5, 0.0]], dtype=np.float32)
    found = find_pairs(QUERY, PLACES, paper("Noisy labels are used.", "Other."), similarity, shares, WORDS)
    assert [(pair.query_sentence, pair.position) for pair in found] == [(1, 0), (0, 1)]
    assert sum(pair.share for pair in found) == pytest.approx(1)
    assert found[0].share == pytest.approx(0.8 / 1.1)
    assert found[0].similarity == pytest.approx(0.8)
    assert (found[0].query_facet, found[0].facet) == (Facet.METHOD, Facet.METHOD)
    assert give_reason(QUERY, found, WORDS) == (
        "Matches your method sentence 2, “We use pre-training on noisy labels”, with “Noisy labels are used”."
    )


def test_specks_are_not_shown():
    similarity = np.ones((2, 3), dtype=np.float32)
    shares = np.array([[0.5, 0.001, 0.0], [0.499, 0, 0]], dtype=np.float32)
    assert len(find_pairs(QUERY, PLACES, paper("a", "b", "c"), similarity, shares, WORDS)) == 2


def test_a_match_without_shared_words_is_quoted_too():
    one = np.ones((2, 1), dtype=np.float32)
    found = find_pairs(QUERY, PLACES, paper("Quite different."), one, one / 2, WORDS)
    said = "Matches your background sentence 1, “Data are scarce”, with “Quite different”."
    assert give_reason(QUERY, found, WORDS) == said


def test_free_text_and_several_papers_are_named_as_what_they_are():
    one = np.ones((1, 1), dtype=np.float32)
    free = Query((QueryPaper("", (QuerySentence("noisy labels", Facet.OTHER),)),))
    found = find_pairs(free, (Place(0, 0),), paper("Noisy labels."), one, one, WORDS)
    assert give_reason(free, found, WORDS) == "Matches your text, “noisy labels”, with “Noisy labels”."

    several = Query((*free.papers, *QUERY.papers))
    found = find_pairs(several, (Place(1, 1),), paper("Noisy labels."), one, one, WORDS)
    assert give_reason(several, found, WORDS) == (
        "Matches method sentence 2 of “Asked”, “We use pre-training on noisy labels”, with “Noisy labels”."
    )


def test_near_words_are_paired_once_and_never_with_themselves() -> None:
    known = {"photos": (1.0, 0.0), "images": (0.9, 0.1), "pictures": (0.8, 0.3), "seals": (0.0, 1.0)}

    def likeness(ours: Sequence[str], theirs: Sequence[str]) -> NDArray[np.float32]:
        left, right = (np.array([known.get(word, (0.0, 0.0)) for word in words]) for words in (ours, theirs))
        return (left @ right.T).astype(np.float32)

    words = Words(tokenize, lambda term: 5.0, likeness=likeness)
    found = near_terms("Many photos of seals", "The images and pictures of seals", words)
    assert found == (("photos", "images"),)
    assert near_terms("Seals", "Seals", words) == ()
    assert near_terms("photos", "images", Words(tokenize, lambda term: 5.0)) == ()


def test_the_default_encoder_knows_which_words_are_near() -> None:
    likeness = load_encoder("default").word_vectors.likeness(
        ["image", "faster"], ["photo", "speed", "xyzzyq"]
    )
    assert likeness[0, 0] > NEAR > likeness[0, 1]
    assert likeness[1, 1] > NEAR > likeness[1, 0]
    assert not likeness[:, 2].any()
