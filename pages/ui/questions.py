"""What one can ask of a paper, and which of its sentences that matches and avoids."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from search.types import Choice, Facet, QueryPaper, QuerySentence

Rule = Callable[[QuerySentence], Choice]


@dataclass(frozen=True, slots=True)
class Question:
    rule: Rule
    line: str
    """The question in a few words."""
    told: str
    """Which sentences it matches and avoids."""
    doubtful: Facet | None = None
    """Where no label fits, sentences that may have this one are matched."""

    def choices(self, paper: QueryPaper) -> list[Choice]:
        """What it makes of each sentence."""
        choices = [self.rule(sentence) for sentence in paper.sentences]
        if self.doubtful is None or Choice.MATCH in choices:
            return choices
        may_be = [sentence.or_facet is self.doubtful for sentence in paper.sentences]
        return [Choice.MATCH if matched else Choice.IGNORE for matched in may_be]

    def ask(self, paper: QueryPaper) -> QueryPaper:
        """The paper with its sentences chosen so."""
        chosen = zip(paper.sentences, self.choices(paper), strict=True)
        return replace(paper, sentences=tuple(replace(each, choice=choice) for each, choice in chosen))


@dataclass(frozen=True, slots=True)
class Reading:
    """How a single sentence can be meant, and the label that stands for it."""

    facet: Facet
    line: str
    told: str


def _label(sentence: QuerySentence) -> Facet:
    return sentence.facet or Facet.OTHER


def only(*facets: Facet) -> Rule:
    return lambda sentence: Choice.MATCH if _label(sentence) in facets else Choice.IGNORE


def method(sentence: QuerySentence) -> Choice:
    """The method, and what a paper announces where that names its method."""
    return Choice.MATCH if sentence.serves(Facet.METHOD) else Choice.IGNORE


def method_elsewhere(sentence: QuerySentence) -> Choice:
    """Only what is surely background is avoided, and never what a paper announces."""
    return Choice.AVOID if sentence.surely(Facet.BACKGROUND) else method(sentence)


QUESTIONS: dict[str, Question] = {
    "Same problem": Question(
        only(Facet.BACKGROUND, Facet.OBJECTIVE),
        "Who works on this problem?",
        "Matches background and objective.",
        Facet.BACKGROUND,
    ),
    "Same method": Question(
        method, "Who goes about it the same way?", "Matches the method, and objectives that name it."
    ),
    "Same finding": Question(only(Facet.RESULT), "Who found the same?", "Matches the results.", Facet.RESULT),
    "This method elsewhere": Question(
        method_elsewhere,
        "Where else is this method used?",
        "Matches the method and avoids the background: same method, different problem.",
    ),
    "Whole paper": Question(lambda _: Choice.MATCH, "What is alike in every way?", "Matches all sentences."),
}
READINGS: dict[str, Reading] = {
    "As a problem": Reading(
        Facet.BACKGROUND, "Who works on this?", "Compares it with what papers say of their problem."
    ),
    "As a method": Reading(
        Facet.METHOD, "Who goes about it this way?", "Compares it with what papers say of their method."
    ),
    "As a finding": Reading(
        Facet.RESULT, "Who found this?", "Compares it with what papers say of their results."
    ),
    "As anything": Reading(
        Facet.OTHER, "Who says something like it?", "Compares it with every sentence alike."
    ),
}
"""For a title, a question or keywords, which are one sentence."""
