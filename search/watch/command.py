"""`python -m search watch`: run the kept searches and write what is new since the last run."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from search.corpus.layout import replace_text
from search.corpus.places import require_corpus
from search.errors import InputError
from search.history import Entry, History
from search.settings import load_settings, make_new_files_private, place_of
from search.watch.digests import FORMATS
from search.watch.finding import find_news, note
from search.watch.notes import Notes

NEW, NOTHING_NEW = 0, 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--corpus", type=place_of, metavar="DIR", help="a built corpus (default: from the settings)")
    add("--format", choices=list(FORMATS), default="markdown", help="default: markdown")
    add("--out", type=Path, metavar="FILE", help="where to write it (default: standard output)")
    add("--name", action="append", default=[], help="only the kept search of this name; repeatable")
    add("--owner", default="", metavar="EMAIL", help="whose kept searches (default: the shared ones)")
    add("--reader", default="watch", metavar="NAME", help="who is told: each reader is told everything once")
    add("--dry-run", action="store_true", help="write it, and take no note of what was written")
    parser.epilog = "Exit codes: 0 something is new, 1 nothing is, 2 to 4 as for a search."


def run(args: argparse.Namespace) -> int:
    settings = load_settings()
    make_new_files_private(settings)
    settings = settings.at(args.corpus or settings.place)
    require_corpus(settings.place, settings.milvus_token, settings.milvus_certificate)
    history = History.open(settings.library)
    kept = _chosen(history.named(args.owner), args.name)
    from search.engine import Engine  # its libraries take a second to load

    engine, notes = Engine.open(settings.place, settings), Notes(settings.library)
    news = []
    for entry in kept:
        try:
            news.append(find_news(engine, history, notes, entry, args.reader))
        except InputError as error:  # the others are told all the same
            print(f"{entry.name}: {error}", file=sys.stderr)
    told = [each for each in news if each.items]
    if told:
        _write(FORMATS[args.format](told, datetime.now(UTC)), args.out)
    if not args.dry_run:  # only now: what could not be written is told the next time
        note(notes, news, args.reader)
    notes.close()
    history.close()
    count = sum(len(each.items) for each in told)
    print(f"{count} new in {len(told)} of {len(kept)} kept searches.", file=sys.stderr)
    return NEW if told else NOTHING_NEW


def _chosen(kept: list[Entry], names: list[str]) -> list[Entry]:
    if not kept:
        raise InputError("There are no kept searches to watch: keep one by a name in the app, or by the API.")
    if unknown := set(names) - {entry.name for entry in kept}:
        known = ", ".join(entry.name for entry in kept)
        raise InputError(f"There is no kept search {min(unknown)!r}: there are {known}.")
    return [entry for entry in kept if not names or entry.name in names]


def _write(text: str, out: Path | None) -> None:
    if out is None:
        print(text, end="", flush=True)
        return
    try:
        replace_text(out, text)
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"This cannot be written to {out} ({reason}): choose another place.") from None
