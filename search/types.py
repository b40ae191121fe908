"""The nouns of the product: frozen values that pass between the stages."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Facet(StrEnum):
    """What a sentence does in its abstract. The store keeps five, the interface shows three."""

    BACKGROUND = "background"
    OBJECTIVE = "objective"
    METHOD = "method"
    RESULT = "result"
    OTHER = "other"

    @property
    def panel(self) -> Facet:
        """The facet as it is shown and searched: an objective counts as background."""
        return Facet.BACKGROUND if self is Facet.OBJECTIVE else self


FACETS: tuple[Facet, ...] = tuple(Facet)
"""The order of the columns wherever facet probabilities are stored."""

PANELS: tuple[Facet, ...] = (Facet.BACKGROUND, Facet.METHOD, Facet.RESULT)
"""The three panels of a paper."""

NO_PANEL = len(PANELS)
PANEL_CODES: dict[Facet | None, int] = {
    facet: PANELS.index(facet.panel) if facet.panel in PANELS else NO_PANEL for facet in FACETS
} | {None: NO_PANEL}
"""A facet's panel as a number, where many sentences are kept in an array."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of an abstract; `abstract[start:end] == text`.

    A paper without an abstract has one sentence, its title, with the title's span.
    """

    text: str
    start: int
    end: int
    facet: Facet | None = None
    probabilities: tuple[float, ...] = ()
    """One number per facet in the order of FACETS; empty while unlabelled."""
    hinted: bool = False
    """The facet comes from the source (a section heading, given labels) and wins over the model."""


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of a structured abstract whose heading says which facet it is."""

    start: int
    end: int
    facet: Facet


@dataclass(frozen=True, slots=True)
class Paper:
    """One paper as it was read from a source or is kept in the store."""

    id: str
    title: str
    abstract: str = ""
    authors: tuple[str, ...] = ()
    """Each as "Family, Given" where the parts are known, else as the source has it."""
    year: int | None = None
    venue: str = ""
    fields: tuple[str, ...] = ()
    doi: str = ""
    """Bare and lower case: "10.1000/xyz"."""
    arxiv_id: str = ""
    """Bare, without version: "2101.00001" or "cs/0101001"."""
    pmid: str = ""
    url: str = ""
    source: str = ""
    """The format it came from, as in `index_build.sources`: "arxiv", "bibtex", …"""
    sections: tuple[Section, ...] = ()
    sentences: tuple[Sentence, ...] = ()
    """Empty when the source gives none: the import splits the abstract."""


class Choice(StrEnum):
    """What the user wants of one sentence of the query."""

    MATCH = "match"
    IGNORE = "ignore"
    AVOID = "avoid"


@dataclass(frozen=True, slots=True)
class QuerySentence:
    text: str
    facet: Facet | None = None
    choice: Choice = Choice.MATCH
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class QueryPaper:
    """One example to search with. Ignored sentences still give context to the others."""

    title: str
    sentences: tuple[QuerySentence, ...]
    paper_id: str = ""
    """Set when the example is a paper of the corpus: it is then left out of its own results."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What a result must be. They restrict the search itself, not only the list that comes back."""

    year_from: int | None = None
    year_to: int | None = None
    venues: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    ids: tuple[str, ...] | None = None
    """Only these papers (a reading list); None means all."""
    has_doi: bool = False


class Matcher(StrEnum):
    """How the ticked sentences and a paper's sentences become one number."""

    SINGLE = "single"
    BEST = "best"
    TRANSPORT = "transport"
    ATTENTION = "attention"


@dataclass(frozen=True, slots=True)
class Query:
    papers: tuple[QueryPaper, ...]
    matcher: Matcher | None = None
    """None: the default, the best on the development queries."""
    filters: Filters = field(default_factory=Filters)
    top: int = 20


class Likeness(StrEnum):
    """A score in words, calibrated on the CSFCube development judgements."""

    NEAR_IDENTICAL = "near identical"
    SIMILAR = "similar"
    RELATED = "related"
    UNRELATED = "unrelated"


@dataclass(frozen=True, slots=True)
class Pair:
    """One sentence of the query beside the sentence of the paper that answers it."""

    query_paper: int
    query_sentence: int
    """Positions in `Query.papers` and its `sentences`."""
    query_text: str
    query_facet: Facet | None
    position: int
    """Position in `Result.paper.sentences`."""
    text: str
    facet: Facet | None
    similarity: float
    """Cosine of the two contextual vectors."""
    share: float
    """How much of the whole match this pair carries; all pairs of a result sum to 1."""
    shared_terms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """The parts a score is made of, each before weighting, for those who ask."""

    sentences: float
    whole_paper: float
    """Shown beside the others; counted where a whole abstract is asked for."""
    words: float
    avoided: float = 0.0
    whole_counts: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    paper: Paper
    """With its labelled sentences."""
    score: float
    """From 0 to 1."""
    likeness: Likeness
    reason: str
    """One line in plain words, built from the strongest pair."""
    pairs: tuple[Pair, ...]
    """The strongest first."""
    evidence: Evidence
    duplicates: tuple[str, ...] = ()
    """Ids of other records of the same paper in the corpus."""


@dataclass(frozen=True, slots=True)
class Results:
    query: Query
    results: tuple[Result, ...]
    build_id: str
    candidates: int
    """How many papers were scored in full."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Time of each stage: encode, candidates, matching, explanation, total."""


@dataclass(frozen=True, slots=True)
class Point:
    """Where a result lies: its likeness to the query's background, method and result; 0 where unknown."""

    paper_id: str
    background: float
    method: float
    result: float


@dataclass(frozen=True, slots=True)
class Scored:
    """One paper of a pool; `score` orders the pool, higher is nearer."""

    paper_id: str
    score: float
    evidence: Evidence
