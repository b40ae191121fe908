"""Does the import join the records of one paper, and only those: real records, each written a second way."""

from __future__ import annotations

import argparse
import csv
import json
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from search.corpus import duplicates
from search.corpus.layout import STORE, current_build
from search.corpus.store import Snapshot, Store
from search.errors import InputError
from search.settings import load_settings
from search.text.sentences import split_paper
from search.types import Kind, Paper, Reference

PAPERS = 1000
"""Real records that a benchmark is made of."""
Edit = Callable[[Paper, Paper, random.Random], Paper]
"""From a record and another paper's record, a second record."""


@dataclass(frozen=True, slots=True)
class Labelled:
    record: Paper
    paper: int
    """The number of the paper it is a record of."""
    edit: str
    """How it was made; empty for the record as it was."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--corpus", type=Path, metavar="DIR", help="whose papers to take (default: the setting)"
    )
    parser.add_argument(
        "--papers", type=int, default=PAPERS, metavar="N", help=f"how many (default: {PAPERS})"
    )
    parser.add_argument("--seed", type=int, default=0, help="another benchmark from the same papers")
    parser.add_argument(
        "--csv", type=Path, metavar="FILE", help="write the records, to try other tools on them"
    )
    parser.add_argument(
        "--groups",
        type=Path,
        metavar="FILE",
        help="measure another tool, too: JSON, a list of ids for each paper",
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")


def run(args: argparse.Namespace) -> int:
    records = make(_papers(args.corpus or load_settings().corpus, args.papers), args.seed)
    if args.csv:
        write_csv(records, args.csv)
    at_import, in_results = join(records)
    stages = {"import": measure(records, at_import), "results": measure(records, in_results)}
    if args.groups:
        stages[args.groups.name] = measure(records, _homes(records, args.groups))
    if args.json:
        print(json.dumps({stage: asdict(found) for stage, found in stages.items()}, indent=1))
        return 0
    print(f"{len(records):,} records of {len({each.paper for each in records}):,} papers")
    for stage, found in stages.items():
        print(f"\n{stage}: precision {found.precision:.3f}, recall {found.recall:.3f}")
        for edit, share in found.joined.items():
            print(f"  {edit:<28} {share:6.1%} joined{'' if edit in SAME else ' (should be none)'}")
    return 0


def _homes(records: Sequence[Labelled], file: Path) -> list[str]:
    """The first record of each record's group; one that no group names is alone."""
    home = {id: group[0] for group in json.loads(file.read_text(encoding="utf-8")) for id in group}
    return [home.get(each.record.id, each.record.id) for each in records]


def _papers(corpus: Path, count: int) -> list[Paper]:
    """Papers with a title of some words, authors and an abstract, evenly spread over a built corpus."""
    with Snapshot.open(current_build(corpus) / STORE) as build:
        rows = np.linspace(0, build.counts().papers - 1, min(3 * count, build.counts().papers)).astype(int)
        papers = build.papers_by_row(np.unique(rows))
    usable = [paper for paper in papers if len(paper.title.split()) > 3 and paper.authors and paper.abstract]
    if len(usable) < 2:
        raise InputError(f"The corpus {corpus} has too few papers with title, authors and abstract.")
    return usable[: 2 * count]


def make(papers: Sequence[Paper], seed: int = 0) -> list[Labelled]:
    """Half of the papers as they are and, in turn, written as one of the edits does; in random order.

    The other half lends texts and authors to what must not be joined.
    """
    chance = random.Random(seed)
    made: list[Labelled] = []
    edits = [*SAME.items(), *OTHERS.items()]
    half = len(papers) // 2
    for number, (found, lender) in enumerate(zip(papers[:half], papers[half:], strict=False)):
        paper, other = _complete(found, number), _complete(lender, half + number)
        name, edit = edits[number % len(edits)]
        second = edit(paper, other, chance)
        label = number if name in SAME else len(papers) + number
        if name in _FIRST:
            paper = _FIRST[name](paper, other, chance)
        made += [Labelled(paper, number, ""), Labelled(replace(second, id=f"{number}-b"), label, name)]
    chance.shuffle(made)
    return made


def _complete(paper: Paper, number: int) -> Paper:
    """The record with all that a journal's record has; a DOI of its own keeps the edits alike."""
    year = paper.year or 2000
    reference = Reference(
        Kind.ARTICLE, volume=str(1 + number % 90), issue="2", pages=f"{number}-{number + 9}"
    )
    return replace(
        paper, id=f"{number}-a", year=year, venue=paper.venue or "Journal of Applied Results",
        doi=f"10.5555/rec.{number}", arxiv_id="", pmid="", url="", source="bibtex", reference=reference,
        sentences=(), sections=(),
    )  # fmt: skip


def _short_venue(paper: Paper, other: Paper, chance: random.Random) -> Paper:
    venue = " ".join(f"{word[:4]}." if len(word) > 5 else word for word in paper.venue.split())
    return replace(paper, venue=venue, doi="")


def _initials(paper: Paper, other: Paper, chance: random.Random) -> Paper:
    names = [name.partition(", ") for name in paper.authors]
    return replace(paper, authors=tuple(f"{family}, {given[:1]}." for family, _, given in names), doi="")


def _no_doi(paper: Paper, other: Paper, chance: random.Random) -> Paper:
    return replace(paper, doi="", abstract="")


def _no_subtitle(paper: Paper, other: Paper, chance: random.Random) -> Paper:
    return replace(paper, title=_with_subtitle(paper, other, chance).title.split(":")[0], doi="")


def _with_subtitle(paper: Paper, other: Paper, chance: random.Random) -> Paper:
    return paper if ":" in paper.title else replace(paper, title=f"{paper.title}: A Study in Two Samples")


