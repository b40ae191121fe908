"""Exports read back by independent parsers: nothing lost, nothing that breaks or runs."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import bibtexparser
import pytest
import rispy
from hypothesis import given
from hypothesis import strategies as st

from search import exports
from search.errors import InputError
from search.exports import Citation
from search.types import Evidence, Kind, Likeness, Paper, Query, Reference, Result, Results

PAPER = Paper(
    id="acl:P17-1",
    title="Learning 100% of {x}_i with BERT & $5: a #1 \\approach~^",
    abstract="First line.\nSecond line -- ER  - not an end.\n\nTY  - not a start.",
    authors=("Müller-Lüdenscheidt, Émile", "Plato", "The Large Collaboration"),
    year=2017,
    venue="Proceedings of a Conference & Workshop",
    fields=("Computer Science", "C++"),
    doi="10.1000/x_y(2)",
    arxiv_id="1701.00001",
    pmid="123",
    url="https://example.org/a_b?c={d}&e=%20",
)
PREPRINT = Paper(id="arxiv:1", title="Short", arxiv_id="2101.00001")
NOTE = "Matches your method sentence 2: both mention “noisy labels”, 50% & more."
REFERENCES = [Citation(PAPER, NOTE, 0.7312, Likeness.SIMILAR), Citation(PREPRINT)]


def test_a_result_set_is_written_in_order_with_its_reasons():
    results = Results(
        query=Query(()),
        results=tuple(
            Result(paper, score, Likeness.RELATED, reason, (), Evidence(0, 0, 0))
            for paper, score, reason in ((PREPRINT, 0.9, "first"), (PAPER, 0.5, "second"))
        ),
        build_id="b",
        candidates=2,
    )
    for format in exports.FORMATS:
        written = exports.export(results, format)
        assert written.index("Short") < written.index("Learning")
        assert written.index("first") < written.index("second")


@pytest.mark.parametrize("format", exports.FORMATS)
def test_a_paper_is_cited_in_every_format_and_empty_lists_are_fine(format):
    assert "Short" in exports.cite(PREPRINT, format)
    assert isinstance(exports.write([], format), str)


def test_an_unknown_format_names_the_known_ones():
    with pytest.raises(InputError, match=r"'word'.*bibtex, ris, csl-json, csv, markdown"):
        exports.cite(PAPER, "word")


def parsed_bibtex(text: str) -> list:
    library = bibtexparser.parse_string(text)
    assert not library.failed_blocks
    return library.entries


def test_bibtex_escapes_what_latex_would_take_for_its_own():
    entry = parsed_bibtex(exports.write(REFERENCES, "bibtex"))[0]
    fields = {field.key: field.value for field in entry.fields}
    assert entry.entry_type == "inproceedings"
    assert entry.key == "mullerludenscheidt2017learning"
    assert fields["title"] == (
        r"Learning 100\% of \textbraceleft{}x\textbraceright{}\_i with {BERT} \& \$5: "
        r"a \#1 \textbackslash{}approach\textasciitilde{}\textasciicircum{}"
    )
    assert fields["author"] == "Müller-Lüdenscheidt, Émile and Plato and {The Large Collaboration}"
    assert fields["url"] == "https://example.org/a_b?c=%7Bd%7D&e=%20"
    assert fields["doi"] == "10.1000/x_y(2)"
    assert fields["eprint"] == "1701.00001"
    assert fields["annote"] == NOTE.replace("%", r"\%").replace("&", r"\&")


def test_bibtex_keys_are_unique():
    entries = parsed_bibtex(exports.write([Citation(PAPER)] * 3, "bibtex"))
    assert len({entry.key for entry in entries}) == 3


def test_ris_has_one_line_per_value():
    first, second = rispy.loads(exports.write(REFERENCES, "ris"))
    assert first["title"] == PAPER.title
    assert first["authors"] == list(PAPER.authors)
    assert first["abstract"] == " ".join(PAPER.abstract.split())
    assert first["notes"] == [NOTE]
    assert first["keywords"] == list(PAPER.fields)
    assert (first["year"], first["doi"], first["type_of_reference"]) == ("2017", PAPER.doi, "CONF")
    assert second["title"] == "Short"


def test_csl_json_divides_names_and_dates():
    first, second = json.loads(exports.write(REFERENCES, "csl-json"))
    assert first["author"][0] == {"family": "Müller-Lüdenscheidt", "given": "Émile"}
    assert first["author"][1] == {"literal": "Plato"}
    assert first["issued"] == {"date-parts": [[2017]]}
    assert first["note"] == NOTE
    assert first["abstract"] == PAPER.abstract
    assert second == {
        "id": "short",
        "type": "article",
        "title": "Short",
        "archive": "arXiv",
        "archive_location": "2101.00001",
    }


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r=", "\n=", " ="])
def test_no_cell_of_the_csv_is_a_formula(start):
    paper = Paper(id=start + "id", title=start + "HYPERLINK()", authors=(start + "cmd",), abstract=start)
    rows = list(csv.reader(io.StringIO(exports.write([Citation(paper, start + "1")], "csv"), newline="")))
    assert len(rows) == 2
    assert not [cell for cell in rows[1] if re.match(r"\s*[=+@-]", cell)]


def test_csv_keeps_every_value():
    rows = list(csv.DictReader(io.StringIO(exports.write(REFERENCES, "csv"), newline="")))
    assert rows[0]["title"] == PAPER.title
    assert rows[0]["abstract"] == PAPER.abstract
    assert rows[0]["authors"] == "; ".join(PAPER.authors)
    assert (rows[0]["rank"], rows[0]["score"], rows[0]["likeness"]) == ("1", "0.731", "similar")
    assert (rows[1]["rank"], rows[1]["score"], rows[1]["note"]) == ("2", "", "")


def test_markdown_shows_the_text_as_it_is_and_links_only_to_the_web():
    written = exports.write(REFERENCES, "markdown")
    assert r"\{x\}\_i" in written
    assert "*similar (0.73)*" in written
    assert "(https://arxiv.org/abs/2101.00001)" in written
    evil = Paper(id="x", title="<script>[a](javascript:b)", url="javascript:alert(1)")
    assert exports.cite(evil, "markdown") == "1. **\\<script\\>\\[a\\](javascript:b)**\n"


texts = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs", "Cc"]), max_size=80)
papers = st.builds(
    Paper,
    id=texts,
    title=texts,
    abstract=texts,
    authors=st.lists(texts, max_size=3).map(tuple),
    year=st.none() | st.integers(1500, 2100),
    venue=texts,
    fields=st.lists(texts, max_size=2).map(tuple),
    doi=texts,
    arxiv_id=texts,
    url=texts,
)


@given(st.lists(st.builds(Citation, paper=papers, note=texts), min_size=1, max_size=3))
def test_any_paper_can_be_written_and_read(references):
    count = len(references)
    assert len(parsed_bibtex(exports.write(references, "bibtex"))) == count
    assert len(json.loads(exports.write(references, "csl-json"))) == count
    assert exports.write(references, "ris").count("\nER  - \n") == count
    rows = list(csv.reader(io.StringIO(exports.write(references, "csv"), newline="")))
    assert [len(row) for row in rows] == [len(rows[0])] * (count + 1)
    assert exports.write(references, "markdown")


def test_ris_has_the_conference_and_its_proceedings_where_reference_managers_look() -> None:
    reference = Reference(kind=Kind.PROCEEDINGS_PAPER, event="32nd Conference on Rain")
    paper = Paper(id="a", title="Rain", venue="Proceedings of Rain", reference=reference)
    lines = exports.write([Citation(paper)], "ris").split("\n")
    assert "T2  - 32nd Conference on Rain" in lines
    assert "C3  - Proceedings of Rain" in lines
    alone = exports.write([Citation(replace(paper, reference=Reference(kind=Kind.PROCEEDINGS_PAPER)))], "ris")
    assert "T2  - Proceedings of Rain" in alone.split("\n")
