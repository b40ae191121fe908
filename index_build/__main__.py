"""python -m index_build {build,add,demo,status,verify,prewarm}: make a corpus, look at it, check it."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from index_build.filters import PRESETS, make_rules
from index_build.importing import Summary, import_files, import_papers
from index_build.progress import ProgressLine
from search.errors import CorpusError, InputError, ModelError, SettingsError, TriptychError
from search.manifest import STORE, Manifest, current_build, read_manifest
from search.settings import Settings, load_settings

EXIT_CODES = """exit codes:
  0  done
  1  done, but not well: verify found problems, or none of the records could be read
  2  something given cannot be used: an option, a file, a setting
  3  the corpus is missing, damaged or in use by another process
  4  a model is missing or cannot be loaded
  130  stopped by Ctrl-C; what was stored stays, and the same command goes on from there
"""
_FAULTS: dict[type[TriptychError], int] = {InputError: 2, SettingsError: 2, CorpusError: 3, ModelError: 4}

EXAMPLES = {
    "build": """examples:
  python -m index_build build refs.bib export.ris --out corpus
  python -m index_build build acl_anthology.jsonl.gz --out acl --limit 5000
  python -m index_build build arxiv.jsonl --field stat --year 2015- --filter csfcube
  python -m index_build build --out acl --encoder quality      (the same papers, another encoder)
""",
    "add": """examples:
  python -m index_build add new.bib --out corpus
  python -m index_build add folder/ --out corpus --language en --json
""",
    "demo": """examples:
  python -m index_build demo
  python -m index_build demo --all --out arxiv
