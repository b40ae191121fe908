"""Trains upper layers step by step: averaged weights, checkpoints, scores after each epoch.

The commands `encoder` and `cocitations` both use it; what they learn from is a `Task`. A run that was stopped
goes on from its last checkpoint, and the seed fixes everything.
"""

from __future__ import annotations

import copy
import json
import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from search.encoder.weight_files import Tensors
from training.progress import Say
from training.upper_layers import UpperLayers, interpolate

SECONDS_BETWEEN_CHECKPOINTS = 180.0
"""Work that a stopped run loses at most; chosen by hand."""
STEPS_BETWEEN_LINES = 20
"""Steps of training between two lines with the loss; chosen by hand."""


def option(
    default: Any, help: str, choices: Sequence[str] = (), least: float = 0, most: float = math.inf
) -> Any:
    """A field of a recipe, which is an option of the command as well; numbers lie from least to most."""
    return field(default=default, metadata={"help": help, "choices": choices, "least": least, "most": most})


@dataclass(frozen=True, slots=True)
class Recipe:
    """The settings of a run; docs/studies/encoder.md says what was tried."""

    upper: int = option(3, "layers that are trained, counted from the top", least=1)
    rank: int = option(0, "rank of additions to the layers (LoRA); 0 trains the layers themselves")
    epochs: int = option(1, "passes over the data; 0 only scores")
    stop: int = option(0, "end after this many steps; 0 goes to the end")
    seed: int = option(7, "fixes the order of the data, dropout and new weights")
    rate: float = option(5e-5, "highest learning rate")
    warmup: float = option(
        0.1, "part of the run in which the learning rate rises; it falls after that", most=0.9
    )
    decay: float = option(0.01, "weight decay of AdamW")
    average: float = option(0.99, "part of the averaged weights that remains after each step", most=1)
    dropout: float = option(0.1, "part of the activations that is dropped in training", most=1)
    share: float = option(
        1.0, "how far the result lies from the untrained to the trained weights, 0 to 1", most=1
    )


@dataclass(frozen=True, slots=True)
class Step:
    number: int
    epoch: int
    examples: tuple[int, ...]
    progress: float
    """Part of the run that is done, from 0 to 1."""


class Task(Protocol):
    """What a model learns from and what it is scored on."""

    @property
    def examples(self) -> int:
        """How many there are to learn from."""

    @property
    def batch_size(self) -> int:
        """Examples in one step."""

    def losses(self, model: UpperLayers, step: Step) -> dict[str, Tensor]:
        """Losses by name; the model learns from their mean."""

    def score(self, model: UpperLayers) -> dict[str, Any]:
        """Figures by name, in percent."""


