"""The options of `python -m index_build`, with examples and exit codes in the help of each command."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

from index_build.fetch.command import add_fetch_options, add_update_options
from index_build.filters import PRESETS
from search.corpus.milvus.shapes import KINDS
from search.settings import place_of

Run = Callable[[argparse.Namespace], int]

EXIT_CODES = """exit codes:
  0  done
  1  done, but not well: verify found problems, none of the records could be read, or a source left a gap
  2  something given cannot be used: an option, a file, a setting
  3  the corpus is missing, damaged or in use by another process
  4  a model is missing or cannot be loaded
  5  a live source did not answer or refused; what has arrived is kept
  130  stopped by Ctrl-C; what was stored stays, and the same command goes on from there
"""

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
    "fetch": """examples:
  python -m index_build fetch arxiv --category cs.CL --from 2026-01-01 --out corpus
  python -m index_build fetch pubmed 'sepsis[mesh] AND machine learning' --count
  python -m index_build fetch doi list.txt --out corpus --yes
  python -m index_build fetch citations 10.1000/xyz --out corpus
  python -m index_build fetch zotero --collection 'Reading group'
""",
    "update": """examples:
  python -m index_build update --out corpus --quiet       (for cron: one line, exit codes below)
  python -m index_build update --list
  python -m index_build update --from-raw --out corpus    (import the kept answers again)
""",
    "compact": "examples:\n  python -m index_build compact --out corpus\n",
    "status": "examples:\n  python -m index_build status corpus --json\n",
    "verify": "examples:\n  python -m index_build verify corpus && echo sound\n",
    "plan": "examples:\n  python -m index_build plan --papers 100000000 --memory 128\n",
    "merges": "examples:\n  python -m index_build merges --out corpus --csv merges.csv\n",
    "split": """examples:
  python -m index_build split doi:10.1000/a --out corpus               (apart from all it was joined with)
  python -m index_build split doi:10.1000/a pmid:123 --out corpus      (only these two)
""",
    "publish": """examples:
  python -m index_build publish corpus --to milvus://10.0.0.5:19530/acl
  TRIPTYCH_MILVUS_TOKEN=user:password python -m index_build publish corpus --to milvus+tls://db.example.org/acl
  python -m index_build publish milvus://10.0.0.5/acl --to copy     (back into a folder)
""",
    "prewarm": "examples:\n  python -m index_build prewarm corpus\n",
}


def parser_of(runs: Mapping[str, Run]) -> argparse.ArgumentParser:
    """A parser whose result has the chosen command's function as `run`."""
    parser = argparse.ArgumentParser(
        prog="python -m index_build",
        description="Make a corpus out of files of papers and live sources, look at it, check it.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (summary, add_options) in _COMMANDS.items():
        command = commands.add_parser(
            name,
            help=summary,
            description=summary[0].upper() + summary[1:] + ".",
            epilog=f"{EXAMPLES[name]}\n{EXIT_CODES}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        add_options(command)
        command.add_argument("--json", action="store_true", help="print the summary as JSON")
        command.set_defaults(run=runs[name])
    return parser


def _build_options(parser: argparse.ArgumentParser) -> None:
    files = "files or folders of papers; none builds again what is stored"
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH", help=files)
    _add_import_options(parser)
    parser.add_argument("--ray", action="store_true", help="encode on all cores of this machine by Ray")
    parser.add_argument("--workers", metavar="ADDRESS", help="encode on a Ray cluster, as ray://HOST:10001")
    parser.add_argument(
        "--storage", metavar="PLACE", help="where its shards lie, a folder all workers see or s3://..."
    )
    parser.add_argument(
        "--to", type=place_of, metavar="ADDRESS", help="straight to milvus://HOST:PORT/NAME, no build in DIR"
    )
    _add_server_options(parser)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="files or folders of papers")
    _add_import_options(parser)


def _demo_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="all 21,821 papers instead of 4,830")
    _add_build_options(parser)


def _corpus_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dir", nargs="?", type=Path, metavar="DIR", help="the corpus (default: the setting)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="the same, as in the other commands")


def _merges_options(parser: argparse.ArgumentParser) -> None:
    _corpus_options(parser)
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write a table, one row for each record")


def _split_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="a record, by its id in `merges`")
    parser.add_argument("other", nargs="?", default="", metavar="ID2", help="only from this record")
    parser.add_argument("--out", type=Path, metavar="DIR", help='the corpus (default: the setting, "corpus")')


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


def _add_server_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--replicas", type=int, default=0, metavar="N", help="copies (default: 2 where there are 2 nodes)")
    add("--index", choices=KINDS, default="", help="flat, sq8, rabitq or diskann (default: by size)")


def _publish_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("source", type=place_of, metavar="CORPUS", help="a folder, or an address on Milvus")
    add("--to", type=place_of, required=True, metavar="CORPUS", help="milvus://HOST:PORT/NAME, or a folder")
    _add_server_options(parser)
    add("--check", type=int, default=50, metavar="N", help="searches that are compared (default: 50)")
    add("--keep", type=int, metavar="N", help="builds that stay there (default: the setting keep_builds)")
    add("--quiet", action="store_true", help="no progress, only the summary")


def _plan_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--papers", type=int, required=True, metavar="N", help="how many papers the corpus will have")
    add(
        "--sentences",
        type=float,
        metavar="N",
        help="sentences of a paper (default: 6.68, as in the demo)",
    )
    add("--dimension", type=int, default=384, metavar="N", help="numbers of a vector (default: 384)")
    add("--memory", type=float, default=64.0, metavar="GB", help="of one machine (default: 64)")
    add("--replicas", type=int, default=2, metavar="N", help="copies on different machines (default: 2)")


_COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "build": ("import files and make a corpus that can be searched", _build_options),
    "add": ("add files to a corpus that is there; the old build is served until they are in", _add_options),
    "fetch": ("fetch papers from a live source into a corpus", add_fetch_options),
    "update": ("bring everything that was fetched up to date", add_update_options),
    "demo": ("fetch a sample of arXiv and make the demo corpus", _demo_options),
    "compact": (
        "make one segment of a corpus that grew, which is searched a little faster",
        _add_build_options,
    ),
    "status": ("show what a corpus holds", _corpus_options),
    "verify": ("check every file of a corpus", _corpus_options),
    "merges": ("show which records became one paper, and why", _merges_options),
    "split": ("keep records apart that were taken for one paper", _split_options),
    "publish": ("carry a built corpus to a Milvus server, or back into a folder", _publish_options),
    "plan": ("say what a corpus of so many papers takes: memory, machines, hours", _plan_options),
    "prewarm": ("ship the vectors of a built demo corpus with the software", _corpus_options),
}
