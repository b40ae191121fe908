"""The encoder that is trained: the options that choose it, its two halves, and the files of a run."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TypeVar

import torch
from transformers import AutoModel

from search.encoder.fine_tuned import read_fine_tuned, save_fine_tuned
from search.encoder.pretrained import find_weights
from search.errors import InputError
from search.types import Document
from training.corpus import Corpus, make_corpus
from training.fine_tuning import Recipe, Task, Trainer, train
from training.hidden_states import LowerLayers
from training.progress import count_up, say
from training.upper_layers import UpperLayers
from training.vector_cache import Encode, cached_encoder

UNTRAINED = {"default": "untrained", "quality": "quality-untrained"}
"""Preset that is trained -> preset with its published weights."""

R = TypeVar("R", bound=Recipe)


def add_arguments(parser: argparse.ArgumentParser, recipes: Mapping[str, Recipe], name: str) -> None:
    """The options of every command that trains an encoder; each field of the recipe is one of them."""
    parser.add_argument("--encoder", choices=recipes, default="default", help="the preset that is trained")
    parser.add_argument("--start", type=Path, help="folder with trained weights to go on from")
    parser.add_argument(
        "--out", type=Path, default=Path("build") / name, help="folder for weights, checkpoint, run.json"
    )
    parser.add_argument(
        "--cache", type=Path, default=Path("build/training-cache"), help="folder for what is computed once"
    )
    parser.add_argument("--threads", type=int, default=torch.get_num_threads(), help="processor threads")
    parser.add_argument(
        "--device",
        default="cuda" if torch.cuda.is_available() else "cpu",
        help="cpu or cuda (default: a graphics card if there is one)",
    )
    for field in fields(next(iter(recipes.values()))):
        values = {preset: getattr(recipe, field.name) for preset, recipe in recipes.items()}
        first, *others = values.values()
        each = ", ".join(f"{value} ({preset})" for preset, value in values.items())
        shown = first if others == [first] * len(others) else each
        parser.add_argument(
            f"--{field.name}",
            type=type(field.default),
            choices=field.metadata["choices"] or None,
            help=f"{field.metadata['help']} (default: {shown})",
        )


def choose_recipe(args: argparse.Namespace, recipes: Mapping[str, R]) -> R:
    """The preset's recipe with the values that were given."""
    recipe = recipes[args.encoder]
    given = {field.name: getattr(args, field.name) for field in fields(recipe)}
    for field in fields(recipe):
        value, least, most = given[field.name], field.metadata["least"], field.metadata["most"]
        if isinstance(value, int | float) and not least <= value <= most:
            limits = f"at least {least}" if most == math.inf else f"from {least} to {most}"
            raise InputError(f"`--{field.name}` must be {limits}, but it is {value}.")
    return replace(recipe, **{name: value for name, value in given.items() if value is not None})


@dataclass(frozen=True, slots=True)
class BaseEncoder:
    """An encoder cut in two: lower layers whose states are kept, and a trainer of the upper ones."""

    preset: str
    trainer: Trainer
    lower: LowerLayers
    encode: Encode
    """Vectors and facets of the untrained default encoder."""
    out: Path
    cache: Path

    @staticmethod
    def load(args: argparse.Namespace, recipe: Recipe) -> BaseEncoder:
        torch.set_num_threads(args.threads)
        device = torch.device(args.device)
        args.out.mkdir(parents=True, exist_ok=True)
        folder = find_weights(UNTRAINED[args.encoder]).folder
        encoder = AutoModel.from_pretrained(folder, local_files_only=True, add_pooling_layer=False)
        layers = encoder.config.num_hidden_layers
        layer = layers - recipe.upper
        if layer < 0:
            raise InputError(f"`--upper` is {recipe.upper}, but {args.encoder!r} has {layers} layers.")
        torch.manual_seed(recipe.seed)
        trainer = Trainer(recipe, UpperLayers(encoder, layer, recipe.dropout, recipe.rank), device)
        if args.start:
            trainer.begin_with(read_fine_tuned(args.encoder, args.start).tensors)
        lower = LowerLayers.cut(encoder.to(device), folder, layer)
        encode = cached_encoder("untrained", args.cache / "vectors")
        return BaseEncoder(args.encoder, trainer, lower, encode, args.out, args.cache)

    def make_corpus(self, documents: Mapping[str, Document]) -> Corpus:
        return make_corpus(documents, self.lower, self.cache / "states", count_up(say))

    def train(self, task: Task, score_first: bool = True) -> None:
        """Train the upper layers and write them to the folder of the run."""
        trained = train(self.trainer, task, self.out, say, score_first)
        notes = {"recipe": asdict(self.trainer.recipe)}
        made = save_fine_tuned(trained.tensors(), self.out, notes, self.preset)
        say(f"saved {made} in {self.out}")
