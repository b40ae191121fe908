"""Made things that the tests of training share: tiny encoders, papers of a few words, files of them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModel

from search.types import Document
from tests.random_encoder import RandomEncoder
from tests.tiny_models import WORDS
from training.corpus import Corpus, Words
from training.judgements import Graded
from training.labeller import fit_shape, new_labeller
from training.labeller_loop import Trainer as LabellerTrainer
from training.labeller_plan import Recipe as LabellerRecipe
from training.pools import Pool, make_pools
from training.upper_layers import UpperLayers
from training.vector_cache import Vectors

CPU = torch.device("cpu")
CUT = 1
"""The layers of the tiny encoder from this one on are trained."""
THINGS = ("looms", "kilns", "sails", "bells", "locks", "boats", "ovens", "harps")
DEEDS = ("measure", "model", "repair", "compare", "draw", "weigh")


def some_text(random: np.random.Generator, words: int) -> str:
    return " ".join(random.choice(WORDS, words))


def some_document(number: int) -> Document:
    random = np.random.default_rng(number)
    sentences = tuple(some_text(random, int(random.integers(3, 9))) for _ in range(random.integers(2, 5)))
    return Document(some_text(random, 3), sentences)


LONG = Document("search", ("method " * 600, "it is new"))
DOCUMENTS = {f"p{number:02}": some_document(number) for number in range(16)} | {"p16": LONG}


def no_progress(done: int, total: int) -> None:
    pass


def say_nothing(line: str) -> None:
    pass


def load(folder: Path) -> Any:
    return AutoModel.from_pretrained(folder, local_files_only=True, add_pooling_layer=False)


def random_vectors(documents: Sequence[Document], dimension: int = 24) -> Vectors:
    encoder = RandomEncoder(dimension=dimension)
    encoded = list(encoder.encode(documents))
    ends = np.cumsum([len(one.sentences) for one in encoded])
    parts = (
        np.concatenate([one.sentences for one in encoded]),
        np.stack([one.paper for one in encoded]),
        np.concatenate([one.facets for one in encoded]),
    )
    return Vectors(*(part.astype(np.float16) for part in parts), np.concatenate([[0], ends]))


def some_pools(corpus: Corpus, words: Words) -> list[Pool]:
    """One pool for each panel."""
    random = np.random.default_rng(6)
    graded = []
    for query, facet in (("p00", "background"), ("p05", "method"), ("p09", "result")):
        chosen = random.choice([id for id in list(DOCUMENTS)[:16] if id != query], 7, replace=False)
        grades = dict(zip(map(str, chosen), (3, 2, 2, 1, 0, 0, 0), strict=True))
        graded.append(Graded(query, facet, (0, 1), grades))
    return make_pools(graded, corpus, words, random_vectors(corpus.documents))


def upper(bert: Path, dropout: float = 0.0, rank: int = 0) -> UpperLayers:
    return UpperLayers(load(bert), CUT, dropout, rank)


def moved(model: UpperLayers, by: float = 0.2) -> UpperLayers:
    torch.manual_seed(9)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(by * torch.randn_like(parameter))
    return model


def differ(one: UpperLayers, other: UpperLayers) -> bool:
    theirs = other.state_dict()
    return any(not torch.allclose(value, theirs[name]) for name, value in one.state_dict().items())


def write_lines(file: Path, records: Sequence[dict[str, Any]]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(map(json.dumps, records)) + "\n"
    file.write_bytes(gzip.compress(text.encode()) if file.suffix == ".gz" else text.encode())
    return file


def record(id: str, document: Document, title: str | None = None) -> dict[str, Any]:
    abstract = " ".join(f"{sentence.capitalize()}." for sentence in document.sentences)
    return {"id": id, "title": document.title if title is None else title, "abstract": abstract}


CITED_IDS = [f"c{number}" for number in range(60)]


def write_citations(folder: Path) -> list[dict[str, Any]]:
    """A citation collection of 60 papers, each co-cited with the one before; returns the pairs."""
    papers = [record(id, some_document(number)) for number, id in enumerate(CITED_IDS)]
    write_lines(folder / "papers.jsonl.gz", papers)
    pairs = [
        {
            "a": CITED_IDS[one],
            "b": CITED_IDS[one - 1],
            "contexts": [{"text": "we study graph search", "n": 2 + one % 3}],
        }
        for one in range(60)
    ]
    write_lines(folder / "cocite_pairs.jsonl", pairs)
    citing = [{"citing": CITED_IDS[one], "cited": CITED_IDS[(one + 30) % 60]} for one in range(60)]
    write_lines(folder / "cite_pairs.jsonl", citing)
    return pairs


# -- the labeller


def made_abstract(thing: str, deed: str) -> dict[str, list[str]]:
    return {
        "sentences": [
            f"{thing} are old and little is known",
            f"this study aims to {deed} {thing}",
            f"we {deed} {thing} with a ruler",
            f"results show that {thing} improve",
        ],
        "labels": ["background", "objective", "method", "result"],
    }


def fresh_labeller(recipe: LabellerRecipe, folder: Path) -> LabellerTrainer:
    encoder = load(folder)
    fitted = replace(recipe, shape=fit_shape(encoder.config, recipe))
    return LabellerTrainer(fitted, new_labeller(fitted, encoder), CPU)
