"""`python -m evaluation announced`: whether what papers announce is matched and avoided as it should be.

`announced.jsonl` beside this file holds ids, places and grades, never texts: sentences in which a paper says
what it does ("We propose", "This survey", "was conducted"), from physics to medicine, one of each paper. They
were graded by reading, before any label was seen: does the sentence name the method - a procedure, a thing
that was made, a study, data, a survey, a proof? One half, by the parity of the sentence's checksum, was tuned
on.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.collection_files import read_records
from evaluation.results import write_json
from evaluation.tables import table
from index_build import demo, sources
from search.encoder.loading import load_encoder
from search.errors import InputError
from search.query.reader import read_labels
from search.text.labels import SURE
from search.text.sentences import split_paper
from search.types import FACETS, Document, Facet, Paper, QuerySentence

GRADED = Path(__file__).parent / "announced.jsonl"
GRADES = ("yes", "partly", "no")
CHECK = 8
"""Digits of the checksum that tell whether a text is still split as it was."""


@dataclass(frozen=True, slots=True)
class Announced:
    paper: str
    field: str
    sentence: int
    """Its place in the abstract; the first is 0."""
    check: str
    names_method: str

    @property
    def tuned_on(self) -> bool:
        return int(self.check, 16) % 2 == 0


@dataclass(frozen=True, slots=True)
class Outcome:
    graded: Announced
    matched: bool
    avoided: bool
    matched_by_label: bool
    """What its likeliest label alone would do."""
    avoided_by_label: bool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--papers",
        type=Path,
        nargs="*",
        default=[],
        help="files with papers of the ACL Anthology and of MEDLINE; the arXiv sample is fetched",
    )
    parser.add_argument("--graded", type=Path, default=GRADED, help="graded sentences (default: the shipped)")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures there")


def run(args: argparse.Namespace) -> int:
    graded = read_announced(args.graded)
    papers = find_papers(_all_papers(args.papers), {each.paper for each in graded})
    outcomes = list(measure(graded, papers))
    if not outcomes:
        raise InputError("None of the graded sentences was found: name files with their papers in --papers.")
    rows = summarise(outcomes)
    heads = ["sentences", "names it", "number", "matched", "avoided", "by label: matched", "avoided"]
    print(table(rows, heads))
    print(f"\nIn percent; {len(graded) - len(outcomes)} of {len(graded)} sentences were not found.")
    if args.json:
        write_json(args.json, {"heads": heads, "rows": rows, "missing": len(graded) - len(outcomes)})
    return 0


def read_announced(file: Path) -> list[Announced]:
    try:
        found = [Announced(**record) for record in read_records(file)]
    except TypeError as error:
        raise InputError(f"{file} does not hold graded sentences ({error}): use the shipped file.") from None
    if odd := {each.names_method for each in found} - set(GRADES):
        raise InputError(f"{file} has the grade {min(odd)!r}: give {', '.join(GRADES)}.")
    return found


def _all_papers(files: Sequence[Path]) -> Iterator[Paper]:
    for stream in (demo.papers(), *(sources.read(file) for file in files)):
        yield from (each for each in stream if isinstance(each, Paper))


def find_papers(papers: Iterable[Paper], wanted: set[str]) -> dict[str, Paper]:
    """The wanted ones, split into sentences; reading ends when all are found."""
    found: dict[str, Paper] = {}
    for paper in papers:
        if paper.id in wanted:
            found[paper.id] = split_paper(paper)
            if len(found) == len(wanted):
                break
    return found


def measure(graded: Sequence[Announced], papers: dict[str, Paper]) -> Iterator[Outcome]:
    """What the questions “same method” and “this method elsewhere” do with each sentence."""
    encoder = load_encoder()
    for each in graded:
        paper = papers.get(each.paper)
        texts = tuple(sentence.text for sentence in paper.sentences) if paper else ()
        if paper is None or each.sentence >= len(texts) or checksum(texts[each.sentence]) != each.check:
            continue
        facets = encoder.encode_one(Document(" ".join(paper.title.split()), texts)).facets
        sentence: QuerySentence = read_labels(texts, facets)[each.sentence]
        likeliest = FACETS[facets[each.sentence].argmax()]
        sure = facets[each.sentence].max() >= SURE
        yield Outcome(
            each,
            sentence.serves(Facet.METHOD),
            sentence.surely(Facet.BACKGROUND),
            likeliest is Facet.METHOD,
            bool(likeliest is Facet.BACKGROUND and sure),
        )


def checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:CHECK]


def summarise(outcomes: Sequence[Outcome]) -> list[list[str]]:
    """A row for each grade: over all, over the halves, over the fields."""
    groups = [
        ("all", outcomes),
        ("tuned on", [each for each in outcomes if each.graded.tuned_on]),
        ("confirmed on", [each for each in outcomes if not each.graded.tuned_on]),
    ]
    for field in sorted({each.graded.field for each in outcomes}):
        groups.append((field, [each for each in outcomes if each.graded.field == field]))
    rows = []
    for title, mine in groups:
        for grade in GRADES:
            if some := [each for each in mine if each.graded.names_method == grade]:
                rows.append([title, grade, str(len(some)), *_shares(some)])
    return rows


def _shares(outcomes: Sequence[Outcome]) -> list[str]:
    counts = (
        sum(each.matched for each in outcomes),
        sum(each.avoided for each in outcomes),
        sum(each.matched_by_label for each in outcomes),
        sum(each.avoided_by_label for each in outcomes),
    )
    return [f"{100 * count / len(outcomes):.1f}" for count in counts]
