"""Trains the labeller step by step: averaged weights, checkpoints, scores after each epoch."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from search.encoder.labeller import FacetLabeller, save_labeller
from search.types import FACETS
from training.fine_tuning import slope
from training.hidden_states import TOKENS_PER_BATCH, Batch, States, autocast, by_length
from training.labeller_plan import Recipe, Stage, Step, make_plan, variant
from training.progress import Say
from training.workers import my_part, share_gradients, worker, workers

EACH_EPOCH = ("dev", "held_out", "dev_sure", "held_out_sure")
"""What is scored after every epoch; the rest only after a stage."""
SECONDS_BETWEEN_CHECKPOINTS = 120.0
"""Work that a stopped run loses at most; chosen by hand."""

Weights = dict[str, Tensor]


def loss_of(labeller: FacetLabeller, batch: Batch) -> Tensor:
    """Cross entropy against the wanted probabilities; a sentence weighs as much as their sum."""
    logits = labeller.logits(batch.hidden, batch.mask, batch.assignment).float()
    return -(batch.targets * logits.log_softmax(-1)).sum() / batch.targets.sum().clamp(min=1e-6)


@torch.inference_mode()
def predict(
    labeller: FacetLabeller,
    states: States,
    device: torch.device,
    progress: Callable[[int, int], None] | None = None,
) -> list[NDArray[np.float32]]:
    """Probabilities [n, 5] of the sentences of each window, in the order of the windows."""
    labeller.eval()
    found: list[NDArray[np.float32]] = [np.zeros(0, np.float32)] * len(states)
    done = 0
    for numbers in by_length(np.diff(states.offsets), np.arange(len(states)), TOKENS_PER_BATCH):
        batch = states.batch(list(numbers), device)
        with autocast(device):
            output = labeller(batch.hidden, batch.mask, batch.assignment).float().cpu().numpy()
        for row, number in enumerate(numbers):
            found[number] = output[row, : len(states.windows[number].rows)]
        done += len(numbers)
        if progress:
            progress(done, len(states))
    return found


def score(labeller: FacetLabeller, states: States, device: torch.device) -> dict[str, float]:
    """Micro- and macro-F1 over five facets, in percent."""
    guesses, truths = [], []
    for window, probabilities in zip(states.windows, predict(labeller, states, device), strict=True):
        wanted = states.targets[window.document][window.rows.start : window.rows.stop]
        known = wanted.sum(-1) > 0
        guesses.append(probabilities.argmax(-1)[known])
        truths.append(wanted.argmax(-1)[known])
    guess, truth = np.concatenate(guesses), np.concatenate(truths)
    f1 = [
        2
        * np.sum((guess == facet) & (truth == facet))
        / np.sum((guess == facet).astype(int) + (truth == facet))
        for facet in range(len(FACETS))
        if np.any((truth == facet) | (guess == facet))
    ]
    return {
        "micro_f1": round(100 * float(np.mean(guess == truth)), 2),
        "macro_f1": round(100 * float(np.mean(f1)), 2),
    }


class Trainer:
    """The weights, their average, the optimiser, and the number of the next step."""

    def __init__(self, recipe: Recipe, labeller: FacetLabeller, device: torch.device) -> None:
        self.recipe, self.device = recipe, device
        self.labeller = labeller.to(device)
        self.average = self._weights()
        self.step = self.began = 0
        self.history: list[dict[str, Any]] = []
        self.optimizer = self._optimizer(recipe.stages[0])

    def _optimizer(self, stage: Stage) -> torch.optim.AdamW:
        copied = [list(layer.parameters()) for layer in self.labeller.words]
        inside = {id(parameter) for parameter in self.labeller.words.parameters()}
        groups = [
            {
                "params": [p for p in self.labeller.parameters() if id(p) not in inside],
                "peak": stage.head_rate,
            }
        ]
        for below, layer in enumerate(reversed(copied)):
            groups.append({"params": layer, "peak": stage.rate * self.recipe.fade**below})
        return torch.optim.AdamW(groups, lr=0.0, weight_decay=self.recipe.decay)

    def _weights(self) -> Weights:
        return {name: value.detach().clone() for name, value in self.labeller.state_dict().items()}

    def _begin(self, stage: Stage) -> None:
        self.average, self.began = self._weights(), self.step
        self.optimizer = self._optimizer(stage)

    def advance(self, step: Step, batch: Batch) -> float:
        if step.progress == 0:
            self._begin(self.recipe.stages[step.stage])
        torch.manual_seed((self.recipe.seed * 1_000_003 + self.step) * workers() + worker())
        self.labeller.train()
        for group in self.optimizer.param_groups:
            group["lr"] = group["peak"] * slope(step.progress, self.recipe.warmup)
        with autocast(self.device):
            loss = loss_of(self.labeller, batch)
        self.optimizer.zero_grad()
        loss.backward()
        share_gradients(self.labeller)
        nn.utils.clip_grad_norm_(self.labeller.parameters(), 1.0)
        self.optimizer.step()
        self.step += 1
        # At first the average is the plain mean over this stage, without the weights it began with.
        move = max(1 - self.recipe.average, 1 / (self.step - self.began))
        for name, value in self.labeller.state_dict().items():
            self.average[name].lerp_(value, move)
        return float(loss.detach())

    def averaged(self) -> FacetLabeller:
        """The labeller with the averaged weights."""
        labeller = copy.deepcopy(self.labeller)
        labeller.load_state_dict(self.average)
        return labeller.eval()

    def save(self, path: Path) -> None:
        state = {
            "labeller": self.labeller.state_dict(),
            "average": self.average,
            "began": self.began,
            "optimizer": self.optimizer.state_dict(),
            "step": self.step,
            "history": self.history,
        }
        draft = path.with_suffix(".part")
        torch.save(state, draft)
        draft.replace(path)

    def load(self, path: Path, plan: list[Step]) -> None:
        state = torch.load(path, map_location=self.device, weights_only=True)
        self.labeller.load_state_dict(state["labeller"])
        self.average, self.step, self.began, self.history = (
            state[name] for name in ("average", "step", "began", "history")
        )
        self.optimizer = self._optimizer(self.recipe.stages[plan[max(0, self.step - 1)].stage])
        self.optimizer.load_state_dict(state["optimizer"])


def train(
    trainer: Trainer,
    corpora: dict[str, list[States]],
    checks: dict[str, States],
    out: Path,
    say: Say,
) -> FacetLabeller:
    """Take all steps from where the trainer stands; losses and scores go to `run.json`."""
    plan = make_plan(trainer.recipe, corpora)
    checkpoint = out / "checkpoint.pt"
    if checkpoint.exists():
        trainer.load(checkpoint, plan)
        say(f"going on at step {trainer.step} of {len(plan)}")
    started, first, saved, losses = time.monotonic(), trainer.step, time.monotonic(), []
    while trainer.step < len(plan):
        step = plan[trainer.step]
        states = variant(corpora[step.corpus], step.stage + step.epoch)
        losses.append(trainer.advance(step, states.batch(my_part(step.numbers), trainer.device)))
        if trainer.step % 20 == 0:
            left = (time.monotonic() - started) / (trainer.step - first) * (len(plan) - trainer.step)
            say(
                f"step {trainer.step}/{len(plan)}, loss {np.mean(losses[-20:]):.3f}, {left / 60:.0f} min left"
            )
        ends = trainer.step == len(plan) or (plan[trainer.step].stage, plan[trainer.step].epoch) != (
            step.stage,
            step.epoch,
        )
        if ends and worker() == 0:
            _report(trainer, step, float(np.mean(losses)), checks, out, say)
        if ends:
            losses = []
        if worker() == 0 and (ends or time.monotonic() - saved > SECONDS_BETWEEN_CHECKPOINTS):
            trainer.save(checkpoint)
            saved = time.monotonic()
    return trainer.averaged()


def _report(
    trainer: Trainer,
    step: Step,
    loss: float,
    checks: dict[str, States],
    out: Path,
    say: Say,
) -> None:
    """Score the averaged weights after an epoch and write down what is known so far."""
    labeller = trainer.averaged()
    ends = step.epoch + 1 == trainer.recipe.stages[step.stage].epochs
    scores = {
        name: score(labeller, states, trainer.device)
        for name, states in checks.items()
        if ends or name in EACH_EPOCH
    }
    stage = trainer.recipe.stages[step.stage].name
    entry = {"stage": stage, "epoch": step.epoch + 1, "step": trainer.step, "loss": round(loss, 4)} | scores
    trainer.history.append(entry)
    say(f"{stage} epoch {step.epoch + 1}: " + json.dumps(scores))
    notes = {"recipe": asdict(trainer.recipe), "history": trainer.history}
    (out / "run.json").write_text(json.dumps(notes, indent=1) + "\n", encoding="utf-8")
    save_labeller(labeller, out, {"scores": scores})
