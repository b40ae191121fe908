"""Figures on disk: result files the Quality page reads, and the published rows beside them.

A result file is `evaluation/results/NAME.json`:
  collection   "csfcube", "beir", "mdcr", "large_pools", "relish", "treccovid"
  split        which queries, where the collection has splits
  date         day of the run (UTC); package: version of Triptych
  preset       the encoder that was asked for, where it is not the default
  encoder      id of the encoder: name, weights' hash, recipe
  data         hash of the papers and judgements measured on
  queries      how many; missing: what the files lacked, in words
  methods      method -> group -> measure -> percent; csfcube's groups are all, background, method, result
  skipped      method -> why it did not run
  levels       of likeness, searched by facet: word, papers shown with it, percent judged related and similar
and what a collection adds. `evaluation/published.json` holds rows from papers: each with method, collection,
group, measures and source.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from search import __version__

FOLDER = Path(__file__).parent / "results"


def save(name: str, figures: Mapping[str, Any], encoder: str, data: str) -> Path:
    """Write `evaluation/results/NAME.json` with what is needed to repeat it."""
    now = datetime.now(UTC)
    facts = {"date": f"{now:%Y-%m-%d}", "package": __version__, "encoder": encoder, "data": data}
    FOLDER.mkdir(exist_ok=True)
    return write_json(FOLDER / f"{name}.json", {**figures, **facts})


def write_json(file: Path, content: Mapping[str, Any]) -> Path:
    """Write JSON so that a reader sees the old file or the new one, never half of it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_name(f".{file.name}.part")
    part.write_text(json.dumps(rounded(content), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return part.replace(file)


def rounded(value: Any) -> Any:
    """Numbers to two decimals, p-values (told by their key) to five: no false precision."""
    if isinstance(value, float):
        return round(value, 2)
    if isinstance(value, Mapping):
        return {
            str(key): round(item, 5)
            if str(key).startswith("p_") and isinstance(item, float)
            else rounded(item)
            for key, item in value.items()
        }
    return [rounded(item) for item in value] if isinstance(value, list | tuple) else value
