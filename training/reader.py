"""Trains a reader of query and candidate at once, and measures what it adds to the product's score.

Every step ranks two graded pools by the product's score and what the reader adds to it. How much that counts
is chosen on the held-out tenth; then the pools of graded-pools and CSFCube's development queries are measured
once. docs/studies/close-reading.md has what came of it. A stopped run goes on.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import torch
from transformers import AutoModel

from evaluation.graded_pools import JUDGED
from evaluation.significance import compare
from evaluation.tables import table
from search.encoder.fine_tuned import read_fine_tuned
from search.encoder.loading import packer_of
from search.encoder.pretrained import find_weights
from search.encoder.weight_files import save_trained
from search.encoder.windows import Packer
from search.errors import InputError
from training import base_encoder
from training.base_encoder import UNTRAINED, choose_recipe
from training.close_reader import CloseReader
from training.close_reading import WEIGHTS, ReaderRecipe, Reading, read_all, values
from training.fine_tuning import Recipe, Trainer, train
from training.judgements import JUDGEMENTS, read_graded, read_judged
from training.pools import development_graded
from training.progress import say
from training.score_parts import Parts, groups, read_parts
from training.vector_cache import cached_encoder

RECIPES = {"default": ReaderRecipe(upper=4, rate=1e-4)}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data",
        type=Path,
        required=True,
        help="folder with acl_anthology.jsonl.gz, citations/papers.jsonl.gz and csfcube/",
    )
    parser.add_argument(
        "--judgements", type=Path, default=JUDGEMENTS, help="graded pools (default: the training pools)"
    )
    parser.add_argument("--confirm", type=Path, default=JUDGED, help="pools that are only measured, once")
    base_encoder.add_arguments(parser, RECIPES, "reader")


def run(args: argparse.Namespace) -> int:
    recipe = choose_recipe(args, RECIPES)
    if recipe.rank:
        raise InputError(f"The layers of a reader are trained themselves: leave out `--rank {recipe.rank}`.")
    torch.set_num_threads(args.threads)
    encode = cached_encoder("default", args.cache / "vectors")
    graded, others = read_graded(args.judgements), read_graded(args.confirm)
    documents = read_judged(args.data, [*graded, *others])
    pools = list(read_parts(graded, documents, encode))
    reader, packer = load_reader(recipe, args.start)
    held_out = [one for one in pools if one.held_out]
    task = Reading([one for one in pools if not one.held_out], held_out, packer, recipe)
    args.out.mkdir(parents=True, exist_ok=True)
    trained = train(Trainer(recipe, reader, torch.device(args.device)), task, args.out, say)
    named = trained.named_parameters()
    learned = {name: value.detach().cpu() for name, value in named if value.requires_grad}
    made = save_trained(learned, args.out, "reader", {"recipe": asdict(recipe)})
    say(f"saved {made} in {args.out}")
    known, development = development_graded(args.data)
    measured = {
        "held out": held_out,
        "other pools": list(read_parts(others, documents, encode)),
        "CSFCube": list(read_parts(development, known, encode)),
    }
    print(describe(measured, trained, packer))
    return 0


def load_reader(recipe: Recipe, start: Path | None = None) -> tuple[CloseReader, Packer]:
    """The default encoder, as it ships or with a folder's weights, under new parts; and its tokenizer."""
    folder = find_weights(UNTRAINED["default"]).folder
    torch.manual_seed(recipe.seed)
    encoder = AutoModel.from_pretrained(folder, local_files_only=True, add_pooling_layer=False)
    tuned = read_fine_tuned("default", start).tensors
    encoder.load_state_dict({name: torch.from_numpy(tensor) for name, tensor in tuned.items()}, strict=False)
    return CloseReader(encoder, recipe.upper, recipe.dropout), packer_of(folder, "[CLS]", "[SEP]", "[UNK]")


def describe(measured: Mapping[str, Sequence[Parts]], model: CloseReader, packer: Packer) -> str:
    """The gain on each set of pools, by the weight that is best on the first of them."""
    rows, best = [], 0.0
    for name, pools in measured.items():
        added = read_all(model, pools, packer)
        today = values(pools, added, 0)
        if not best:
            best = max(WEIGHTS, key=lambda weight: values(pools, added, weight)[:, 1].mean())
        gained = values(pools, added, best) - today
        for group, mine in groups(pools):
            means = zip(today[mine].mean(axis=0), gained[mine].mean(axis=0), strict=True)
            told = [f"{base:.2f} {more:+.2f}" for base, more in means]
            p_value = compare(gained[mine, 1].tolist(), [0.0] * len(mine)).p_value
            rows.append([f"{name}, {group}", str(len(mine)), *told, f"{p_value:.3f}"])
    return f"added by {best}\n" + table(rows, ["pools", "number", "MAP", "NDCG%20", "p"])
