"""Trains the facet labeller: structured MEDLINE abstracts first, CSAbstruct after.

Only the labeller's own layers are trained, on kept hidden states of the encoder's lower layers. The seed
fixes everything, and a run that was stopped goes on from its last checkpoint. What is scored and kept are
the averaged weights. docs/studies/labeller.md has the data and the figures.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModel

from search.encoder.labeller import FacetLabeller, Shape, load_labeller
from search.encoder.pretrained import find_weights
from search.errors import ModelError
from search.types import FACETS, Document
from training.hidden_states import LowerLayers, States
from training.judgements import JUDGEMENTS, read_graded, read_judged
from training.labelled_abstracts import (
    CSABSTRUCT_DEV,
    CSABSTRUCT_TRAIN,
    MEDLINE,
    SURE,
    Example,
    count_words,
    read_csabstruct,
    read_medline,
    targets,
)
from training.labeller_loop import Trainer, predict, train
from training.labeller_plan import RECIPES, Recipe
from training.progress import Say, count_up, say
from training.upper_layers import layer_names
from training.vector_cache import key_of
from training.workers import first_worker_first, join_workers

MEDLINE_CHECKED = 100
"""Held-out MEDLINE abstracts that are scored in training; `python -m evaluation facets` scores them all."""


def new_labeller(recipe: Recipe, encoder: Any) -> FacetLabeller:
    """A labeller whose own upper layers are copied from the encoder; the rest is random or zero."""
    torch.manual_seed(recipe.seed)
    shape = Shape(**(asdict(recipe.shape) | {"dropout": recipe.dropout}))
    labeller = FacetLabeller(shape)
    for number, layer in enumerate(labeller.words):
        source = encoder.encoder.layer[shape.layer + number].state_dict()
        layer.load_state_dict({ours: source[theirs] for ours, theirs in layer_names()})
    return labeller


@dataclass(frozen=True, slots=True)
class Taught:
    """Abstracts nobody labelled, and what a larger labeller says about them."""

    documents: list[Document]
    facets: list[NDArray[np.float32]]
    """For each document [n, 5]."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """Hidden states to train on and to score, by name."""

    corpora: dict[str, list[States]]
    """Several variants of a corpus are taken in turn."""
    checks: dict[str, States]


def prepare(
    data: Path, lower: LowerLayers, recipe: Recipe, cache: Path, say: Say, taught: Taught | None = None
) -> Prepared:
    train = read_csabstruct(data / CSABSTRUCT_TRAIN)
    medline = read_medline(data / MEDLINE)
    titles = _borrowed_titles(medline, len(train), recipe.seed)

    def states(examples: list[Example], titles: list[str], wanted: list[NDArray[np.float32]]) -> States:
        pairs = zip(titles, examples, strict=True)
        documents = [Document(title, example.sentences) for title, example in pairs]
        return lower.states(documents, cache, count_up(say), wanted)

    def to_learn(examples: list[Example], titles: list[str]) -> States:
        return states(examples, titles, [targets(example, recipe.doubt) for example in examples])

    def to_score(examples: list[Example], titles: list[str], least: float = 0.0) -> States:
        return states(examples, titles, [targets(example, 0.0, False, least) for example in examples])

    seen, unseen = _part(train, False), _part(train, True)
    seen_medline = [one for one in _part(medline, False) if count_words(one) <= recipe.medline_words]
    # Every other abstract goes without its title: the labeller must do well either way.
    some_titles = [one.title if number % 2 else "" for number, one in enumerate(seen_medline)]
    corpora = {
        "csabstruct": [to_learn(seen, [""] * len(seen)), to_learn(seen, titles[: len(seen)])],
        "medline": [to_learn(seen_medline, some_titles)],
    }
    if taught:
        corpora["taught"] = [lower.states(taught.documents, cache, count_up(say), taught.facets)]
    dev = read_csabstruct(data / CSABSTRUCT_DEV)
    unseen_medline = _part(medline, True)[:MEDLINE_CHECKED]
    checks = {
        "dev": to_score(dev, [""] * len(dev)),
        "held_out": to_score(unseen, [""] * len(unseen)),
        "dev_sure": to_score(dev, [""] * len(dev), SURE),
        "held_out_sure": to_score(unseen, [""] * len(unseen), SURE),
        "held_out_titled": to_score(unseen, titles[-len(unseen) :]),
        "medline_held_out": to_score(unseen_medline, [example.title for example in unseen_medline]),
    }
    return Prepared(corpora, checks)


def _part(examples: list[Example], held_out: bool) -> list[Example]:
    return [example for example in examples if example.held_out == held_out]


def _borrowed_titles(medline: list[Example], count: int, seed: int) -> list[str]:
    """Titles of other papers for CSAbstruct, which has none.

    Half of the epochs show them, so that the labeller learns not to rely on a title.
    """
    random = np.random.default_rng([seed, 1])
    return [medline[number].title for number in random.choice(len(medline), count)]


def ask_teacher(folder: Path, data: Path, cache: Path, device: torch.device) -> Taught:
    """The papers of our judgements, labelled by the labeller in the folder; none of them is in CSFCube.

    The labels are kept in the cache.
    """
    documents = list(read_judged(data, read_graded(JUDGEMENTS)).values())
    labeller = load_labeller(folder).to(device)
    kept = cache / f"{key_of(labeller.id, documents)}.npy"
    if not kept.exists():
        labels = np.concatenate(_label(labeller, documents, cache, device))
        draft = kept.with_suffix(f".{os.getpid()}.part.npy")
        np.save(draft, labels)
        draft.replace(kept)
    ends = np.cumsum([len(document.sentences) for document in documents])
    return Taught(documents, np.split(np.load(kept), ends[:-1]))


def _label(
    labeller: FacetLabeller, documents: list[Document], cache: Path, device: torch.device
) -> list[NDArray[np.float32]]:
    """Probabilities [n, 5] for each document."""
    base, encoder = _load("default")
    lower = LowerLayers.cut(encoder.to(device), base, labeller.layer)
    states = lower.states(documents, cache, count_up(say))
    facets = [np.zeros((len(document.sentences), len(FACETS)), np.float32) for document in documents]
    labels = predict(labeller, states, device, count_up(say, "abstracts labelled by the teacher"))
    for window, found in zip(states.windows, labels, strict=True):
        facets[window.document][window.rows.start : window.rows.stop] = found
    return facets


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with csabstruct/ and the MEDLINE file"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("build/labeller"), help="folder for weights, checkpoint, run.json"
    )
    parser.add_argument(
        "--encoder", default="default", help="preset or folder of the encoder whose lower half it reads"
    )
    parser.add_argument("--thorough", action="store_true", help="with layers of its own: a teacher, slower")
    parser.add_argument("--teacher", type=Path, help="folder of a labeller that was made with `--thorough`")
    parser.add_argument("--seed", type=int, default=Recipe().seed, help="fixes all batches and new weights")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="processor threads")
    parser.add_argument(
        "--device",
        default="cuda" if torch.cuda.is_available() else "cpu",
        help="cpu or cuda (default: a graphics card if there is one)",
    )


def fit_shape(config: Any, recipe: Recipe) -> Shape:
    """The sizes of a labeller that reads the lower half of an encoder with this configuration."""
    half = config.num_hidden_layers // 2
    return Shape(
        layer=half,
        layers=config.num_hidden_layers - half if recipe.own is None else recipe.own,
        hidden=config.hidden_size,
        heads=config.num_attention_heads,
        inner=config.intermediate_size,
        sentence_layers=recipe.sentence_layers,
        sentence_inner=2 * config.hidden_size,
        pooling=config.num_attention_heads if recipe.weigh_words else 0,
    )


def run(args: argparse.Namespace) -> int:
    torch.set_num_threads(args.threads)
    join_workers()
    device = torch.device(args.device)
    args.out.mkdir(parents=True, exist_ok=True)
    folder, encoder = _load(args.encoder)
    recipe = replace(RECIPES["thorough" if args.thorough else "shipped"], seed=args.seed)
    recipe = replace(recipe, shape=fit_shape(encoder.config, recipe))
    trainer = Trainer(recipe, new_labeller(recipe, encoder), device)
    lower = LowerLayers.cut(encoder.to(device), folder, recipe.shape.layer)
    with first_worker_first():
        taught = ask_teacher(args.teacher, args.data, args.out / "states", device) if args.teacher else None
        prepared = prepare(args.data, lower, recipe, args.out / "states", say, taught)
    train(trainer, prepared.corpora, prepared.checks, args.out, say)
    return 0


def _load(name: str) -> tuple[Path, Any]:
    """The encoder with its folder."""
    folder = find_weights(name).folder
    encoder = AutoModel.from_pretrained(folder, local_files_only=True, add_pooling_layer=False)
    if encoder.config.model_type != "bert":
        raise ModelError(
            f"The labeller reads the layers of BERT models, but {name!r} is of the type "
            f"{encoder.config.model_type!r}: give `--encoder default` or the folder of a BERT model."
        )
    return folder, encoder
