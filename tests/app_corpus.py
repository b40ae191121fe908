"""A small real corpus for the app's tests: six problems, each gone about in six ways, 36 papers.

Every pair of a problem and a method is one paper, so it is known which papers share the method but not
the problem. The texts are written for this purpose; facets come as sections, as from a structured source.
"""

from __future__ import annotations

from pathlib import Path

from index_build.steps import build
from search.corpus.store import Store
from search.text.sentences import split_paper
from search.types import Facet, Paper, Section

PROBLEMS = {
    "bird song in noisy recordings": (
        "Microphones in forests record for months, and nobody can listen to all of it. "
        "Rain, wind and traffic hide the calls of rare birds."
    ),
    "cracks in concrete bridges": (
        "Concrete bridges age, and small cracks are the first sign of damage. "
        "Inspectors climb along every girder and still overlook fine fissures."
    ),
    "wait times in emergency rooms": (
        "Patients in emergency rooms wait for hours without knowing how long. "
        "Hospitals plan their staff by habit rather than by the arrivals to expect."
    ),
    "spelling in old letters": (
        "Letters from the seventeenth century spell the same word in many ways. "
        "Historians who search them for a name miss most of its mentions."
    ),
    "yield of mountain vineyards": (
        "Vineyards on steep slopes give very different harvests from row to row. "
        "Growers must promise a quantity to the cellar long before they pick."
    ),
    "fraud in small card payments": (
        "Thieves test stolen cards with small payments that look harmless. "
        "Banks that block too much lose honest customers."
    ),
}
METHODS = {
    "a convolutional network": (
        "We train a convolutional neural network on labelled examples. "
        "The network learns its filters by gradient descent with dropout."
    ),
    "Gaussian processes": (
        "We fit a Gaussian process with a kernel made for this purpose. "
        "Its posterior variance tells how sure each prediction is."
    ),
    "active learning": (
        "We let the model ask an expert about the examples it is least sure of. "
        "After each round of questions it is trained again on all answers."
    ),
    "a nearest neighbour search": (
        "We compare every new case with all stored cases by a learned distance. "
        "The nearest neighbours vote, and their votes are weighted by closeness."
    ),
    "a hidden Markov model": (
        "We describe the sequence by a hidden Markov model with a few states. "
        "The most likely path of states is found by dynamic programming."
    ),
    "a randomised field trial": (
        "We draw by lot which sites get the new procedure and which keep the old one. "
        "Outcomes are compared with a preregistered regression."
    ),
}
RESULTS = (
    "Errors fall by a third compared with current practice.",
    "The gain is largest where there is little data.",
    "Half as many labels are enough for the same accuracy.",
    "The approach finds twice as many rare cases at the same false alarm rate.",
    "No difference was found, and the interval excludes gains above two percent.",
    "Running time drops from hours to minutes without loss of accuracy.",
)


def papers() -> list[Paper]:
    made = []
    for p, (problem, background) in enumerate(PROBLEMS.items()):
        for m, (method, how) in enumerate(METHODS.items()):
            found = RESULTS[(p + m) % len(RESULTS)]
            parts = {Facet.BACKGROUND: background, Facet.METHOD: how, Facet.RESULT: found}
            abstract, sections = _join(parts)
            made.append(
                Paper(
                    id=f"test:{p}{m}",
                    title=f"{problem.capitalize()}: a study with {method}",
                    abstract=abstract,
                    authors=(f"Author{p}, Given", f"Author{m}, Other"),
                    year=2000 + 3 * p + m,
                    venue=("Journal of Examples", "Proceedings of Samples")[m % 2],
                    fields=(("acoustics", "building", "medicine", "history", "farming", "finance")[p],),
                    doi=f"10.5555/test.{p}{m}" if m % 2 else "",
                    url=f"https://papers.example/{p}{m}",
                    source="jsonl",
                    sections=sections,
                )
            )
    return made


def _join(parts: dict[Facet, str]) -> tuple[str, tuple[Section, ...]]:
    abstract, sections = "", []
    for facet, text in parts.items():
        start = len(abstract) + bool(abstract)
        abstract = f"{abstract} {text}".strip()
        sections.append(Section(start, start + len(text), facet))
    return abstract, tuple(sections)


def make_corpus(folder: Path) -> Path:
    """The corpus, built by the real steps with the default encoder."""
    folder.mkdir(parents=True, exist_ok=True)
    with Store.create(folder / "store.duckdb") as store:
        store.add([split_paper(paper) for paper in papers()])
    build(folder)
    return folder
