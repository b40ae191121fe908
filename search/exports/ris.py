"""RIS: one tag a line."""

from __future__ import annotations

from collections.abc import Sequence

from search.exports.references import Reference, kind_of, one_line


def write_ris(references: Sequence[Reference]) -> str:
    return "".join(_record(reference) for reference in references)


def _record(reference: Reference) -> str:
    paper = reference.paper
    kind = {"conference": "CONF", "journal": "JOUR", "": "GEN"}[kind_of(paper)]
    arxiv = f"arXiv:{paper.arxiv_id}" if paper.arxiv_id else ""
    pmid = f"PMID:{paper.pmid}" if paper.pmid else ""
    lines = [
        ("TY", kind),
        ("TI", paper.title),
        *(("AU", name) for name in paper.authors),
        ("PY", str(paper.year or "")),
        ("T2", paper.venue),
        ("DO", paper.doi),
        ("AN", arxiv or pmid),
        ("C1", pmid if arxiv else ""),
        ("UR", paper.url),
        *(("KW", field) for field in paper.fields),
        ("AB", paper.abstract),
        ("N1", reference.note),
    ]
    # A tag lasts until the line ends, so a line break in a value would start a wrong one.
    body = "".join(f"{tag}  - {one_line(value)}\n" for tag, value in lines if value.strip())
    return body + "ER  - \n\n"
