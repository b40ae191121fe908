"""The nouns of the product: frozen values that pass between the stages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

Progress = Callable[[str, int, int], None]
"""Called with a step ("download", "import", "encode" or "index"), how much of it is done, and how much there
is, or 0 where that is not known."""


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


def panel_of(facet: Facet | None) -> Facet | None:
    """The panel of a sentence that may have no facet."""
    return facet.panel if facet else None


def shown_panel(facet: Facet | None) -> Facet:
    """The same where every sentence is shown somewhere: one without a facet is among the others."""
    return panel_of(facet) or Facet.OTHER


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

    @property
    def panel(self) -> Facet | None:
        return panel_of(self.facet)


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of a structured abstract whose heading says which facet it is."""

    start: int
    end: int
    facet: Facet


class Kind(StrEnum):
    """What a work is, as far as a bibliography prints it differently."""

    ARTICLE = "article"
    PROCEEDINGS_PAPER = "proceedings paper"
    CHAPTER = "chapter"
    BOOK = "book"
    PROCEEDINGS = "proceedings"
    THESIS = "thesis"
    REPORT = "report"
    PREPRINT = "preprint"
    DATASET = "dataset"
    SOFTWARE = "software"
    PATENT = "patent"
    STANDARD = "standard"
    PRESENTATION = "presentation"
    ENTRY = "encyclopedia entry"
    NEWS = "news article"
    WEB_PAGE = "web page"
    MANUSCRIPT = "manuscript"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Reference:
    """What a bibliography prints beside title, authors, year, venue and DOI; each empty where not known."""

    kind: Kind | None = None
    genre: str = ""
    """The kind in more exact words: "PhD thesis", "Technical report"."""
    date: str = ""
    """Year with month or day, ISO 8601: "2017-05", "2017-05-03"; empty where only the year is known."""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    """With a plain hyphen: "123-145"."""
    number: str = ""
    """Of a report, a patent or a standard, or of an article that has no pages."""
    series: str = ""
    edition: str = ""
    publisher: str = ""
    """Of a thesis the school, of a report the institution, of a patent its holder."""
    place: str = ""
    """Where it was published."""
    event: str = ""
    """The conference, where it has another name than its proceedings."""
    editors: tuple[str, ...] = ()
    """Written as the authors are."""
    container: str = ""
    """The title of the volume in full, where the venue is a short name: "Proceedings of the 58th …"."""
    short_venue: str = ""
    """The abbreviated name of the journal."""
    issn: tuple[str, ...] = ()
    isbn: tuple[str, ...] = ()
    pmcid: str = ""
    """ "PMC123456"."""
    keywords: tuple[str, ...] = ()
    """Those that are not among the `fields` of the paper."""
    language: str = ""
    """ISO 639-1 where there is a code ("en"), else as the source has it."""
    licence: str = ""
    """A name or an address, as the source has it."""
    note: str = ""
    """What the source wants printed at the end: "In press"."""
    accessed: str = ""
    """When an address was visited, ISO 8601."""
    key: str = ""
    """The record's own name in its source: a citation key, an accession number."""
    status: str = ""
    """ "withdrawn" or "retracted", where its source says so."""
    origins: tuple[str, ...] = ()
    """How it came into the corpus from live sources: "cited by 10.1000/xyz", "Zotero: Reading group"."""
    notes: tuple[str, ...] = ()
    """What its reader wrote about it in the library it comes from."""
    abstract_from: str = ""
    """Which source the abstract is of: "arXiv"; empty where it is not known."""
    abstract_licence: str = ""
    """Under what that source says the abstract may be used."""


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
    reference: Reference = Reference()
    sections: tuple[Section, ...] = ()
    sentences: tuple[Sentence, ...] = ()
    """Empty when the source gives none: the import splits the abstract."""


@dataclass(frozen=True, slots=True)
class Document:
    """What is encoded together: a title (may be empty) and the sentences of its abstract."""

    title: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Encoded:
    """What the encoder says of a document."""

    sentences: NDArray[np.float32]
    """[n, d], unit rows."""
    paper: NDArray[np.float32]
    """[d], unit length."""
    facets: NDArray[np.float32]
    """[n, 5], probabilities in the order of FACETS."""


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
    or_facet: Facet | None = None
    """The facet it may have instead where the model doubts the first, or as well: an announced method."""

    @property
    def panel(self) -> Facet | None:
        return panel_of(self.facet)

    def serves(self, panel: Facet) -> bool:
        """Whether a search by this panel matches it; what may be method answers to the method, too."""
        return self.panel is panel or (panel is Facet.METHOD and self.or_facet is Facet.METHOD)

    def surely(self, panel: Facet) -> bool:
        """Whether it may be avoided with this panel: nothing that is doubted, and nothing announced."""
        return self.facet is panel and self.or_facet is None


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
    origins: tuple[str, ...] = ()


class Matcher(StrEnum):
    """How the chosen sentences and a paper's sentences become one number."""

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
    near_terms: tuple[tuple[str, str], ...] = ()
    """Words of the query's sentence, each with one of the other's that means nearly the same."""


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
    """From 0 to 1: how near it is to what is asked for."""
    likeness: Likeness
    reason: str
    """One line in plain words, built from the strongest pair."""
    pairs: tuple[Pair, ...]
    """The strongest first."""
    evidence: Evidence
    duplicates: tuple[str, ...] = ()
    """Ids of other records of the same paper in the corpus."""
    held_back: float = 0.0
    """How much lower it stands, on the same scale, because it is like what is avoided."""
    held_by: tuple[str, ...] = ()
    """Words and phrases of what is avoided that it uses, too; empty unless it stands much lower."""
    places: str = ""
    """Where it stands in several rankings at once, in words, for exports of a triptych."""


@dataclass(frozen=True, slots=True)
class Lacking:
    """What the corpus lacks of the sentences that are to be matched."""

    rare: tuple[str, ...] = ()
    """Words of theirs that hardly any paper uses, as they are spelled."""
    unknown: float = 0.0
    """The share of their telling words that no paper uses; 1 where they have none."""


@dataclass(frozen=True, slots=True)
class Results:
    query: Query
    results: tuple[Result, ...]
    build_id: str
    candidates: int
    """How many papers were scored in full."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Time of each stage: encode, candidates, matching, explanation, total."""
    lacking: Lacking = field(default_factory=Lacking)
    covered: float = 0.0
    """How likely it is, from 0 to 1, that the corpus has something on what is asked for."""
    passing: int = 0
    """How many papers of the corpus pass the filters."""


@dataclass(frozen=True, slots=True)
class Point:
    """Where a paper lies between same problem and same method; both likenesses are scores from 0 to 1."""

    paper: Paper
    """Without its abstract and sentences."""
    background: float
    method: float
    duplicates: tuple[str, ...] = ()
    """Ids of other records of the same paper in the corpus."""


@dataclass(frozen=True, slots=True)
class Plane:
    """Every candidate of a query by its likeness to the query's background and to its method."""

    points: tuple[Point, ...]
    """Nearest by both together first."""
    fields: frozenset[str]
    """The fields that the example is of, or seems to be of."""
    build_id: str


@dataclass(frozen=True, slots=True)
class Scored:
    """One paper of a pool; `score` orders the pool, higher is nearer."""

    paper_id: str
    score: float
    evidence: Evidence
