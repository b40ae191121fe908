"""The terms that Explore shows for the topics of a table, beside the verdicts a reader gave them.

Written as the same table again: terms that are new have no verdict yet, and a reader fills it in.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import median
from typing import TextIO

from search.engine import Engine
from search.errors import InputError
from search.settings import load_settings
from search.topics import UNNAMED, Topic, explore
from search.types import Query

TABLE = Path("docs/studies/topic_terms.csv")
HALVES = ("improved on", "held out")
"""Topics that the rules were made on, and topics that were looked at only in the end."""
VERDICTS = ("accept", "reject")
CLUSTER = "cluster"


@dataclass(frozen=True, slots=True)
class Judged:
    """A term, and whether a reader takes it for the name of a problem, a method or a finding."""

    half: str
    topic: str
    kind: str
    """A panel, or "cluster" for a phrase of a cluster's name."""
    term: str
    verdict: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--corpus", type=Path, required=True, metavar="DIR", help="a built corpus")
    parser.add_argument("--table", type=Path, default=TABLE, metavar="FILE", help="topics and verdicts")
    parser.add_argument("--half", choices=HALVES, help="only these topics")
    parser.add_argument(
        "--cost", action="store_true", help="compare the time of a topic with that of a search"
    )


def run(args: argparse.Namespace) -> int:
    judged = read_table(args.table)
    engine = Engine.open(args.corpus, load_settings())
    verdicts = {(each.topic, each.kind, each.term): each.verdict for each in judged}
    topics = dict.fromkeys((each.half, each.topic) for each in judged)
    found = [
        Judged(half, topic, kind, term, verdicts.get((topic, kind, term), ""))
        for half, topic in topics
        if args.half in (None, half)
        for kind, term in shown_terms(explore(engine, topic))
    ]
    write_table(found, sys.stdout)
    for line in summary(found):
        print(line, file=sys.stderr)
    if args.cost:
        print(cost(engine, [topic for _, topic in topics]), file=sys.stderr)
    return 0


def cost(engine: Engine, topics: Sequence[str]) -> str:
    """The time of each topic beside that of a search with the paper nearest to it, in words."""
    searches, explored = [], []
    for topic in topics:
        nearest = engine.search(Query((engine.read_text(topic),), top=1)).results[0].paper.id
        query = Query((engine.example(nearest),))
        start = time.perf_counter()
        engine.search(query)
        middle = time.perf_counter()
        explore(engine, topic)
        searches.append(middle - start)
        explored.append(time.perf_counter() - middle)
    ratio = median(each / search for each, search in zip(explored, searches, strict=True))
    return (
        f"a search takes {1000 * median(searches):.0f} ms, a topic {1000 * median(explored):.0f} ms, "
        f"{ratio:.1f} times as long (medians of {len(topics)} topics)"
    )


def shown_terms(topic: Topic) -> Iterator[tuple[str, str]]:
    """Every term of a topic with its kind, in the order shown."""
    for panel, terms in topic.terms.items():
        yield from ((panel.value, term.text) for term in terms)
    for cluster in topic.clusters:
        if cluster.name != UNNAMED:
            yield from ((CLUSTER, phrase) for phrase in cluster.name.split(", "))


def read_table(path: Path) -> list[Judged]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return [Judged(**{name: row[name] for name in _columns()}) for row in csv.DictReader(file)]
    except (OSError, KeyError, UnicodeDecodeError) as error:
        raise InputError(
            f"{path} is no table of terms: it needs the columns {', '.join(_columns())} ({error!r})."
        ) from error


def write_table(judged: Iterable[Judged], file: TextIO) -> None:
    writer = csv.DictWriter(file, _columns(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(each) for each in judged)


def _columns() -> list[str]:
    return [each.name for each in fields(Judged)]


def share_accepted(judged: Sequence[Judged]) -> float:
    """The part of the terms that a reader accepts."""
    return sum(each.verdict == "accept" for each in judged) / len(judged) if judged else 0.0


def summary(judged: Sequence[Judged]) -> list[str]:
    lines = []
    for half in HALVES:
        own = [each for each in judged if each.half == half]
        unread = sum(not each.verdict for each in own)
        if own:
            told = f"{share_accepted(own):.1%} of {len(own)} terms accepted"
            lines.append(f"{half}: {told}" + (f", {unread} without a verdict" if unread else ""))
    return lines
