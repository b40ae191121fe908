"""python -m index_build COMMAND: make a corpus, look at it, check it."""

from __future__ import annotations

import argparse
import json
import sys
import time
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from index_build.arguments import parser_of
from index_build.fetch.command import run_fetch, run_update
from index_build.filters import make_rules
from index_build.importing import Summary, import_files, import_papers
from index_build.progress import ProgressLine
from index_build.sources import Reason
from search.corpus.layout import CACHE, STORE
from search.corpus.manifest import served
from search.corpus.store import Store
from search.errors import CorpusError, InputError, ModelError, SettingsError, SourceError, TriptychError
from search.settings import Settings, load_settings, make_new_files_private

if TYPE_CHECKING:
    from index_build.on_ray import RayEncoder
    from search.corpus.manifest import Manifest

_FAULTS: dict[type[TriptychError], int] = {
    InputError: 2,
    SettingsError: 2,
    CorpusError: 3,
    ModelError: 4,
    SourceError: 5,
}
_ADVICE = {reason.value: reason.advice for reason in Reason}


def _settings(args: argparse.Namespace) -> Settings:
    given = {"corpus": _folder(args.out), "encoder": args.encoder, "device": args.device}
    return replace(load_settings(), **{key: value for key, value in given.items() if value is not None})


def _corpus(args: argparse.Namespace) -> Path:
    return _folder(args.dir or args.out)


def _folder(named: Path | None) -> Path:
    """The folder that is named, else that of the settings; builds are made in folders alone."""
    settings = load_settings()
    if named is None and settings.address:
        raise SettingsError(
            f"The setting `corpus` is {settings.address}, where nothing is built: name the folder of the "
            "corpus with `--out DIR`, and carry it over with `publish` afterwards."
        )
    return Path(named or settings.corpus)


def _build(args: argparse.Namespace) -> int:
    settings = _settings(args)
    if not args.paths:
        _require_store(settings.corpus, "name the files to build it from")
        return _serve(args, settings, None)
    return _import_and_serve(args, settings)


def _add(args: argparse.Namespace) -> int:
    settings = _settings(args)
    _require_store(settings.corpus, "make it with `python -m index_build build`")
    if args.encoder is None and served(settings.corpus) is not None:
        from index_build.steps import as_built  # not before it is needed, as in `_serve`

        settings = as_built(settings)
    return _import_and_serve(args, settings)


def _compact(args: argparse.Namespace) -> int:
    settings = _settings(args)
    _require_store(settings.corpus, "make it with `python -m index_build build`")
    if args.encoder is None and served(settings.corpus) is not None:
        from index_build.steps import as_built  # not before it is needed, as in `_serve`

        settings = as_built(settings)
    return _serve(args, settings, None, whole=True)


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
    size = demo.SIZE_OF_ALL if args.all else demo.SIZE
    with ProgressLine(args.quiet) as progress:
        papers = demo.papers(args.all, progress)
        summary = import_papers(settings.corpus, papers, [demo.SAMPLE], progress=progress, expected=size)
    return _serve(args, settings, summary)


def _serve(args: argparse.Namespace, settings: Settings, summary: Summary | None, whole: bool = False) -> int:
    """Build what the store holds now, unless it holds nothing; `whole` as one segment."""
    from index_build.steps import build, compact  # not before it is needed: torch takes seconds to load

    if summary is not None:
        if not args.json:
            _print_import(summary)
        if not _stored(settings.corpus):
            raise InputError("No paper could be taken in: see the reasons above and the rejects file.")
    started = time.monotonic()
    with ProgressLine(args.quiet) as progress:
        encoder = _on_ray(args, settings, progress)
        if there := getattr(args, "to", None):
            manifest = _build_there(args, there, settings, progress, encoder)
        else:
            manifest = (compact if whole else build)(settings.corpus, settings, progress, encoder)
        if encoder is not None:
            encoder.clear()
    if args.json:
        built = {name: getattr(manifest, name) for name in ("build_id", "papers", "sentences", "encoder")}
        built["seconds"] = time.monotonic() - started
        _print_json({"corpus": settings.corpus, "import": summary and _plain(summary), "build": built})
    else:
        place = getattr(args, "to", None) or settings.corpus
        print(f"{place} serves {manifest.papers:,} papers with {manifest.sentences:,} sentences.")
    all_rejected = summary is not None and bool(summary.rejected) and not summary.stored.total
    return 1 if all_rejected else 0


def _build_there(
    args: argparse.Namespace,
    there: Path | str,
    settings: Settings,
    progress: ProgressLine,
    encoder: RayEncoder | None,
) -> Manifest:
    from index_build.straight import build_there
    from search.corpus.milvus.corpus import MilvusCorpus

    if isinstance(there, Path):
        raise InputError(
            f"`--to` names a server, as milvus://HOST:PORT/NAME, not {there}: a folder is --out."
        )
    target = MilvusCorpus(there, settings.milvus_token, settings.milvus_certificate)
    return build_there(settings.corpus, target, settings, progress, encoder, args.replicas, args.index)


def _on_ray(args: argparse.Namespace, settings: Settings, progress: ProgressLine) -> RayEncoder | None:
    """The encoder of a cluster, where one is asked for."""
    workers = getattr(args, "workers", None)
    if not workers and not getattr(args, "ray", False):
        return None
    from index_build.on_ray import RayEncoder

    storage = args.storage or str(settings.corpus / CACHE / "shards")
    return RayEncoder(settings, storage, workers or "", progress)


