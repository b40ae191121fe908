"""The training loop for aspects: one graded pool and one batch of co-cited pairs a step."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from evaluation.metrics import pool_values
from search.fusion import ROLE, WORDS
from search.trained import Tensors
from training import aspect_losses as losses
from training.aspect_data import Aligned, Corpus, Pool
from training.aspect_model import UpperLayers, interpolated
from training.aspect_plan import AspectRecipe, Step, make_plan
from training.loop import slope
from training.states import autocast

WHOLE, WORDS_LEARNED = 0.25, 0.75
"""What counts beside the match in the score that is trained: with the whole paper, so that it learns too."""
SECONDS_BETWEEN_CHECKPOINTS = 180.0
TOGETHER = 7
"""About so many papers go through the model at once."""
AT_ONCE = 240
"""Papers encoded in one go when a set is scored."""


@dataclass(frozen=True, slots=True)
class TrainingSet:
    pools: Sequence[tuple[Corpus, Pool]]
    cited: Corpus | None = None
    pairs: Sequence[Aligned] = ()
    negatives: Sequence[Sequence[int]] = ()


@dataclass(frozen=True, slots=True)
class CocitedTest:
    """Queries, each with the one paper to be found among those of the pool that are not co-cited with it."""

    corpus: Corpus
    queries: Sequence[tuple[int, int]]
    pool: Sequence[int]
    partners: Mapping[int, frozenset[int]]
    """Query -> all papers it is co-cited with: none of them is a mistake before the one to be found."""


@dataclass(frozen=True, slots=True)
class Checks:
    """What a model is scored on: graded pools by name, and co-cited papers to be found."""

    pools: dict[str, tuple[Corpus, Sequence[Pool]]]
    cocited: CocitedTest | None


class AspectTrainer:
    """Weights, their average, the teacher's mapping, the optimiser and how far the plan is."""

    def __init__(
        self, recipe: AspectRecipe, model: UpperLayers, mapping: Tensor, device: torch.device
    ) -> None:
        self.recipe, self.device = recipe, device
        self.model = model.to(device)
        self.start = {name: value.clone() for name, value in model.state_dict().items()}
        self.kept = {name: value.clone() for name, value in self.start.items()}
        self.mapping = nn.Parameter(mapping.to(device))
        self.learning = [*(each for each in model.parameters() if each.requires_grad), self.mapping]
        self.optimizer = torch.optim.AdamW(self.learning, lr=0.0, weight_decay=recipe.decay)
        self.step = 0
        self.history: list[dict[str, Any]] = []

    def begin_with(self, trained: Tensors) -> None:
        """Instead of the untrained weights; a share of the way still counts from those."""
        self.model.take(trained)
        self.kept = {name: value.clone() for name, value in self.model.state_dict().items()}

    def advance(self, step: Step, data: TrainingSet) -> dict[str, float]:
        torch.manual_seed(self.recipe.seed * 1_000_003 + self.step)
        self.model.train()
        for group in self.optimizer.param_groups:
            group["lr"] = self.recipe.rate * slope(step.progress, self.recipe.warmup)
        self.optimizer.zero_grad()
        parts = self._learn(self._pool_losses(*data.pools[step.pool]))
        if step.pairs and data.cited:
            parts |= self._learn(self._pair_losses(data, step.pairs))
        nn.utils.clip_grad_norm_(self.learning, 1.0)
        self.optimizer.step()
        self.step += 1
        move = max(1 - self.recipe.average, 1 / (self.step + 1))
        for name, value in self.model.state_dict().items():
            self.kept[name].lerp_(value, move)
        return parts

    def _learn(self, parts: dict[str, Tensor]) -> dict[str, float]:
        weights = asdict(self.recipe)
        total = sum(weights[name] * loss for name, loss in parts.items())
        if isinstance(total, Tensor):
            total.backward()
        return {name: float(loss.detach()) for name, loss in parts.items()}

    def _pool_losses(self, corpus: Corpus, pool: Pool) -> dict[str, Tensor]:
        papers = [pool.query, *pool.candidates]
        seen = see(self.model, corpus, papers, self.device)
        scores, parts = pool_scores(seen, pool), {}
        if self.recipe.graded and pool.grades:
            parts["graded"] = losses.rank_by_grades(scores, torch.tensor(pool.grades, device=self.device))
        if self.recipe.ranked and corpus.teacher:
            parts["ranked"] = losses.rank_as(scores, pool_scores(taught(corpus, papers, self.device), pool))
        return parts | self._taught_losses(corpus, papers, seen)

    def _taught_losses(self, corpus: Corpus, papers: Sequence[int], seen: Seen) -> dict[str, Tensor]:
        if corpus.teacher is None or not (self.recipe.relations or self.recipe.directions):
            return {}
        owner = torch.arange(len(papers), device=self.device)
        ours, mine = seen.sentences[seen.present], owner[:, None].expand_as(seen.present)[seen.present]
        theirs, whole = corpus.taught(papers, self.device)
        alike = losses.relations(ours, theirs, mine) + losses.relations(seen.wholes, whole, owner)
        return {"relations": alike, "directions": losses.directions(ours, theirs, self.mapping)}

    def _pair_losses(self, data: TrainingSet, numbers: Sequence[int]) -> dict[str, Tensor]:
        """The first papers ask; the second papers and one mined neighbour each are to be told apart."""
        assert data.cited is not None
        pairs = [data.pairs[number] for number in numbers]
        random = np.random.default_rng([self.recipe.seed, 5, self.step])
        mined = [int(random.choice(data.negatives[number])) for number in numbers if data.negatives[number]]
        asking, others = [one.first for one in pairs], [*(one.second for one in pairs), *mined]
        seen = see(self.model, data.cited, asking + others, self.device)
        count = len(pairs)
        allowed = torch.tensor(
            [
                [place == row or other not in (one.first, one.second) for place, other in enumerate(others)]
                for row, one in enumerate(pairs)
            ],
            device=self.device,
        )
        right = torch.arange(count, device=self.device)
        there = seen.present[count:]
        similarity = losses.pairwise(seen.sentences[:count], seen.sentences[count:], there)
        scores = {}
        if self.recipe.single:
            ours, theirs = (
                torch.tensor([getattr(one, side) for one in pairs], device=self.device)
                for side in ("ours", "theirs")
            )
            nearest = similarity[right, :, ours].amax(-1)
            aligned = similarity[right, right, ours, theirs]
            scores["single"] = nearest.scatter(1, right[:, None], aligned[:, None])
        if self.recipe.multi:
            scores["multi"] = losses.transport(similarity, seen.present[:count], there)
        if self.recipe.whole:
            scores["whole"] = seen.wholes[:count] @ seen.wholes[count:].T
        told = torch.tensor([one.aligned for one in pairs], device=self.device)
        parts = {}
        for name, found in scores.items():
            rows = told if name == "single" else torch.ones_like(told)
            if rows.any():
                parts[name] = losses.contrast(found[rows], right[rows], allowed[rows], self.recipe.contrast)
        return parts | self._taught_losses(data.cited, asking + others, seen)

    def averaged(self) -> UpperLayers:
        """The averaged weights, as far from the untrained ones as the recipe says."""
        made = copy.deepcopy(self.model).eval()
        made.load_state_dict(interpolated(self.start, self.kept, self.recipe.share))
        return made

    def save(self, path: Path) -> None:
        state = {
            "model": self.model.state_dict(),
            "kept": self.kept,
            "mapping": self.mapping.detach(),
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
        self.kept = state["kept"]
        self.mapping.data = state["mapping"]
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.history = state["step"], state["history"]


@dataclass(frozen=True, slots=True)
class Seen:
    """Papers as a model sees them: sentences [b, n, d] with which of them are there [b, n], wholes [b, d]."""

    sentences: Tensor
    present: Tensor
    wholes: Tensor


def see(model: UpperLayers, corpus: Corpus, papers: Sequence[int], device: torch.device) -> Seen:
    """Papers of like length go through the model together: a third of the work would be pads otherwise."""
    lengths = np.array([corpus.states.length(int(corpus.window[paper])) for paper in papers])
    order = np.argsort(lengths, kind="stable")
    most = max(len(corpus.documents[paper].sentences) for paper in papers)
    sentences, wholes, present = [], [], []
    for rows in np.array_split(order, max(1, len(papers) // TOGETHER)):
        batch = corpus.batch([papers[row] for row in rows], device)
        with autocast(device):
            some, whole = model(batch)
        more = most - some.shape[1]
        sentences.append(nn.functional.pad(some, (0, 0, 0, more)))
        present.append(nn.functional.pad(batch.assignment.sum(-1) > 0, (0, more)))
        wholes.append(whole)
    back = torch.from_numpy(np.argsort(order)).to(device)
    return Seen(torch.cat(sentences)[back], torch.cat(present)[back], torch.cat(wholes)[back])


def taught(corpus: Corpus, papers: Sequence[int], device: torch.device) -> Seen:
    """Papers as the teacher sees them."""
    assert corpus.teacher is not None
    sentences = [torch.from_numpy(corpus.teacher.of(paper)) for paper in papers]
    counts = torch.tensor([len(each) for each in sentences])
    present = torch.arange(int(counts.max()))[None, :] < counts[:, None]
    wholes = torch.from_numpy(corpus.teacher.papers[list(papers)].astype(np.float32))
    padded = nn.utils.rnn.pad_sequence(sentences, batch_first=True)
    return Seen(padded.to(device), present.to(device), wholes.to(device))


def pool_scores(seen: Seen, pool: Pool) -> Tensor:
    """[c] match, words and the whole paper added up; the query is the first of what is seen."""
    asked = seen.sentences[:1, list(pool.sentences)]
    similarity = losses.pairwise(asked, seen.sentences[1:], seen.present[1:])
    roles = torch.zeros_like(seen.present[1:], dtype=similarity.dtype)
    for row, role in zip(roles, pool.roles, strict=True):
        row[: len(role)] = torch.from_numpy(role)
    similarity = similarity + ROLE * roles[None, :, None, :]
    match = losses.mean_of_best(similarity, torch.ones_like(asked[..., 0]))[0]
    words = torch.from_numpy(pool.words).to(match.device)
    return match + WHOLE * (seen.wholes[1:] @ seen.wholes[0]) + WORDS_LEARNED * words


@torch.inference_mode()
def encode(model: UpperLayers, corpus: Corpus, papers: Sequence[int], device: torch.device) -> dict[int, Any]:
    """Sentence vectors [n, d] and whole vector [d] of each of these papers."""
    model.eval()
    order = sorted(set(papers), key=lambda paper: corpus.states.length(int(corpus.window[paper])))
    found: dict[int, Any] = {}
    for start in range(0, len(order), AT_ONCE):
        some = order[start : start + AT_ONCE]
        seen = see(model, corpus, some, device)
        for row, paper in enumerate(some):
            count = len(corpus.documents[paper].sentences)
            found[paper] = seen.sentences[row, :count].cpu().numpy(), seen.wholes[row].cpu().numpy()
    return found


def score_pools(
    model: UpperLayers, corpus: Corpus, pools: Sequence[Pool], device: torch.device, words: float = WORDS
) -> dict[str, Any]:
    """MAP and NDCG%20 in percent, over all pools and by facet, with words by that weight and without."""
    vectors = encode(model, corpus, [p for pool in pools for p in (pool.query, *pool.candidates)], device)
    result: dict[str, Any] = {}
    for title, weight in (("", words), (" without words", 0.0)):
        scores = {pool.id: _likeness(vectors, pool, weight) for pool in pools}
        grades = {pool.id: dict(zip(map(str, pool.candidates), pool.grades, strict=True)) for pool in pools}
        values = pool_values(scores, grades, 2)
        for facet in ("all", *sorted({pool.facet for pool in pools})) if not title else ("all",):
            mine = [values[pool.id] for pool in pools if facet in ("all", pool.facet)]
            result[facet + title] = [
                round(float(np.mean([one[m] for one in mine])), 2) for m in ("map", "ndcg_pct20")
            ]
    return result


def _likeness(vectors: dict[int, Any], pool: Pool, words: float) -> dict[str, float]:
    """As search scores them."""
    asked = vectors[pool.query][0][list(pool.sentences)]
    return {
        str(paper): float((asked @ vectors[paper][0].T + ROLE * role).max(1).mean() + words * lexical)
        for paper, lexical, role in zip(pool.candidates, pool.words, pool.roles, strict=True)
    }


def score_cocited(model: UpperLayers, test: CocitedTest, device: torch.device) -> float:
    """Mean reciprocal rank, in percent, of the co-cited paper among the others, by match and whole."""
    vectors = encode(model, test.corpus, [*test.pool, *(query for query, _ in test.queries)], device)
    sentences = np.concatenate([vectors[paper][0] for paper in test.pool])
    starts = np.cumsum([0, *(len(vectors[paper][0]) for paper in test.pool)])[:-1]
    wholes = np.stack([vectors[paper][1] for paper in test.pool])
    ranks = []
    for query, right in test.queries:
        own, whole = vectors[query]
        match = np.maximum.reduceat(own @ sentences.T, starts, axis=1).mean(0)
        total = match + WHOLE * (wholes @ whole)
        wrong = [paper != query and paper not in test.partners[query] for paper in test.pool]
        ranks.append(1 + int((total > total[test.pool.index(right)])[wrong].sum()))
    return round(100 * float(np.mean(1 / np.array(ranks))), 2)


def score(model: UpperLayers, checks: Checks, device: torch.device, words: float = WORDS) -> dict[str, Any]:
    found: dict[str, Any] = {
        name: score_pools(model, *where, device, words) for name, where in checks.pools.items()
    }
    if checks.cocited:
        found["cocited_mrr"] = score_cocited(model, checks.cocited, device)
    return found


def train(
    trainer: AspectTrainer,
    data: TrainingSet,
    checks: Checks,
    out: Path,
    say: Callable[[str], None],
    score_first: bool = True,
) -> UpperLayers:
    """Walk through the plan from where the trainer stands; losses and scores go to `run.json`."""
    plan = make_plan(trainer.recipe, len(data.pools), len(data.pairs))
    last = min(trainer.recipe.stop or len(plan), len(plan))
    checkpoint = out / "checkpoint.pt"
    if checkpoint.exists():
        trainer.load(checkpoint)
        say(f"going on at step {trainer.step} of {len(plan)}")
    if score_first and not trainer.history:
        _report(trainer, 0, {}, checks, out, say)
    started, first, saved = time.monotonic(), trainer.step, time.monotonic()
    seen: list[dict[str, float]] = []
    while trainer.step < last:
        step = plan[trainer.step]
        seen.append(trainer.advance(step, data))
        if trainer.step % 20 == 0:
            left = (time.monotonic() - started) / (trainer.step - first) * (len(plan) - trainer.step)
            say(f"step {trainer.step}/{len(plan)}, {_mean(seen[-20:])}, {left / 60:.0f} min left")
        ends = trainer.step == last or plan[trainer.step].epoch != step.epoch
        if ends:
            _report(trainer, step.epoch + 1, _mean(seen), checks, out, say)
            seen = []
        if ends or time.monotonic() - saved > SECONDS_BETWEEN_CHECKPOINTS:
            trainer.save(checkpoint)
            saved = time.monotonic()
    return trainer.averaged()


def _mean(parts: Sequence[dict[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for one in parts for name in one)
    return {name: round(float(np.mean([one[name] for one in parts if name in one])), 4) for name in names}


def _report(
    trainer: AspectTrainer,
    epoch: int,
    lost: dict[str, float],
    checks: Checks,
    out: Path,
    say: Callable[[str], None],
) -> None:
    scores = score(trainer.averaged(), checks, trainer.device, trainer.recipe.words)
    trainer.history.append({"epoch": epoch, "step": trainer.step, "losses": lost, "scores": scores})
    say(f"epoch {epoch}: {json.dumps(scores)}")
    notes = {"recipe": asdict(trainer.recipe), "history": trainer.history}
    (out / "run.json").write_text(json.dumps(notes, indent=1) + "\n", encoding="utf-8")
