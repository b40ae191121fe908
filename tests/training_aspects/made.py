"""What the tests of training for aspects share: a tiny encoder, papers of a few made words, files of them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModel

from search.tokens import Document
from tests.random_encoder import RandomEncoder
from tests.tiny_models import WORDS
from training.aspect_model import UpperLayers
from training.teacher import Vectors

CPU = torch.device("cpu")
CUT = 1
"""The tiny encoder's layers from this one on are trained."""


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


def upper(bert: Path, dropout: float = 0.0) -> UpperLayers:
    return UpperLayers(load(bert), CUT, dropout)


def moved(model: UpperLayers, by: float = 0.2) -> UpperLayers:
    torch.manual_seed(9)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(by * torch.randn_like(parameter))
    return model


def write_lines(file: Path, records: Sequence[dict[str, Any]]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(map(json.dumps, records)) + "\n"
    file.write_bytes(gzip.compress(text.encode()) if file.suffix == ".gz" else text.encode())
    return file


def record(id: str, document: Document, title: str | None = None) -> dict[str, Any]:
    abstract = " ".join(f"{sentence.capitalize()}." for sentence in document.sentences)
    return {"id": id, "title": document.title if title is None else title, "abstract": abstract}
