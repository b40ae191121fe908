"""`python -m index_build fetch` and `update`: count first, say what is sent where, then fetch and build."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from index_build.fetch import identifiers
from index_build.fetch.catalogue import SOURCES, source_of, what_is_sent
from index_build.fetch.fetching import count, require_allowed
from index_build.fetch.journal import Journal, has_journal
from index_build.fetch.updating import Done, Update, fetch_all, serve, take_in_again, update
from index_build.fetch.values import Count, Wish
from index_build.progress import ProgressLine
from index_build.sources.streams import read_whole, unpack
from search.corpus.layout import STORE
from search.corpus.store import Store
from search.errors import InputError
from search.settings import Settings, load_settings

TRIES = 3
"""Times a count is asked for: nothing is lost yet where a source does not answer."""
LARGEST_LIST = 10_000_000
"""Bytes of a file of identifiers."""


def add_fetch_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", choices=SOURCES, metavar="SOURCE", help=", ".join(SOURCES))
    what = "a query in the source's own language, a file of identifiers, a venue, or a paper"
    parser.add_argument("what", nargs="?", default="", metavar="WHAT", help=what)
    parser.add_argument("--category", default="", metavar="NAME", help="arXiv: cs.CL; bioRxiv: neuroscience")
    parser.add_argument("--feed", action="store_true", help="arXiv: only what is announced today")
    parser.add_argument("--filter", default="", metavar="TEXT", help="OpenAlex, Crossref: a filter of theirs")
    parser.add_argument("--author", default="", metavar="ID", help="OpenAlex: an author's id or ORCID")
    parser.add_argument("--cites", default="", metavar="ID", help="OpenAlex: works that cite this one")
    parser.add_argument("--cited-by", default="", metavar="ID", help="OpenAlex: works that this one cites")
    parser.add_argument("--dois", type=Path, metavar="FILE", help="OpenAlex: the DOIs in a file")
    parser.add_argument("--server", default="", metavar="NAME", help="biorxiv or medrxiv")
    parser.add_argument(
        "--collection", default="", metavar="NAME", help="Zotero: a collection, by name or key"
    )
    parser.add_argument(
        "--library", default="", metavar="ID", help="Zotero: users/NUMBER or groups/NUMBER on zotero.org"
    )
    parser.add_argument(
        "--through", default="", metavar="SOURCE", help="doi, references, citations: whom to ask"
    )
    parser.add_argument("--from", dest="since", default="", metavar="DAY", help="2026-01-31")
    parser.add_argument("--to", dest="until", default="", metavar="DAY", help="up to this day")
    parser.add_argument("--count", action="store_true", help="only tell how much there is")
    parser.add_argument("--yes", action="store_true", help="do not ask before fetching")
    _add_common(parser)


def add_update_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--list", action="store_true", help="show what is kept up to date, and ask nobody")
    parser.add_argument("--forget", metavar="ID", help="no longer update this fetch; its papers stay")
    parser.add_argument(
        "--from-raw", action="store_true", help="take in all kept answers again, without the network"
    )
    _add_common(parser)


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, metavar="DIR", help='the corpus (default: the setting, "corpus")')
    parser.add_argument("--quiet", action="store_true", help="no progress, only the summary")


def wish_of(args: argparse.Namespace, settings: Settings) -> Wish:
    """What the options ask for."""
    names = "category feed filter author cites cited_by server collection library through since until".split()
    given = {name: getattr(args, name) for name in names}
    if args.source == "doi" or args.dois:
        path = args.dois or Path(args.what)
        through = "openalex" if args.dois and args.source == "openalex" else args.through
        return Wish("doi", ids=tuple(identifiers.split_list(_text_of(path))), through=through)
    if args.source == "zotero" and not args.library and settings.zotero_key and settings.zotero_library:
        given["library"] = settings.zotero_library
    if args.source == "biorxiv":
        given["server"] = args.server or "biorxiv"
    return Wish(args.source, text=args.what.strip(), **given)


def _text_of(path: Path) -> str:
    try:
        with path.open("rb") as file, unpack(file) as stream:
            content = read_whole(stream, LARGEST_LIST)
    except OSError as error:
        raise InputError(f"The list {path} cannot be read ({error.strerror}): check its name.") from None
    if content is None:
        raise InputError(f"The list {path} is larger than {LARGEST_LIST // 1_000_000} MB: split it.")
    return content.decode("utf-8", "replace")


def run_fetch(args: argparse.Namespace) -> int:
    settings = _settings(args)
    require_allowed(settings)
    wish = wish_of(args, settings)
    source_of(wish)
    say = _say(args)
    say(what_is_sent(wish, settings))
    if not _is_under_way(settings.corpus, wish):
        counted = count(wish, settings, tries=TRIES)
        say(in_words(counted))
        if args.count:
            if args.json:
                _print_json({"wish": wish.as_dict(), "count": asdict(counted)})
            return 0
        if not args.yes and not _agreed(args):
            return 2
    with ProgressLine(args.quiet) as progress:
        found = fetch_all(settings.corpus, [wish], settings, progress)
    for done in found.done:
        _tell(done, say)
    for told, why in found.failed.items():
        print(f"{told}: {why}", file=sys.stderr)
    if found.done and _has_papers(settings.corpus):
        with ProgressLine(args.quiet) as progress:
            found.manifest = serve(settings.corpus, settings, progress)
        say(f"{settings.corpus} serves {found.manifest.papers:,} papers.")
    _finish(args, found)
    return 5 if found.failed else 1 if found.gaps else 0


def _is_under_way(corpus: Path, wish: Wish) -> bool:
    """Whether the same was begun before and not finished: it goes on without being asked again."""
    if not has_journal(corpus):
        return False
    with Journal(corpus) as journal:
        last = journal.last(wish)
    return last is not None and not last.taken_in


def in_words(counted: Count) -> str:
    """ "1,234 records in 3 requests, 0.0003 US dollars." """
    records = (
        "Nobody can tell how many records" if counted.records is None else f"{counted.records:,} records"
    )
    calls = f" in about {counted.calls:,} request{'s' * (counted.calls != 1)}" if counted.calls else ""
    cost = f", {counted.cost:.4f} US dollars" if counted.cost else ""
    return f"{records}{calls}{cost}. {counted.note}".strip()


def _agreed(args: argparse.Namespace) -> bool:
    if not sys.stdin.isatty():
        print("Nothing was fetched: add --yes to go on.", file=sys.stderr)
        return False
    return input("Fetch them? [y/N] ").strip().lower() in ("y", "yes")


def _tell(done: Done, say: Callable[[str], None]) -> None:
    fetched, stored = done.fetched, done.taken.summary.stored
    announced = "" if fetched.announced is None else f" of {fetched.announced:,} announced"
    say(
        f"{fetched.received:,} records{announced} came in {fetched.calls:,} requests: {stored.added:,} "
        f"papers added, {stored.unchanged:,} already there, {stored.replaced:,} replaced, {stored.merged:,} "
        f"merged, {sum(done.taken.summary.rejected.values()):,} rejected."
    )
    for line in (*fetched.notes, *(f"Missing: {gap}." for gap in fetched.gaps)):
        say(line)
    if fetched.missing:
        say(f"No abstract for {len(fetched.missing):,} of the list:")
    for word, why in fetched.missing.items():
        say(f"  {word}: {why}")


def run_update(args: argparse.Namespace) -> int:
    settings = _settings(args)
    if args.list or args.forget:
        return _list(args, settings)
    if args.from_raw:
        return _from_raw(args, settings)
    with ProgressLine(args.quiet) as progress:
        found = update(settings.corpus, settings, progress)
    for told, why in found.failed.items():
        print(f"{told}: {why}", file=sys.stderr)
    for gap in found.gaps:
        print(f"Missing: {gap}.", file=sys.stderr)
    _say(args)(found.line())
    _finish(args, found)
    return 5 if found.failed else 1 if found.gaps else 0


def _list(args: argparse.Namespace, settings: Settings) -> int:
    rows = []
    if has_journal(settings.corpus):
        with Journal(settings.corpus) as journal:
            if args.forget:
                matches = [wish for wish in journal.wishes() if wish.id.startswith(args.forget)]
                if len(matches) != 1:
                    raise InputError(
                        f"{len(matches)} fetches have the id {args.forget!r}: see `update --list`."
                    )
                journal.forget(matches[0])
            rows = [_row(journal, wish) for wish in journal.wishes()]
    if args.json:
        _print_json({"corpus": settings.corpus, "fetches": rows})
        return 0
    for row in rows:
        print(f"{row['id']}  {row['fetch']}: {row['records']:,} records, {row['state']}")
    if not rows:
        print("Nothing is kept up to date.")
    return 0


def _row(journal: Journal, wish: Wish) -> dict[str, Any]:
    last = journal.last(wish)
    told = source_of(wish).told(wish)
    state = "never asked" if last is None else f"of {last.began}" if last.taken_in else "not finished"
    gaps = list(last.gaps) if last else []
    return {
        "id": wish.id, "fetch": told, "records": last.received if last else 0, "state": state, "gaps": gaps,
        "missing": journal.missing(wish),
    }  # fmt: skip


def _from_raw(args: argparse.Namespace, settings: Settings) -> int:
    with ProgressLine(args.quiet) as progress:
        summaries = take_in_again(settings.corpus, settings, progress)
        manifest = serve(settings.corpus, settings, progress)
    read = sum(summary.read for summary in summaries)
    if args.json:
        _print_json({"corpus": settings.corpus, "read": read, "papers": manifest.papers})
    else:
        print(f"{read:,} kept records were read again; {settings.corpus} serves {manifest.papers:,} papers.")
    return 0


def _settings(args: argparse.Namespace) -> Settings:
    settings = load_settings()
    return replace(settings, corpus=args.out) if args.out else settings


def _has_papers(corpus: Path) -> bool:
    if not (corpus / STORE).is_file():
        return False
    with Store.open(corpus / STORE) as store:
        return store.counts().papers > 0


def _say(args: argparse.Namespace) -> Callable[[str], None]:
    """Lines for people; where a program reads the answer, they go beside it."""
    file = sys.stderr if args.json else sys.stdout
    return lambda line: print(line, file=file, flush=True)


def _finish(args: argparse.Namespace, found: Update) -> None:
    if args.json:
        stored = asdict(found.stored)
        built = found.manifest.papers if found.manifest else None
        _print_json(
            {
                **stored, "withdrawn": found.withdrawn, "gaps": found.gaps, "failed": found.failed,
                "papers": built,
                "missing": {id: why for done in found.done for id, why in done.fetched.missing.items()},
            }
        )  # fmt: skip


def _print_json(value: Mapping[str, Any]) -> None:
    print(json.dumps(value, indent=1, default=str, ensure_ascii=False))
