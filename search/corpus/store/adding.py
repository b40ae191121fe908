"""Records taken into a working store: which are new, which replace others, and which papers they make up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace

from search.corpus.store import tables
from search.corpus.store.identity import Apart, Record, completes, contradict, group, keys, other_id
from search.corpus.store.record_table import (
    hash_of,
    insert_records,
    kept_apart,
    known_of,
    move_records,
    next_number,
    read_records,
    records_sharing,
    remove_records,
    transaction,
)
from search.types import Paper


@dataclass(frozen=True, slots=True)
class AddReport:
    """What became of a batch: each record counts once."""

    added: int = 0
    """New papers."""
    unchanged: int = 0
    """Already there, to the letter."""
    replaced: int = 0
    """There in another form, which this one replaces."""
    merged: int = 0
    """New records of papers that another record brought before."""

    @property
    def total(self) -> int:
        return sum(astuple(self))

    def __add__(self, other: AddReport) -> AddReport:
        return AddReport(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


def add(connection: tables.Connection, papers: Sequence[Paper]) -> AddReport:
    """Take in split papers as one transaction: once this returns, they survive a crash.

    A record replaces the one with its id, unless that is another paper (`contradict`), has what this
    one lacks (`completes`) or is of another format: then it gets an id of its own, and both are kept.
    """
    with transaction(connection) as cursor:
        papers = _namekept_apart(cursor, papers)
        batch = {paper.id: paper for paper in papers}
        hashes = {id: hash_of(paper) for id, paper in batch.items()}
        known = known_of(cursor, list(batch))
        fresh = [paper for id, paper in batch.items() if id not in known or known[id].hash != hashes[id]]
        number = next_number(cursor)
        records = [
            Record(known[paper.id].number if paper.id in known else number + place, paper)
            for place, paper in enumerate(fresh)
        ]
        outdated = [paper.id for paper in fresh if paper.id in known]
        remove_records(cursor, outdated)
        homes = _regroup(cursor, records, [known[id].paper for id in outdated])
        insert_records(cursor, records, hashes, homes)
    new = [paper.id for paper in fresh if paper.id not in known]
    added = sum(homes[id] == id for id in new)
    within = sum(batch[paper.id] is not paper and hash_of(paper) != hashes[paper.id] for paper in papers)
    replaced = len(outdated) + within
    return AddReport(added, len(papers) - len(new) - replaced, replaced, len(new) - added)


def _namekept_apart(cursor: tables.Connection, papers: Sequence[Paper]) -> list[Paper]:
    """The papers, with another id where a record of the same id must not be replaced by them."""
    known = known_of(cursor, list({paper.id for paper in papers}))
    changed = [paper.id for paper in papers if paper.id in known and known[paper.id].hash != hash_of(paper)]
    holders = {paper.id: paper for paper in read_records(cursor, changed)}
    named = []
    for paper in papers:
        holder = holders.get(paper.id)
        if holder and (contradict(holder, paper) or completes(holder, paper)):
            paper = replace(paper, id=other_id(paper))
        elif holder and holder.source != paper.source:
            paper = replace(paper, id=f"{paper.id}#{paper.source}")
        if paper.id not in known or holder:
            holders[paper.id] = paper
        named.append(paper)
    return named


def _regroup(cursor: tables.Connection, records: list[Record], left: list[str]) -> dict[str, str]:
    """The paper each new record belongs to; stored records that change papers with it are moved.

    Only records that share a key with another, or a paper that an outdated record has `left`, need a
    closer look, and those are few.
    """
    homes = {record.paper.id: record.paper.id for record in records}
    keys_of = {record.paper.id: set(keys(record.paper)) for record in records}
    holders = Counter(key for found in keys_of.values() for key in found)
    stored = records_sharing(cursor, list(holders), left)
    taken = {key for record in stored for key in keys(record.paper)}
    taken |= {key for key, count in holders.items() if count > 1}
    doubtful = [record for record in records if keys_of[record.paper.id] & taken]
    homes |= homes_of([*stored, *doubtful], kept_apart(cursor))
    move_records(cursor, {record.paper.id: homes[record.paper.id] for record in stored})
    return homes


def homes_of(records: list[Record], apart: Apart) -> dict[str, str]:
    """The paper of each record: the id of the first record of its group."""
    return {member.paper.id: members[0].paper.id for members in group(records, apart) for member in members}
