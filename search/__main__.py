"""`python -m search`: search a built corpus from the command line."""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING

from search import printing, record
from search.corpus.places import require_corpus
from search.errors import CorpusError, InputError, ModelError, TriptychError
from search.exports import FORMATS, export
from search.query import choosing, saving
from search.query.saving import text_in
from search.settings import load_settings, place_of
from search.types import PANELS, Facet, Filters, Matcher, Query, QueryPaper

if TYPE_CHECKING:
    from search.engine import Engine

FOUND, NOTHING_FOUND, STOPPED = 0, 1, 130
"""Exit codes; 130 is what shells give a program that was interrupted."""
FAILED = {CorpusError: 3, ModelError: 4}
"""The exit code of a mistake; 2 for what the user gave."""
MOST_BYTES = 64_000_000
"""Of a file that is read: far more than any text or list of ids, and less than a device without end."""
_EPILOG = (
    "Exit codes: 0 papers were found, 1 none passes the filters, 2 the query or an option cannot be used, "
    "3 the corpus is missing or damaged, 4 a model cannot be loaded, 130 stopped. "
    "Other commands: `python -m search serve`, `watch`, `mcp`, `keys`; each has --help."
)


COMMANDS = {
    "serve": ("search.api.server", "answer programs over HTTP"),
    "watch": ("search.watch.command", "run kept searches and write what is new since the last run"),
    "mcp": ("search.agents.server", "answer AI agents over the Model Context Protocol"),
    "keys": ("search.api.key_commands", "create, list and revoke the keys of the HTTP API"),
}
"""What else there is besides a search: the module that does it, and what it does."""


def make_command(name: str) -> argparse.ArgumentParser:
    """The parser of one of COMMANDS."""
    module, summary = COMMANDS[name]
    parser = argparse.ArgumentParser(f"python -m search {name}", description=summary.capitalize() + ".")
    loaded = importlib.import_module(module)
    loaded.add_arguments(parser)
    parser.set_defaults(run=loaded.run)
    return parser


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m search", description=__doc__, epilog=_EPILOG)
    add = parser.add_argument
    add(
        "query",
        nargs="?",
        help="a text file (title on the first line) or a saved query; - or nothing: standard input",
    )
    add("--corpus", type=place_of, metavar="DIR", help="a built corpus (default: from the settings)")
    add(
        "--id",
        action="append",
        default=[],
        metavar="ID",
        help="search with this paper of the corpus; repeatable",
    )

    chosen = parser.add_argument_group("which sentences count (default: all)")
    chosen.add_argument("--facet", choices=[panel.value for panel in PANELS], help="those of one facet")
    chosen.add_argument("--sentences", type=_numbers, metavar="2,3", help="those with these numbers")
    chosen.add_argument(
        "--avoid", metavar="1|FACET", help="keep away from these sentences, or from a facet's"
    )
    chosen.add_argument(
        "--list-sentences", action="store_true", help="show the numbers and facets, do not search"
    )

    passing = parser.add_argument_group("which papers may be found (repeat an option for several values)")
    passing.add_argument("--year-from", type=int, metavar="YEAR")
    passing.add_argument("--year-to", type=int, metavar="YEAR")
    for name in ("venue", "field", "source", "origin"):
        passing.add_argument(f"--{name}", action="append", default=[])
    passing.add_argument(
        "--only", type=Path, metavar="FILE", help="papers whose ids are in this file, one a line"
    )
    passing.add_argument("--has-doi", action="store_true")

    shown = parser.add_argument_group("what is shown")
    shown.add_argument("--top", type=int, metavar="N", help="how many papers (default: 20)")
    shown.add_argument(
        "--matcher", choices=[matcher.value for matcher in Matcher], help="how sentences are compared"
    )
    how = shown.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="everything, in the documented schema")
    how.add_argument("--export", choices=list(FORMATS), help="references with the reasons as notes")
    shown.add_argument(
        "--record", type=Path, metavar="FILE", help="what a methods section needs, as .md or .json"
    )
    shown.add_argument("--save-query", type=Path, metavar="FILE", help="keep the query to run it again")
    return parser


def _numbers(text: str) -> list[int]:
    """Positions from the numbers users count by: "1,3-5" is 0, 2, 3, 4."""
    positions: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        positions += range(int(first) - 1, int(last if dash else first))
    return positions


