"""Papers to train on, and their words."""

from __future__ import annotations

from search.types import Document
from tests.training.made import DOCUMENTS
from training.corpus import Corpus, Words


def test_a_paper_of_several_windows_is_not_trained_on(corpus: Corpus) -> None:
    assert not corpus.has("p16")
    assert not corpus.has("nowhere")
    assert all(corpus.has(id) for id in list(DOCUMENTS)[:16])
    assert sorted(corpus.window[:16]) == list(range(16))


def test_words_of_chosen_sentences_count_most() -> None:
    papers = {
        "query": Document("", ("Bees hear microphones.", "Vans plan routes.")),
        "bees": Document("", ("Bees and microphones are here.",)),
        "vans": Document("", ("Vans and routes are here.",)),
        "none": Document("", ("Glaciers melt over there.",)),
    }
    words = Words(papers)
    for chosen, near, far in (((0,), 0, 1), ((1,), 1, 0)):
        found = words.likeness(papers["query"], chosen, ["bees", "vans", "none"])
        assert 1 > found[near] > found[far] > found[2] == 0
    own = words.likeness(papers["query"], (0, 1), ["query", "bees"])
    assert 1 > own[0] > own[1]
