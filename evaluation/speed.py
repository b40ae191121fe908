"""How fast papers are imported, encoded and searched, each beside a bare loop timed in the same run."""

from __future__ import annotations

import argparse
import importlib
import json
from pathlib import Path
from typing import Any

PARTS = {
    "import": "speed_import",
    "fetch": "speed_fetch",
    "encode": "speed_encode",
    "search": "speed_search",
    "memory": "speed_memory",
    "api": "speed_api",
    "scale": "speed_scale",
    "index": "speed_index",
}

ASKED_FOR = ("index",)
"""Parts that need a corpus of a certain kind, and run with --only."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", choices=PARTS, help="one of the parts (default: all but index, in turn)")
    parser.add_argument(
        "--corpus", type=Path, metavar="DIR", help="a built corpus to search (default: one is made)"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    for part in PARTS:
        _module(part).add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    figures = {}
    for part in [args.only] if args.only else [part for part in PARTS if part not in ASKED_FOR]:
        figures[part] = _module(part).run(args)
        if not args.json:
            print(
                f"{part}\n" + "\n".join(f"  {_words(*figure)}" for figure in figures[part].items()),
                flush=True,
            )
    if args.json:
        print(json.dumps(figures, indent=1, default=str))
    return 0


def _module(part: str) -> Any:
    return importlib.import_module(f"evaluation.{PARTS[part]}")


def _words(name: str, value: Any) -> str:
    shown = f"{value:,.3g}" if isinstance(value, float) and abs(value) < 100 else value
    shown = f"{shown:,.0f}" if isinstance(shown, int | float) and not isinstance(shown, bool) else shown
    return f"{name.replace('_', ' '):<32} {shown}"