""",
    "status": "examples:\n  python -m index_build status corpus --json\n",
    "verify": "examples:\n  python -m index_build verify corpus && echo sound\n",
    "prewarm": "examples:\n  python -m index_build prewarm corpus\n",
}


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m index_build",
        description="Make a corpus out of files of papers, look at it, check it.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, run: Callable[[argparse.Namespace], int], summary: str) -> argparse.ArgumentParser:
        made = commands.add_parser(
            name,
            help=summary,
            description=summary[0].upper() + summary[1:] + ".",
            epilog=EXAMPLES[name] + "\n" + EXIT_CODES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        made.set_defaults(run=run)
        made.add_argument("--json", action="store_true", help="print the summary as JSON")
        return made

    build = command("build", _build, "import files and make a corpus that can be searched")
    build.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="files or folders of papers; none builds again"
    )
    _add_import_options(build)
    add = command(
        "add", _add, "add files to a corpus that is there; it is served as it was until they are in"
    )
    add.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="files or folders of papers")
    _add_import_options(add)
    demo = command("demo", _demo, "fetch a sample of arXiv and make the demo corpus")
    demo.add_argument("--all", action="store_true", help="all 21,821 papers instead of some 4,800")
    _add_build_options(demo)
    for name, run, summary in (
        ("status", _status, "show what a corpus holds"),
        ("verify", _verify, "check every file of a corpus"),
        ("prewarm", _prewarm, "ship the vectors of a built demo corpus with the software"),
    ):
        shown = command(name, run, summary)
        shown.add_argument(
            "corpus", nargs="?", type=Path, metavar="DIR", help="the corpus (default: the setting)"
        )
    return parser


def _add_build_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, metavar="DIR", help='the corpus (default: the setting, "corpus")')
    parser.add_argument("--encoder", metavar="NAME", help="default, quality, a hub name or a folder")
    parser.add_argument(
        "--device", metavar="NAME", help="cpu, cuda, cuda:1, mps (default: the best there is)"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress, only the summary")


def _add_import_options(parser: argparse.ArgumentParser) -> None:
    _add_build_options(parser)
    parser.add_argument(
        "--limit", type=int, metavar="N", help="only the first N papers that pass the filters"
    )
    parser.add_argument("--filter", choices=sorted(PRESETS), default="", help="a named set of rules: csfcube")
    parser.add_argument("--year", metavar="RANGE", default="", help="2015, 2010-2020, 2010- or -2000")
    parser.add_argument(
        "--field", action="append", default=[], metavar="NAME", help="a field or its code; may be repeated"
    )
    parser.add_argument(
        "--language", action="append", default=[], metavar="CODE", help="en, de, fr, ...; may be repeated"
    )


def _settings(args: argparse.Namespace) -> Settings:
    given = {"corpus": args.out, "encoder": args.encoder, "device": args.device}
    return replace(load_settings(), **{key: value for key, value in given.items() if value is not None})


def _build(args: argparse.Namespace) -> int:
    settings = _settings(args)
    if not args.paths:
        _require_store(settings.corpus, "name the files to build it from")
        return _serve(args, settings, None)
    return _import_and_serve(args, settings)


def _add(args: argparse.Namespace) -> int:
    settings = _settings(args)
    _require_store(settings.corpus, "make it with `python -m index_build build`")
    served = _served(settings.corpus)
    if served is not None and args.encoder is None:  # papers are added to a corpus as it was built
        settings = replace(settings, encoder=served.encoder_name)
    return _import_and_serve(args, settings)


def _require_store(corpus: Path, advice: str) -> None:
    if not (corpus / STORE).is_file():
        raise CorpusError(f"There is no corpus in {corpus}: {advice}.")


def _import_and_serve(args: argparse.Namespace, settings: Settings) -> int:
    rules = make_rules(args.filter, args.year, args.field, args.language)
    with ProgressLine(args.quiet) as progress:
        summary = import_files(settings.corpus, args.paths, rules, args.limit, progress)
    return _serve(args, settings, summary)


def _demo(args: argparse.Namespace) -> int:
    from index_build import demo

    settings = _settings(args)
    papers = demo.papers(all=args.all)
    with ProgressLine(args.quiet) as progress:
        summary = import_papers(settings.corpus, papers, [demo.SAMPLE], progress=progress)
    return _serve(args, settings, summary)


def _serve(args: argparse.Namespace, settings: Settings, summary: Summary | None) -> int:
    """Build what the store holds now, unless the import brought nothing into an empty store."""
    from index_build.steps import build  # not before it is needed: torch takes seconds to load

    if summary is not None:
        _print_import(summary, args)
        if not summary.stored.total and _served(settings.corpus) is None:
            raise InputError("No paper could be taken in: see the reasons above and the rejects file.")
    started = time.monotonic()
    with ProgressLine(args.quiet) as progress:
        manifest = build(settings.corpus, settings, progress)
    seconds = time.monotonic() - started
    nothing_read = summary is not None and not summary.stored.total and bool(summary.rejected)
    if args.json:
        built = {name: getattr(manifest, name) for name in ("build_id", "papers", "sentences", "encoder")}
        _print_json(
            {"corpus": settings.corpus, "import": _plain(summary), "build": built | {"seconds": seconds}}
        )
    else:
        print(f"{settings.corpus} serves {manifest.papers:,} papers with {manifest.sentences:,} sentences.")
    return 1 if nothing_read else 0


def _served(corpus: Path) -> Manifest | None:
    try:
        return read_manifest(current_build(corpus))
    except CorpusError:
        return None


def _print_import(summary: Summary, args: argparse.Namespace) -> None:
    """The summary in words; on standard error when standard output is for JSON."""
    stored = summary.stored
    lines = [
        f"Read {summary.read:,} records in {summary.seconds:.1f} s: {stored.added:,} papers added, "
        f"{stored.unchanged:,} already there, {stored.replaced:,} replaced, {stored.merged:,} merged with "
        f"another record of the same paper."
    ]
    lines += [f"Left out by filter: {count:,} ({reason})." for reason, count in summary.filtered.items()]
    lines += [f"Rejected: {count:,} ({reason})." for reason, count in summary.rejected.items()]
    if summary.rejects_file:
        lines.append(f"Every rejected record is in {summary.rejects_file}.")
    if not args.json:
        print("\n".join(lines), flush=True)


def _status(args: argparse.Namespace) -> int:
    from index_build.report import describe, status

    found = status(args.corpus or load_settings().corpus)
    if args.json:
        _print_json(asdict(found))
    else:
        print(describe(found))
    return 0


def _verify(args: argparse.Namespace) -> int:
    from index_build.report import verify

    corpus = args.corpus or load_settings().corpus
    problems = verify(corpus)
    if args.json:
        _print_json({"corpus": corpus, "problems": [asdict(problem) for problem in problems]})
    else:
        print("\n".join(map(str, problems)) or f"{corpus} is sound.")
    return 1 if problems else 0


def _prewarm(args: argparse.Namespace) -> int:
    from index_build.prewarm import SHIPPED, prewarm

    size = prewarm(args.corpus or load_settings().corpus)
    if args.json:
        _print_json({"file": SHIPPED, "bytes": size})
    else:
        print(f"Wrote {SHIPPED} ({size / 1e6:.1f} MB).")
    return 0


def _plain(summary: Summary | None) -> dict[str, Any] | None:
    if summary is None:
        return None
    values = asdict(summary)
    return {"read": summary.read, **values.pop("stored"), **values}


def _print_json(value: dict[str, Any]) -> None:
    print(json.dumps(value, indent=1, default=str))


def main(arguments: list[str] | None = None) -> int:
    args = make_parser().parse_args(arguments)
    try:
        return int(args.run(args))
    except TriptychError as error:
        print(error, file=sys.stderr)
        return next((code for kind, code in _FAULTS.items() if isinstance(error, kind)), 3)
    except KeyboardInterrupt:
        print("Stopped. What was stored stays: run the same command again to go on.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