def _typo(paper: Paper, other: Paper, chance: random.Random) -> Paper:
    at = chance.randrange(1, len(paper.title) - 1)
    return replace(paper, title=paper.title[:at] + paper.title[at + 1 :], doi="")


def _spelling(paper: Paper, other: Paper, chance: random.Random) -> Paper:
    return replace(paper, title=paper.title.upper().replace("-", " ") + ".", doi="")


def _preprint(paper: Paper, other: Paper, chance: random.Random) -> Paper:
    arxiv_id = f"{chance.randrange(1000, 2000)}.{chance.randrange(10_000, 99_999)}"
    reference = Reference(Kind.PREPRINT)
    year = (paper.year or 2000) - 1
    return replace(paper, venue="arXiv", doi="", arxiv_id=arxiv_id, year=year, reference=reference)


def _fewer_authors(paper: Paper, other: Paper, chance: random.Random) -> Paper:
    return replace(paper, authors=paper.authors[:1], doi="", year=None)


def _same_doi(paper: Paper, other: Paper, chance: random.Random) -> Paper:
    return replace(_typo(paper, other, chance), doi=paper.doi, abstract="", venue="")


def _part_two(paper: Paper, other: Paper, chance: random.Random) -> Paper:
    return replace(paper, title=f"{paper.title}. Part II", abstract=other.abstract, doi=paper.doi + ".2")


def _part_one(paper: Paper, other: Paper, chance: random.Random) -> Paper:
    return replace(paper, title=f"{paper.title}. Part I")


def _namesake(paper: Paper, other: Paper, chance: random.Random) -> Paper:
    return replace(paper, authors=other.authors, abstract=other.abstract, doi="", venue=other.venue)


def _meeting(paper: Paper, other: Paper, chance: random.Random) -> Paper:
    reference = Reference(Kind.PRESENTATION, pages="S12")
    text = other.abstract[:300]
    return replace(paper, abstract=text, doi=paper.doi + ".abs", year=paper.year, reference=reference)


def _supplement(paper: Paper, other: Paper, chance: random.Random) -> Paper:
    return replace(other, doi=paper.doi, arxiv_id="")


SAME: dict[str, Edit] = {
    "venue abbreviated, no DOI": _short_venue,
    "initials, no DOI": _initials,
    "no DOI, no abstract": _no_doi,
    "subtitle lost, no DOI": _no_subtitle,
    "letter lost, no DOI": _typo,
    "capitals and stops, no DOI": _spelling,
    "preprint of the year before": _preprint,
    "one author, no year, no DOI": _fewer_authors,
    "same DOI, letter lost": _same_doi,
}
"""Second records of the same paper."""
OTHERS: dict[str, Edit] = {
    "part I and part II": _part_two,
    "same title, other authors": _namesake,
    "meeting abstract and article": _meeting,
    "two papers with one DOI": _supplement,
}
"""Records of another paper that look like it."""
_FIRST: dict[str, Edit] = {"subtitle lost, no DOI": _with_subtitle, "part I and part II": _part_one}
"""Where the first record changes, too."""


def join(records: Sequence[Labelled]) -> tuple[list[str], list[str]]:
    """The paper each record is in after the import, and after results are joined as the search does it."""
    with tempfile.TemporaryDirectory() as folder:
        with Store.create(Path(folder) / "store.duckdb") as store:
            store.add([split_paper(each.record) for each in records])
            store.snapshot(Path(folder) / "build.duckdb")
        with Snapshot.open(Path(folder) / "build.duckdb") as build:
            rows = build.rows_of([each.record.id for each in records])
            merged = build.papers_by_row(range(build.counts().papers))
    homes = [merged[row].id for row in rows]
    shown = {merged[place].id: merged[each[0]].id for each in duplicates.group(merged) for place in each}
    return homes, [shown[home] for home in homes]


@dataclass(frozen=True, slots=True)
class Figures:
    precision: float
    recall: float
    joined: dict[str, float]
    """The share of pairs that were joined, by edit."""


def measure(records: Sequence[Labelled], homes: Sequence[str]) -> Figures:
    """Precision and recall of pairs, and the share of pairs that were joined for each edit."""
    true, found, both = Counter[int](), Counter[str](), Counter[tuple[int, str]]()
    for each, home in zip(records, homes, strict=True):
        true[each.paper] += 1
        found[home] += 1
        both[each.paper, home] += 1
    right = sum(map(_pairs, both.values()))
    home_of = {each.record.id: home for each, home in zip(records, homes, strict=True)}
    joined: dict[str, list[bool]] = {name: [] for name in (*SAME, *OTHERS)}
    for each in records:
        if each.edit:
            first = each.record.id.replace("-b", "-a")
            joined[each.edit].append(home_of[first] == home_of[each.record.id])
    return Figures(
        precision=right / max(1, sum(map(_pairs, found.values()))),
        recall=right / max(1, sum(map(_pairs, true.values()))),
        joined={name: sum(each) / len(each) for name, each in joined.items() if each},
    )


def _pairs(count: int) -> int:
    return count * (count - 1) // 2


def write_csv(records: Sequence[Labelled], path: Path) -> None:
    """The records under BibTeX's names, with the number of their paper and the edit."""
    columns = "ID ENTRYTYPE title author year journal volume number pages doi abstract paper edit".split()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for each in records:
            record, reference = each.record, each.record.reference
            writer.writerow(
                [
                    record.id, "article", record.title, " and ".join(record.authors), record.year or "",
                    record.venue, reference.volume, reference.issue, reference.pages, record.doi,
                    record.abstract, each.paper, each.edit,
                ]
            )  # fmt: skip
