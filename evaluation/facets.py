"""How well sentences are labelled: F1 over five facets and over the three panels, on CSAbstruct's layout."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.encoder.loading import load_encoder
from search.errors import InputError
from search.types import FACETS, PANELS, Document, Facet

ANNOTATORS = 5
"""A guess: CSAbstruct's confidences lie around fifths, as shares of five about equally trusted people do."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """One abstract with the facets its annotators gave; None where they gave none."""

    document: Document
    facets: tuple[Facet | None, ...]
    confidences: tuple[float, ...] = ()
    """How large a part of the annotators chose each label, where the file says."""


@dataclass(frozen=True, slots=True)
class ClassScore:
    precision: float
    recall: float
    f1: float
    support: int


@dataclass(frozen=True, slots=True)
class Scores:
    """All in percent."""

    micro_f1: float
    macro_f1: float
    classes: dict[Facet, ClassScore]


def confusion(
    truth: Sequence[Facet], guess: Sequence[Facet], labels: Sequence[Facet] = FACETS
) -> NDArray[np.int64]:
    """Counts [true facet, guessed facet] in the order of `labels`."""
    table = np.zeros((len(labels), len(labels)), np.int64)
    for true, guessed in zip(truth, guess, strict=True):
        table[labels.index(true), labels.index(guessed)] += 1
    return table


def score(table: NDArray[np.int64], labels: Sequence[Facet], counted: Sequence[Facet]) -> Scores:
    """Precision, recall and F1 = 2 tp / (2 tp + fp + fn) of each counted class of a confusion table.

    Micro-F1 takes tp, fp and fn summed over the counted classes; where all classes count it is the share of
    sentences labelled right. Macro-F1 is the plain mean of the classes' F1. A counted class that is neither
    true nor guessed anywhere has no F1 and is left out of the mean.
    """
    classes, sums = {}, np.zeros(3, np.int64)
    for facet in counted:
        place = labels.index(facet)
        hit, guessed, true = table[place, place], table[:, place].sum(), table[place].sum()
        sums += (hit, guessed, true)
        if guessed + true:
            classes[facet] = ClassScore(
                _percent(hit, guessed), _percent(hit, true), _percent(2 * hit, guessed + true), int(true)
            )
    macro = float(np.mean([each.f1 for each in classes.values()])) if classes else 0.0
    return Scores(_percent(2 * sums[0], sums[1] + sums[2]), macro, classes)


def merge(facets: Sequence[Facet]) -> list[Facet]:
    """Facets as the interface shows them: an objective counts as background, other stays other."""
    return [facet.panel for facet in facets]


def measure(truth: Sequence[Facet], guess: Sequence[Facet]) -> dict[str, Any]:
    """All figures of the report.

    For the three panels, `other` is no class of its own: an `other` shown in a panel is a false hit there,
    a sentence of a panel called `other` is a miss, and `other` called `other` does not count.
    """
    five = confusion(truth, guess)
    labels = [*PANELS, Facet.OTHER]
    three = confusion(merge(truth), merge(guess), labels)
    all_five, panels = score(five, FACETS, FACETS), score(three, labels, PANELS)
    return {
        "collection": "facets",
        "micro_f1": round(all_five.micro_f1, 2),
        "macro_f1": round(all_five.macro_f1, 2),
        "micro_f1_3": round(panels.micro_f1, 2),
        "macro_f1_3": round(panels.macro_f1, 2),
        "sentences": len(truth),
        "per_class": _rows(all_five),
        "per_class_3": _rows(panels),
        "confusion": {"labels": list(FACETS), "counts": five.tolist()},
        "confusion_3": {"labels": labels, "counts": three.tolist()},
    }


def measure_agreement(
    truth: Sequence[Facet], guess: Sequence[Facet], confidences: Sequence[float]
) -> list[dict[str, float]]:
    """By how many annotators agreed on a label: the sentences, and the percent of them labelled so."""
    met = np.array([true is guessed for true, guessed in zip(truth, guess, strict=True)])
    votes = np.array([agreed(each) for each in confidences])
    return [
        {
            "agreed": count,
            "sentences": int(np.sum(votes == count)),
            "met": round(_percent(met[votes == count].sum(), np.sum(votes == count)), 1),
        }
        for count in range(1, ANNOTATORS + 1)
    ]


