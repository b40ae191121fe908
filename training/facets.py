"""Trains the facet labeller: structured MEDLINE abstracts first, CSAbstruct after.

Only the labeller's own layers are trained, on kept hidden states of the shared lower ones. Everything is
fixed by the seed, a run that was stopped goes on where its last checkpoint was, and the averaged weights of
the last steps are what is scored and kept.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from transformers import AutoModel, PretrainedConfig

from search.facets import FacetLabeller, Shape, load_labeller
from search.graph import BERT_NAMES, MPNET_NAMES
from search.presets import find_weights
from search.tokens import Document
from search.types import FACETS
from training.adapters import adapt
from training.aspect_data import JUDGEMENTS, read_graded, read_judged
from training.aspect_model import layer_names
from training.examples import (
    CSABSTRUCT_DEV,
    CSABSTRUCT_TRAIN,
    MEDLINE,
    SURE,
    Example,
    read_csabstruct,
    read_medline,
    targets,
    words,
)
from training.loop import Trainer, predict, train
from training.plan import RECIPES, Recipe
from training.states import LowerLayers, States
from training.teacher import key_of
from training.telling import Say, progress_of, say
from training.workers import first_worker_first, join_workers

MEDLINE_CHECKED = 100
"""Held-out MEDLINE abstracts scored during training; `python -m evaluation facets` scores them all."""


def new_labeller(recipe: Recipe, encoder: nn.Module) -> FacetLabeller:
    """Upper layers copied from the encoder's layers above the branch; the rest at random or zero."""
    torch.manual_seed(recipe.seed)
    shape = Shape(**(asdict(recipe.shape) | {"dropout": recipe.dropout}))
    labeller = FacetLabeller(shape)
    names = MPNET_NAMES if shape.buckets else BERT_NAMES
    for number, layer in enumerate(labeller.words):
        source = encoder.encoder.layer[shape.layer + number].state_dict()
        layer.load_state_dict({ours: source[theirs] for ours, theirs in layer_names(names)})
    if shape.buckets:
        labeller.near.copy_(encoder.encoder.relative_attention_bias.weight.data)
    if recipe.rank:
        adapt(labeller.words, recipe.rank)
    return labeller


def prepare(
    data: Path,
    lower: LowerLayers,
    recipe: Recipe,
    cache: Path,
    tell: Say,
    taught: Taught | None = None,
) -> tuple[dict[str, list[States]], dict[str, States]]:
    """Corpora to train on and to check on, as hidden states."""
    train = read_csabstruct(data / CSABSTRUCT_TRAIN)
    medline = read_medline(data / MEDLINE)
    titles = _lent_titles(medline, len(train), recipe.seed)

    def states(examples: list[Example], titles: list[str], least: float | None = None) -> States:
        wanted = [
            targets(example, recipe.doubt) if least is None else targets(example, 0.0, False, least)
            for example in examples
        ]
        pairs = zip(titles, examples, strict=True)
        documents = [Document(title, example.sentences) for title, example in pairs]
        return lower.states(documents, cache, progress_of(tell), wanted)

    def part(examples: list[Example], held_out: bool) -> list[Example]:
        return [example for example in examples if example.held_out == held_out]

    seen, unseen = part(train, False), part(train, True)
    seen_medline = [example for example in part(medline, False) if words(example) <= recipe.medline_words]
    corpora = {
        "csabstruct": [
            states(seen, [""] * len(seen)),
            states(seen, titles[: len(seen)]),
        ],
        # Every other abstract goes without its title: the labeller must do well either way.
        "medline": [
            states(
                seen_medline,
                [example.title if number % 2 else "" for number, example in enumerate(seen_medline)],
            )
        ],
    }
    if taught:
        corpora["taught"] = [lower.states(taught.documents, cache, progress_of(tell), taught.facets)]
    dev = read_csabstruct(data / CSABSTRUCT_DEV)
    unseen_medline = part(medline, True)[:MEDLINE_CHECKED]
    checks = {
        "dev": states(dev, [""] * len(dev), 0.0),
        "held_out": states(unseen, [""] * len(unseen), 0.0),
        "dev_sure": states(dev, [""] * len(dev), SURE),
        "held_out_sure": states(unseen, [""] * len(unseen), SURE),
        "held_out_titled": states(unseen, titles[-len(unseen) :], 0.0),
        "medline_held_out": states(unseen_medline, [example.title for example in unseen_medline], 0.0),
    }
    return corpora, checks


