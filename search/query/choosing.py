"""What the user asks for: which sentences to match and which to avoid."""

from __future__ import annotations

import reprlib
from collections.abc import Collection
from dataclasses import replace

from search.errors import InputError
from search.types import Choice, Facet, Query, QueryPaper

MOST_CHARACTERS = 50_000
"""Characters of the longest text that is read as a query: about 30 abstracts. Chosen by hand."""
MOST_PAPERS = 200
"""Papers in the longest list to search with; chosen by hand."""
MOST_SENTENCES = 1000
"""Sentences of one query paper that are read: 50 characters each fill the longest text. Chosen by hand."""
MOST_SENTENCES_IN_ALL = 5000
"""Sentences of all papers of a query, 25 for each of the longest list; chosen by hand."""
MOST_TEXT = 1_000_000
"""Characters of all papers of a query, 5,000 for each of the longest list; chosen by hand."""
MOST_RESULTS = 1000
"""Results of one search; chosen by hand."""
LOWEST_WEIGHT, HIGHEST_WEIGHT = 0.001, 1000
"""Of one sentence that counts; chosen by hand, far from what 32-bit numbers cannot tell from 0."""
NOTHING = "There is nothing to search for: paste a title and abstract, or type a few words."


def choose_facet(paper: QueryPaper, facet: Facet, avoid: Facet | None = None) -> QueryPaper:
    """Match all sentences of one panel, and keep away from those of another if one is given."""
    match = positions_of(paper, facet)
    return choose_sentences(paper, match, positions_to_avoid(paper, avoid, match) if avoid else ())


def positions_of(paper: QueryPaper, facet: Facet) -> list[int]:
    """Where the sentences of a panel stand, with announcements that name the method; InputError if none."""
    found = [place for place, sentence in enumerate(paper.sentences) if sentence.serves(facet.panel)]
    if not found:
        raise InputError(
            f"No sentence of this abstract is labelled {facet.panel.value}: "
            "correct a label or choose sentences one by one."
        )
    return found


def positions_to_avoid(paper: QueryPaper, facet: Facet, match: Collection[int] = ()) -> list[int]:
    """Those of a panel that are surely of it and are not to be matched; InputError where it has none."""
    positions_of(paper, facet)
    return [
        place
        for place, sentence in enumerate(paper.sentences)
        if sentence.surely(facet.panel) and place not in match
    ]


def choose_sentences(paper: QueryPaper, match: Collection[int], avoid: Collection[int] = ()) -> QueryPaper:
    """Match and avoid the sentences at these positions (the first is 0), ignore the others."""
    for position in (*match, *avoid):
        if not 0 <= position < len(paper.sentences):
            raise InputError(
                f"There is no sentence {position + 1}: this abstract has {len(paper.sentences)}; "
                "choose among them."
            )
    if both := sorted(set(match) & set(avoid)):
        raise InputError(f"Sentence {both[0] + 1} is both to be matched and to be avoided: decide for one.")
    choices = dict.fromkeys(match, Choice.MATCH) | dict.fromkeys(avoid, Choice.AVOID)
    sentences = (
        replace(sentence, choice=choices.get(position, Choice.IGNORE))
        for position, sentence in enumerate(paper.sentences)
    )
    return replace(paper, sentences=tuple(sentences))


def check(query: Query) -> None:
    """Say in one sentence what is missing before a search; nothing if the query can be answered."""
    sentences = [sentence for paper in query.papers for sentence in paper.sentences]
    if not any(sentence.text.strip() for sentence in sentences):
        raise InputError(NOTHING)
    if not any(sentence.choice is Choice.MATCH and sentence.weight > 0 for sentence in sentences):
        raise InputError("No sentence is set to “Match”: choose at least one.")
    weights = {sentence.weight for sentence in sentences} - {0}
    if any(not LOWEST_WEIGHT <= weight <= HIGHEST_WEIGHT for weight in weights):
        raise InputError(
            f"A sentence has a weight that is not 0 or a number from {LOWEST_WEIGHT} to {HIGHEST_WEIGHT}: "
            "correct it."
        )
    check_size(query)


def shorten(value: object) -> str:
    """A value as a sentence for the user may hold it, however long it is."""
    text = reprlib.repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def check_size(query: Query) -> None:
    """Say in one sentence what is too large to be read, drawn or searched in reasonable time."""
    if len(query.papers) > MOST_PAPERS:
        raise InputError(
            f"A search takes up to {MOST_PAPERS} papers at once, not {len(query.papers)}: choose some."
        )
    counts = [len(paper.sentences) for paper in query.papers]
    if max(counts, default=0) > MOST_SENTENCES:
        raise InputError(
            f"A paper of this query has {max(counts):,} sentences but a search takes up to "
            f"{MOST_SENTENCES:,} of each: keep those that matter."
        )
    if sum(counts) > MOST_SENTENCES_IN_ALL:
        raise InputError(
            f"This query has {sum(counts):,} sentences but a search takes up to {MOST_SENTENCES_IN_ALL:,}: "
            "choose fewer papers."
        )
    length = sum(len(paper.title) + sum(len(each.text) for each in paper.sentences) for paper in query.papers)
    if length > MOST_TEXT:
        raise InputError(
            f"This query has {length:,} characters but a search takes up to {MOST_TEXT:,}: "
            "choose fewer papers."
        )
    if not 1 <= query.top <= MOST_RESULTS:
        raise InputError(
            f"A search gives 1 to {MOST_RESULTS} results, not {shorten(query.top)}: choose another number."
        )