def agreed(confidence: float) -> int:
    """How many annotators chose the label."""
    return min(max(round(confidence * ANNOTATORS), 1), ANNOTATORS)


def read_labelled(path: Path) -> list[Labelled]:
    """CSAbstruct's layout: a line has `sentences`, `labels` (null for unknown), if known `title`, `confs`."""
    if not path.is_file():
        raise InputError(
            f"There is no file {path}: give a JSONL file with sentences and labels with `--data`."
        )
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.strip():
            found.append(_labelled(line, f"line {number} of {path}"))
    if not found:
        raise InputError(f"There is nothing in {path}: give a JSONL file with sentences and labels.")
    return found


def _labelled(line: str, place: str) -> Labelled:
    try:
        record = json.loads(line)
        sentences = tuple(str(sentence) for sentence in record["sentences"])
        facets = tuple(None if label is None else Facet(label.lower()) for label in record["labels"])
        confidences = tuple(float(each) for each in record.get("confs") or ())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"In {place} there is no abstract with `sentences` and `labels` ({', '.join(FACETS)}): {error}."
        ) from error
    if len(sentences) != len(facets):
        raise InputError(f"In {place} there are {len(sentences)} sentences but {len(facets)} labels.")
    if confidences and len(confidences) != len(facets):
        raise InputError(f"In {place} there are {len(facets)} labels but {len(confidences)} `confs`.")
    return Labelled(Document(record.get("title") or "", sentences), facets, confidences)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, required=True, help="JSONL file in CSAbstruct's layout")
    parser.add_argument("--json", type=Path, help="write the figures there too")


def run(args: argparse.Namespace) -> int:
    labelled = read_labelled(args.data)
    encoded = load_encoder().encode(abstract.document for abstract in labelled)
    truth: list[Facet] = []
    guess: list[Facet] = []
    confidences: list[float] = []
    for abstract, found in zip(labelled, encoded, strict=True):
        guessed = found.facets.argmax(axis=1)
        for place, facet in enumerate(abstract.facets):
            if facet is not None:
                truth.append(facet)
                guess.append(FACETS[guessed[place]])
                confidences += abstract.confidences[place : place + 1]
    figures = measure(truth, guess)
    if confidences and len(confidences) == len(truth):
        figures["agreement"] = measure_agreement(truth, guess, confidences)
    print(describe(figures))
    if args.json:
        args.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0


def describe(figures: dict[str, Any]) -> str:
    """The figures as a text for the terminal."""
    lines = [f"{figures['sentences']} sentences"]
    for title, end in (("five facets", ""), ("three panels (objective is background)", "_3")):
        lines += [
            "",
            f"{title}: micro-F1 {figures[f'micro_f1{end}']:.2f}, macro-F1 {figures[f'macro_f1{end}']:.2f}",
            f"{'':12}{'precision':>10}{'recall':>10}{'F1':>10}{'sentences':>11}",
        ]
        for name, row in figures[f"per_class{end}"].items():
            lines.append(
                f"{name:12}{row['precision']:10.1f}{row['recall']:10.1f}{row['f1']:10.1f}{row['support']:11}"
            )
        labels, counts = figures[f"confusion{end}"]["labels"], figures[f"confusion{end}"]["counts"]
        lines.append(f"{'true, guessed':14}" + "".join(f"{label:>12}" for label in labels))
        for label, row in zip(labels, counts, strict=True):
            lines.append(f"{label:14}" + "".join(f"{count:12}" for count in row))
    lines += ["", "An `other` in a panel is a false hit, a panel's sentence called `other` a miss."]
    if found := figures.get("agreement"):
        lines += ["", f"{'agreed':12}{'sentences':>10}{'met':>10}"]
        for row in found:
            title = f"{row['agreed']} of {ANNOTATORS}"
            lines.append(f"{title:12}{row['sentences']:10}{row['met']:10.1f}")
    return "\n".join(lines)


def _rows(scores: Scores) -> dict[str, dict[str, float]]:
    return {
        facet: {
            "precision": round(each.precision, 2),
            "recall": round(each.recall, 2),
            "f1": round(each.f1, 2),
            "support": each.support,
        }
        for facet, each in scores.classes.items()
    }


def _percent(part: float, whole: float) -> float:
    return 100 * float(part) / float(whole) if whole else 0.0