@dataclass(frozen=True, slots=True)
class Taught:
    """Abstracts nobody labelled, and what a larger labeller says of them."""

    documents: list[Document]
    facets: list[NDArray[np.float32]]
    """[n, 5] of each."""


def ask_teacher(folder: Path, data: Path, cache: Path, device: torch.device) -> Taught:
    """The papers of our judgements as the labeller in the folder sees them; none of them is in CSFCube.

    What it says is kept in the cache.
    """
    graded = [one for file in JUDGEMENTS for one in read_graded(file)]
    documents = list(read_judged(data, graded).values())
    labeller = load_labeller(folder).to(device)
    kept = cache / f"{key_of(labeller.id, documents)}.npy"
    if not kept.exists():
        said = np.concatenate(_opinion(labeller, documents, cache, device))
        draft = kept.with_suffix(f".{os.getpid()}.part.npy")
        np.save(draft, said)
        draft.replace(kept)
    ends = np.cumsum([len(document.sentences) for document in documents])
    return Taught(documents, np.split(np.load(kept), ends[:-1]))


def _opinion(
    labeller: FacetLabeller, documents: list[Document], cache: Path, device: torch.device
) -> list[NDArray[np.float32]]:
    """Probabilities [n, 5] of each document's sentences, over the encoder the labeller was made on."""
    base, encoder = _load("quality" if labeller.shape.buckets else "default")
    lower = LowerLayers.cut(encoder.to(device), base, labeller.layer)
    states = lower.states(documents, cache, progress_of(say))
    facets = [np.zeros((len(document.sentences), len(FACETS)), np.float32) for document in documents]
    opinions = predict(labeller, states, device, progress_of(say, "the teacher's opinion"))
    for window, found in zip(states.windows, opinions, strict=True):
        facets[window.document][window.rows.start : window.rows.stop] = found
    return facets


def _lent_titles(medline: list[Example], count: int, seed: int) -> list[str]:
    """CSAbstruct has no titles: half of the epochs show some other paper's, so that none is relied on."""
    random = np.random.default_rng([seed, 1])
    return [medline[number].title for number in random.choice(len(medline), count)]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with csabstruct/ and the MEDLINE file"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("build/facets"), help="weights, checkpoint, run.json"
    )
    parser.add_argument(
        "--encoder", default="default", help="preset or folder of the encoder it branches off"
    )
    parser.add_argument("--thorough", action="store_true", help="with layers of its own: a teacher, slower")
    parser.add_argument(
        "--teacher", type=Path, help="folder of a labeller made with `--thorough` or `--encoder quality`"
    )
    parser.add_argument("--seed", type=int, default=Recipe().seed)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")


def fit_shape(config: PretrainedConfig, recipe: Recipe) -> Shape:
    """The sizes of a labeller that branches off this encoder."""
    branch = recipe.branch or config.num_hidden_layers // 2
    return Shape(
        layer=branch,
        layers=config.num_hidden_layers - branch if recipe.own is None else recipe.own,
        hidden=config.hidden_size,
        heads=config.num_attention_heads,
        inner=config.intermediate_size,
        sentence_layers=recipe.sentence_layers,
        sentence_inner=2 * config.hidden_size,
        pooling=config.num_attention_heads if recipe.weigh_words else 0,
        buckets=config.relative_attention_num_buckets if config.model_type == "mpnet" else 0,
    )


def run(args: argparse.Namespace) -> int:
    torch.set_num_threads(args.threads)
    join_workers()
    device = torch.device(args.device)
    args.out.mkdir(parents=True, exist_ok=True)
    folder, encoder = _load(args.encoder)
    recipe = RECIPES["thorough"] if args.thorough else RECIPES.get(args.encoder, RECIPES["default"])
    recipe = replace(recipe, seed=args.seed)
    recipe = replace(recipe, shape=fit_shape(encoder.config, recipe))
    trainer = Trainer(recipe, new_labeller(recipe, encoder), device)
    lower = LowerLayers.cut(encoder.to(device), folder, recipe.shape.layer)
    with first_worker_first():
        taught = ask_teacher(args.teacher, args.data, args.out / "states", device) if args.teacher else None
        corpora, checks = prepare(args.data, lower, recipe, args.out / "states", say, taught)
    train(trainer, corpora, checks, args.out, say)
    return 0


def _load(preset: str) -> tuple[Path, nn.Module]:
    folder = find_weights(preset).folder
    return folder, AutoModel.from_pretrained(folder, local_files_only=True, add_pooling_layer=False)