def _stored(corpus: Path) -> int | None:
    """Papers in the working store; None while another process writes to it."""
    try:
        with Store.open(corpus / STORE) as store:
            return store.counts().papers
    except CorpusError:
        return None


def _print_import(summary: Summary) -> None:
    stored = summary.stored
    print(
        f"Read {summary.read:,} records in {summary.seconds:.1f} s: {stored.added:,} papers added, "
        f"{stored.unchanged:,} already there, {stored.replaced:,} replaced, {stored.merged:,} merged with "
        "another record of the same paper."
    )
    for reason, count in summary.filtered.items():
        print(f"Left out by filter: {count:,} ({reason}).")
    for reason, count in summary.rejected.items():
        print(f"Rejected: {count:,} ({reason}). {_ADVICE.get(reason, '')}".rstrip())
    if summary.rejects_file:
        print(f"Every rejected record is in {summary.rejects_file}.")
    sys.stdout.flush()


def _status(args: argparse.Namespace) -> int:
    from index_build.status import describe, status

    found = status(_corpus(args))
    stored = _stored(found.corpus)
    if args.json:
        _print_json({**asdict(found), "stored_papers": stored})
        return 0
    print(describe(found))
    if stored not in (None, found.manifest.papers):
        print(f"Stored          {stored:,} papers: run `build` without files to serve them")
    return 0


def _verify(args: argparse.Namespace) -> int:
    from index_build.verify import verify

    corpus = _corpus(args)
    problems = verify(corpus)
    if args.json:
        _print_json({"corpus": corpus, "problems": [asdict(problem) for problem in problems]})
    else:
        print("\n".join(map(str, problems)) or f"{corpus} is sound.")
    return 1 if problems else 0


def _prewarm(args: argparse.Namespace) -> int:
    from index_build.prewarm import SHIPPED, prewarm

    size = prewarm(_corpus(args))
    if args.json:
        _print_json({"file": SHIPPED, "bytes": size})
    else:
        print(f"Wrote {SHIPPED} ({size / 1e6:.1f} MB).")
    return 0


def _merges(args: argparse.Namespace) -> int:
    from index_build.merging import describe, report, rows, write_csv

    corpus = _corpus(args)
    _require_store(corpus, "make it with `python -m index_build build`")
    found = report(corpus)
    if args.csv:
        write_csv(found.merges, args.csv)
    if args.json:
        counts = {"records": found.records, "joined": found.joined, "apart": found.apart}
        _print_json({"corpus": corpus, **counts, "merges": rows(found.merges)})
    else:
        print(describe(found))
    return 0


def _split(args: argparse.Namespace) -> int:
    from index_build.merging import split

    corpus = _folder(args.out)
    _require_store(corpus, "make it with `python -m index_build build`")
    others = split(corpus, args.id, args.other)
    if args.json:
        _print_json({"corpus": corpus, "id": args.id, "apart_from": others})
    else:
        print(f"{args.id} stays apart from {', '.join(others)}, at every import from now on.")
        print(f"It takes effect with the next build: python -m index_build build --out {corpus}")
    return 0


def _publish(args: argparse.Namespace) -> int:
    from index_build.moving import bring_back, publish_to
    from index_build.moving import describe as describe_moved
    from search.corpus.milvus.corpus import MilvusCorpus

    settings = load_settings()
    token, certificate = settings.milvus_token, settings.milvus_certificate
    keep = args.keep or settings.keep_builds
    with ProgressLine(args.quiet) as progress:
        if isinstance(args.source, Path) and isinstance(args.to, str):
            target = MilvusCorpus(args.to, token, certificate)
            moved = publish_to(args.source, target, progress, keep, args.replicas, args.index, args.check)
        elif isinstance(args.source, str) and isinstance(args.to, Path):
            from index_build.steps import build

            source = MilvusCorpus(args.source, token, certificate)
            moved = bring_back(source, args.to, settings, progress, build)
        else:
            raise InputError("Name a folder and an address on Milvus, in either order, as in the examples.")
    if args.json:
        build_id = moved.manifest.build_id
        _print_json({"corpus": args.to, **asdict(moved), "manifest": None, "build_id": build_id})
    else:
        print(describe_moved(moved, args.to))
    return 0


def _plan(args: argparse.Namespace) -> int:
    from index_build import sizing

    plan = sizing.plan(sizing.Wanted(args.papers, args.sentences, args.dimension, args.memory, args.replicas))
    if args.json:
        _print_json(asdict(plan))
    else:
        print(sizing.describe(plan))
    return 0


def _plain(summary: Summary) -> dict[str, Any]:
    values = asdict(summary)
    return {"read": summary.read, **values.pop("stored"), **values}


def _print_json(value: dict[str, Any]) -> None:
    print(json.dumps(value, indent=1, default=str))


def make_parser() -> argparse.ArgumentParser:
    return parser_of(
        {
            "build": _build,
            "add": _add,
            "fetch": run_fetch,
            "update": run_update,
            "demo": _demo,
            "compact": _compact,
            "status": _status,
            "verify": _verify,
            "merges": _merges,
            "split": _split,
            "publish": _publish,
            "plan": _plan,
            "prewarm": _prewarm,
        }
    )


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
    with suppress(SettingsError):  # the command itself will tell of it
        make_new_files_private(load_settings())
    sys.exit(main())