def make_plan(recipe: Recipe, examples: int, batch_size: int = 1) -> list[Step]:
    """All steps in order; they depend on the seed and the sizes alone, so that a run can go on."""
    batches = [
        (epoch, tuple(map(int, batch)))
        for epoch in range(recipe.epochs)
        for batch in np.array_split(
            np.random.default_rng([recipe.seed, epoch]).permutation(examples), -(-examples // batch_size)
        )
    ]
    return [
        Step(number, epoch, batch, number / len(batches)) for number, (epoch, batch) in enumerate(batches)
    ]


def slope(progress: float, warmup: float) -> float:
    """The learning rate as a part of its peak: straight up over `warmup`, then straight down to zero."""
    return min(progress / warmup if warmup else 1.0, (1 - progress) / (1 - warmup)) if progress < 1 else 0.0


class Trainer:
    """The weights, their average, the optimiser, and the number of the next step."""

    def __init__(self, recipe: Recipe, model: UpperLayers, device: torch.device) -> None:
        self.recipe, self.device = recipe, device
        self.model = model.to(device)
        self.start = {name: value.clone() for name, value in model.state_dict().items()}
        self.average = {name: value.clone() for name, value in self.start.items()}
        self.learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
        self.optimizer = torch.optim.AdamW(self.learning, lr=0.0, weight_decay=recipe.decay)
        self.step = 0
        self.history: list[dict[str, Any]] = []

    def begin_with(self, trained: Tensors) -> None:
        """Go on from these weights; `share` still counts from the untrained ones."""
        self.model.take(trained)
        self.average = {name: value.clone() for name, value in self.model.state_dict().items()}

    def advance(self, step: Step, task: Task) -> dict[str, float]:
        """One step; returns its losses."""
        torch.manual_seed(self.recipe.seed * 1_000_003 + self.step)
        self.model.train()
        for group in self.optimizer.param_groups:
            group["lr"] = self.recipe.rate * slope(step.progress, self.recipe.warmup)
        self.optimizer.zero_grad()
        losses = task.losses(self.model, step)
        (sum(losses.values()) / len(losses)).backward()
        nn.utils.clip_grad_norm_(self.learning, 1.0)
        self.optimizer.step()
        self.step += 1
        # Until the average is as long as the recipe says, it is the plain mean of all weights so far.
        move = max(1 - self.recipe.average, 1 / (self.step + 1))
        for name, value in self.model.state_dict().items():
            self.average[name].lerp_(value, move)
        return {name: float(loss.detach()) for name, loss in losses.items()}

    def averaged(self) -> UpperLayers:
        """The averaged weights, as far from the untrained ones as the recipe says."""
        made = copy.deepcopy(self.model).eval()
        made.load_state_dict(interpolate(self.start, self.average, self.recipe.share))
        return made

    def save(self, path: Path) -> None:
        state = {
            "model": self.model.state_dict(),
            "average": self.average,
            "optimizer": self.optimizer.state_dict(),
            "step": self.step,
            "history": self.history,
        }
        draft = path.with_suffix(".part")
        torch.save(state, draft)
        draft.replace(path)

    def load(self, path: Path) -> None:
        state = torch.load(path, map_location=self.device, weights_only=True)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.average, self.step, self.history = state["average"], state["step"], state["history"]


def train(trainer: Trainer, task: Task, out: Path, say: Say, score_first: bool = True) -> UpperLayers:
    """Take all steps from where the trainer stands; losses and scores go to `run.json`."""
    plan = make_plan(trainer.recipe, task.examples, task.batch_size)
    last = min(trainer.recipe.stop or len(plan), len(plan))
    checkpoint = out / "checkpoint.pt"
    if checkpoint.exists():
        trainer.load(checkpoint)
        say(f"going on at step {trainer.step} of {len(plan)}")
    if score_first and not trainer.history:
        _report(trainer, 0, {}, task, out, say)
    started, first, saved = time.monotonic(), trainer.step, time.monotonic()
    losses: list[dict[str, float]] = []
    while trainer.step < last:
        step = plan[trainer.step]
        losses.append(trainer.advance(step, task))
        if trainer.step % STEPS_BETWEEN_LINES == 0:
            left = (time.monotonic() - started) / (trainer.step - first) * (last - trainer.step)
            recent = _mean(losses[-STEPS_BETWEEN_LINES:])
            say(f"step {trainer.step}/{len(plan)}, {recent}, {left / 60:.0f} min left")
        epoch_ends = trainer.step == last or plan[trainer.step].epoch != step.epoch
        if epoch_ends:
            _report(trainer, step.epoch + 1, _mean(losses), task, out, say)
            losses = []
        if epoch_ends or time.monotonic() - saved > SECONDS_BETWEEN_CHECKPOINTS:
            trainer.save(checkpoint)
            saved = time.monotonic()
    return trainer.averaged()


def _mean(losses: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: round(float(np.mean([one[name] for one in losses])), 4) for name in losses[0]}


def _report(trainer: Trainer, epoch: int, losses: dict[str, float], task: Task, out: Path, say: Say) -> None:
    """Score the averaged weights and write down what is known so far."""
    scores = task.score(trainer.averaged())
    trainer.history.append({"epoch": epoch, "step": trainer.step, "losses": losses, "scores": scores})
    say(f"epoch {epoch}: {json.dumps(scores)}")
    notes = {"recipe": asdict(trainer.recipe), "history": trainer.history}
    (out / "run.json").write_text(json.dumps(notes, indent=1) + "\n", encoding="utf-8")
