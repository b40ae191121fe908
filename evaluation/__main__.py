"""python -m evaluation COMMAND: is the search good, is it fast. Each command is a module beside this file."""

from __future__ import annotations

import argparse
import importlib
import sys
from types import ModuleType

from search.errors import ModelError, TriptychError

COMMANDS = {
    "csfcube": "faceted search on CSFCube, beside the papers' baselines",
    "graded-pools": "faceted search on pools of our own, in more fields",
    "relish": "whole-abstract search on RELISH or TREC-COVID-RF",
    "beir": "search over a whole corpus in BEIR's layout",
    "mdcr": "citation recommendation in 19 fields, and in growing pools",
    "facets": "how well sentences are labelled",
    "announced": "whether what papers announce is matched with their method, and never avoided",
    "avoid": "same method, different problem: what avoiding is worth",
    "coverage": "whether a corpus knows what it has something on",
    "terms": "the terms Explore shows for a table of topics, and how many a reader accepts",
    "annotate": "make pools for judging, carry grades in and out, and measure agreement",
    "merging": "whether the import joins the records of one paper, and only those",
    "pdf": "titles and abstracts read from PDFs that are typeset here in many layouts",
    "speed": "how fast papers are imported, encoded and searched",
}


def make_parser(chosen: str | None = None) -> argparse.ArgumentParser:
    """All commands with their options, or only those of the chosen one: some modules are slow to load."""
    parser = argparse.ArgumentParser(prog="python -m evaluation", description="Is it good, is it fast?")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        if chosen in (None, name):
            module = _import(f"evaluation.{name.replace('-', '_')}")
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser


def _import(module: str) -> ModuleType:
    """The module of a command; what it measures against is not installed with the app."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ModelError(
            f"{error.name}, which this command needs, is not installed: run "
            "`pip install -r requirements-dev.txt`."
        ) from error


def main(arguments: list[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    chosen = next((argument for argument in given if argument in COMMANDS), "")
    try:
        args = make_parser(chosen).parse_args(given)
        return int(args.run(args))
    except TriptychError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