def main(arguments: Sequence[str] | None = None) -> int:
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if given and given[0] in COMMANDS:
            args = make_command(given[0]).parse_args(given[1:])
            return int(args.run(args))
        return _run(make_parser().parse_args(given))
    except TriptychError as error:
        print(error, file=sys.stderr)
        return FAILED.get(type(error), 2)
    except UnicodeEncodeError:
        print("An option has characters that are no text: write it in UTF-8.", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return STOPPED
    except BrokenPipeError:  # the reader, such as `head`, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FOUND


def _run(args: argparse.Namespace) -> int:
    text = "" if args.id else _read(args.query)
    settings = load_settings()
    settings = settings.at(args.corpus or settings.place)
    require_corpus(settings.place, settings.milvus_token, settings.milvus_certificate)
    # Imported once it is known to be needed: the model's libraries take seconds.
    from search.engine import Engine

    engine = Engine.open(settings.place, settings)
    width = shutil.get_terminal_size((100, 24)).columns
    query = _make_query(args, engine, text)
    if args.list_sentences:
        print("\n\n".join(printing.as_sentences(paper, width) for paper in query.papers))
        return FOUND
    results = engine.search(query)
    if args.save_query:
        _save(args.save_query, saving.to_json(query, results.build_id))
    if args.record:
        write = record.as_json if args.record.suffix == ".json" else record.as_markdown
        _save(args.record, write(results, engine.manifest))
    if args.json:
        print(printing.as_json(results))
    elif args.export:
        print(export(results, args.export), end="")
    else:
        print(printing.as_text(results, width))
    return FOUND if results.results else NOTHING_FOUND


def _read(name: str | None) -> str:
    """The query's text from a file or standard input; what is not UTF-8 is read as far as it goes."""
    if name is None or name == "-":
        if sys.stdin.isatty():
            print("Type or paste a title and abstract, then press Ctrl-D.", file=sys.stderr)
        return _decoded(sys.stdin.buffer, "text on standard input")
    return _text_of(Path(name), "query file")


def _text_of(path: Path, what: str) -> str:
    try:
        with path.open("rb") as file:
            return _decoded(file, f"{what} {path}")
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"The {what} {path} cannot be read ({reason}): check its name.") from None


def _decoded(file: IO[bytes], what: str) -> str:
    data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise InputError(f"The {what} has more than {MOST_BYTES:,} bytes: choose a part of it.")
    return data.decode("utf-8-sig", "replace")


def _save(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"This cannot be saved to {path} ({reason}): choose another place.") from None


def _make_query(args: argparse.Namespace, engine: Engine, text: str) -> Query:
    """A new query, or a saved one; options that are given win over what was saved."""
    if text.lstrip().startswith("{") and '"triptych_query"' in text:
        query = engine.restore(saving.from_json(text).query)
    elif args.id:
        query = Query(tuple(engine.example(paper_id) for paper_id in _texts(args.id, "id")))
    else:
        query = Query((engine.read_text(text),))
    filters = _filters(args)
    return Query(
        papers=tuple(_choose(args, paper) for paper in query.papers),
        matcher=Matcher(args.matcher) if args.matcher else query.matcher,
        filters=query.filters if filters == Filters() else filters,
        top=query.top if args.top is None else args.top,
    )


def _choose(args: argparse.Namespace, paper: QueryPaper) -> QueryPaper:
    if not (args.facet or args.sentences or args.avoid):
        return paper
    match = choosing.positions_of(paper, Facet(args.facet)) if args.facet else args.sentences
    avoid = _avoided(paper, args.avoid, match or ()) if args.avoid else []
    match = match or [place for place in range(len(paper.sentences)) if place not in avoid]
    return choosing.choose_sentences(paper, match, avoid)


def _avoided(paper: QueryPaper, given: str, match: Collection[int]) -> list[int]:
    if given in [panel.value for panel in PANELS]:
        return choosing.positions_to_avoid(paper, Facet(given), match)
    try:
        return _numbers(given)
    except ValueError:
        names = ", ".join(PANELS)
        raise InputError(f"--avoid takes numbers like 1,4 or one of {names}, not {given!r}.") from None


def _texts(given: Sequence[str], name: str) -> tuple[str, ...]:
    try:
        return tuple(text_in(each, name) for each in given)
    except ValueError as error:
        raise InputError(f"An option cannot be read ({error}): write it in UTF-8.") from None


def _filters(args: argparse.Namespace) -> Filters:
    return Filters(
        year_from=args.year_from,
        year_to=args.year_to,
        venues=_texts(args.venue, "venue"),
        fields=_texts(args.field, "field"),
        sources=_texts(args.source, "source"),
        ids=tuple(_text_of(args.only, "list of ids").split()) if args.only else None,
        has_doi=args.has_doi,
        origins=tuple(args.origin),
    )


if __name__ == "__main__":
    sys.exit(main())
