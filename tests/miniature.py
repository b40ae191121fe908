"""A corpus small enough to read: every problem met with every method, so that the right answers are known."""

from __future__ import annotations

from pathlib import Path

from index_build.steps import build
from search.corpus import layout
from search.corpus.store import Store
from search.text.sentences import split_paper
from search.types import Facet, Paper, Sentence

PROBLEMS = {
    "tumours": "Radiologists overlook small tumours in computed tomography scans of the lung.",
    "translation": "Machine translation of languages with few speakers lacks parallel text.",
    "traffic": "Traffic jams in large cities cost commuters many hours every year.",
    "proteins": "The folded shape of a protein decides what it does in the cell.",
    "fraud": "Stolen credit cards cause large losses before anybody notices the fraud.",
}
METHODS = {
    "graphs": "We pass messages between the nodes of a graph with a graph neural network.",
    "trees": "We grow gradient boosted decision trees on features chosen by hand.",
    "sampling": "We draw from the Bayesian posterior by Markov chain Monte Carlo sampling.",
    "agents": "We train an agent by reinforcement learning from delayed rewards.",
}
RESULTS = {
    "graphs": "The error falls by a quarter on held-out data.",
    "trees": "The model trains in minutes on an ordinary laptop.",
    "sampling": "The credible intervals cover the truth nine times out of ten.",
    "agents": "The learned policy beats the best fixed rule.",
}


def make_paper(problem: str, method: str) -> Paper:
    texts = (PROBLEMS[problem], METHODS[method], RESULTS[method])
    sentences, start = [], 0
    for text, facet in zip(texts, (Facet.BACKGROUND, Facet.METHOD, Facet.RESULT), strict=True):
        sentences.append(Sentence(text, start, start + len(text), facet, hinted=True))
        start += len(text) + 1
    year = 2010 + list(PROBLEMS).index(problem)
    return Paper(
        id=f"{problem}-{method}",
        title=f"A study of {problem} with {method}",
        abstract=" ".join(texts),
        year=year,
        venue=f"Journal of {problem.capitalize()}",
        fields=(problem,),
        doi=f"10.1000/{problem}.{method}" if method == "trees" else "",
        sentences=tuple(sentences),
    )


def all_papers() -> list[Paper]:
    grid = [make_paper(problem, method) for problem in PROBLEMS for method in METHODS]
    return [*grid, split_paper(Paper("bare", "A note on counting birds that has a title and nothing else"))]


def build_miniature(folder: Path, *more: Paper) -> Path:
    """The corpus of all papers and some more, built with the default encoder."""
    folder.mkdir(parents=True, exist_ok=True)
    with Store.create(folder / layout.STORE) as store:
        store.add([*all_papers(), *more])
    build(folder)
    return folder
