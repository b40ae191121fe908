"""python -m training {facets,aspects}: makes the weights that are shipped under search/models."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import Any

from search.errors import TriptychError

COMMANDS = {
    "facets": "the facet labeller, from CSAbstruct and structured MEDLINE abstracts",
    "aspects": "the default encoder's upper layers, from graded pools, a teacher and co-citations",
}


class Command(argparse.ArgumentParser):
    """A subcommand whose module, and torch with it, is only imported when it is called."""

    name: str = ""

    def parse_known_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:
        if self.get_default("run") is None:
            module = importlib.import_module(f"training.{self.name}")
            module.add_arguments(self)
            self.set_defaults(run=module.run)
        return super().parse_known_args(args, namespace)


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Command)
    for name, summary in COMMANDS.items():
        commands.add_parser(name, help=summary, description=f"Train {summary}.").name = name
    return parser


def main(arguments: list[str] | None = None) -> int:
    args = make_parser().parse_args(arguments)
    try:
        return int(args.run(args))
    except TriptychError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
