"""python -m evaluation COMMAND: is the search good, is it fast. Each command is a module beside this file."""

from __future__ import annotations

import argparse
import importlib
import sys

from search.errors import TriptychError

COMMANDS = {
    "csfcube": "faceted search on CSFCube, beside the papers' baselines",
    "judged": "faceted search on pools of our own, in more fields",
    "relish": "whole-abstract search on RELISH or TREC-COVID-RF",
    "beir": "search over a whole corpus in BEIR's layout",
    "mdcr": "citation recommendation in 19 fields, and in growing pools",
    "facets": "how well sentences are labelled",
    "pool": "make pools for judging, and measure agreement",
    "speed": "how fast papers are imported, encoded and searched",
}


def make_parser(chosen: str | None = None) -> argparse.ArgumentParser:
    """All commands with their options, or only those of the chosen one: some modules are slow to load."""
    parser = argparse.ArgumentParser(prog="python -m evaluation", description="Is it good, is it fast?")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary[0].upper() + summary[1:] + ".")
        if chosen in (None, name):
            module = importlib.import_module(f"evaluation.{name}")
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser


def main(arguments: list[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    chosen = next((argument for argument in given if argument in COMMANDS), "")
    args = make_parser(chosen).parse_args(given)
    try:
        return int(args.run(args))
    except TriptychError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
