"""python -m training {labeller,encoder,cocitations,fusion}: makes or chooses the weights that ship."""

from __future__ import annotations

import argparse
import importlib
import sys
from typing import Any

from search.encoder.devices import require_torch
from search.errors import TriptychError

COMMANDS = {
    "labeller": "the facet labeller, from CSAbstruct and structured MEDLINE abstracts",
    "encoder": "an encoder's upper layers, from graded pools (so the shipped weights were made)",
    "cocitations": "an encoder's upper layers, from papers that one sentence cites (ASPIRE)",
    "fusion": "the weights of a score's parts, by cross-validation on graded pools",
}


class Command(argparse.ArgumentParser):
    """A subcommand whose module, and torch with it, is only imported when it is called."""

    name: str = ""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if self.get_default("run") is None:
            require_torch("Training", instead="")
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
    try:
        args = make_parser().parse_args(arguments)
        return int(args.run(args))
    except TriptychError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
