"""Figures as plain text tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

SHORT = {
    "map": "MAP",
    "r_precision": "R-prec",
    "precision_20": "P@20",
    "recall_20": "R@20",
    "ndcg": "NDCG",
    "ndcg_pct20": "NDCG%20",
    "ndcg_10": "NDCG@10",
    "recall_5": "R@5",
    "recall_30": "R@30",
    "recall_100": "R@100",
    "mrr": "MRR",
}


def table(rows: Sequence[Sequence[str]], heads: Sequence[str]) -> str:
    """Columns as wide as their widest cell; the first to the left, the others to the right."""
    lines = [heads, *rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(heads))]
    text = []
    for line in lines:
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)]
        text.append("  ".join(cells).rstrip())
    return "\n".join([text[0], "-" * max(map(len, text)), *text[1:]])


def method_table(
    methods: Mapping[str, Mapping[str, float]], measures: Sequence[str], best_by: str = "map"
) -> str:
    """One line per method, the best first."""
    order = sorted(methods, key=lambda name: -methods[name].get(best_by, 0))
    rows = [[name, *(number(methods[name].get(measure)) for measure in measures)] for name in order]
    return table(rows, ["method", *(SHORT.get(measure, measure) for measure in measures)])


def number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
