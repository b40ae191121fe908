"""What a methods section needs of a search: text, choices, filters, corpus, models and counts at each stage.

As JSON it is a saved query with a `record` beside it: given to `python -m search` it is run again.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from search.corpus.manifest import Manifest
from search.query.saving import to_json
from search.ranking.scoring import MATCHER
from search.types import Choice, Likeness, Query, QueryPaper, Results

CHOICES = {Choice.MATCH: "matched", Choice.AVOID: "avoided", Choice.IGNORE: "not counted"}


def as_json(results: Results, manifest: Manifest, when: datetime | None = None) -> str:
    content = json.loads(to_json(results.query, results.build_id))
    content["record"] = _record(results, manifest, when or datetime.now(UTC))
    return json.dumps(content, ensure_ascii=False, indent=1)


def _record(results: Results, manifest: Manifest, when: datetime) -> dict[str, Any]:
    return {
        "searched": when.isoformat(timespec="seconds"),
        "software": f"Triptych {manifest.package}",
        "corpus": {name: getattr(manifest, name) for name in ("build_id", "created", "papers", "sentences")},
        "models": {name: getattr(manifest, name) for name in ("encoder", "facets", "tokenizer")},
        "matcher": results.query.matcher or MATCHER,
        "papers": _stages(results, manifest),
        "results": [
            {"rank": rank, "id": each.paper.id, "title": each.paper.title, "score": round(each.score, 4)}
            for rank, each in enumerate(results.results, start=1)
        ],
    }


def _stages(results: Results, manifest: Manifest) -> dict[str, int]:
    """How many papers each stage left."""
    words = Counter(result.likeness for result in results.results)
    return {
        "in the corpus": manifest.papers,
        "after the filters": results.passing,
        "compared sentence by sentence": results.candidates,
        "shown": len(results.results),
    } | {f"shown as {word}": words[word] for word in Likeness if words[word]}


def as_markdown(results: Results, manifest: Manifest, when: datetime | None = None) -> str:
    record = _record(results, manifest, when or datetime.now(UTC))
    lines = ["# Search record", ""]
    lines += _rows({"Searched": record["searched"], "Software": record["software"]})
    for paper in results.query.papers:
        lines += _paper(paper)
    lines += ["", "## Filters", "", *_filters(results.query)]
    lines += ["", "## Corpus and models", "", *_rows(record["corpus"] | record["models"])]
    lines += _rows({"matcher": record["matcher"]})
    lines += ["", "## Papers at each stage", "", *_rows(record["papers"])]
    lines += ["", "## Results", ""]
    lines += [f"{each['rank']}. {_line(each['title'])} ({each['score']:.2f})" for each in record["results"]]
    return "\n".join(lines) + "\n"


def _paper(paper: QueryPaper) -> list[str]:
    lines = ["", f"## Searched with: {_line(paper.title) or 'a text without a title'}", ""]
    for number, sentence in enumerate(paper.sentences, start=1):
        weight = "" if sentence.weight == 1 else f", weight {sentence.weight:g}"
        label = f"{sentence.facet or 'no label'}, {CHOICES[sentence.choice]}{weight}"
        lines.append(f"{number}. ({label}) {_line(sentence.text)}")
    return lines


def _filters(query: Query) -> list[str]:
    chosen = {
        name.replace("_", " "): ", ".join(map(_line, value)) if isinstance(value, tuple) else value
        for name, value in asdict(query.filters).items()
        if value not in (None, (), False)
    }
    return _rows(chosen) or ["None."]


def _rows(values: dict[str, Any]) -> list[str]:
    return [f"- {name.replace('_', ' ')}: {value}" for name, value in values.items()]


def _line(text: str) -> str:
    """In one line, with the characters that Markdown would read taken literally."""
    return "".join(f"\\{each}" if each in "\\`*_[]<>#" else each for each in " ".join(text.split()))
