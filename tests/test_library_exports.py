"""A list as an annotated bibliography and as a table of panels: all of it quoted, nothing lost or run."""

from __future__ import annotations

import csv
import io

from search.exports.annotated import AnnotatedPaper, Match, in_markdown, write_annotated
from search.exports.panel_table import write_panel_csv, write_panel_markdown
from search.types import Facet, Paper, Sentence

PARTS = (
    ("Tides are hard to time.", Facet.BACKGROUND),
    ("We ask how slow they are.", Facet.OBJECTIVE),
    ("We use a clock.", Facet.METHOD),
    ("They take hours.", Facet.RESULT),
    ("Thanks.", Facet.OTHER),
)


def tides() -> Paper:
    sentences, abstract = [], ""
    for text, facet in PARTS:
        abstract = f"{abstract} {text}".strip()
        sentences.append(Sentence(text, len(abstract) - len(text), len(abstract), facet))
    authors = ("Mar, Ana", "Lo, Bea")
    return Paper("p:1", "Tides", abstract, authors, 2001, doi="10.1/x", sentences=tuple(sentences))


ENTRY = AnnotatedPaper(
    tides(),
    kept="Kept 18 Nov 2026 from “Slow water”.",
    reason="Matches your text: both mention “slow”.",
    note="First line\n- second | line",
    tags=("sea", "=clock"),
    matches=(Match("We use a clock.", Facet.METHOD, "We use watches."), Match("Thanks.")),
)


def test_the_bibliography_says_why_and_quotes() -> None:
    written = write_annotated("Sea *and* air", [ENTRY, AnnotatedPaper(Paper("p:2", "Winds"))])
    assert written.startswith("# Sea \\*and\\* air\n\n1. [**Tides**](https://doi.org/10.1/x)")
    for line in (
        "   Kept 18 Nov 2026 from “Slow water”.",
        "   Why: Matches your text: both mention “slow”.",
        "   Note: First line",
        "   \\- second \\| line",
        "   Tags: sea, =clock",
        "   - Method: “We use a clock.” (for “We use watches.”)",
        "   - Other: “Thanks.”",
    ):
        assert line in [each.rstrip() for each in written.splitlines()], line
    assert "Mar, Ana; Lo, Bea" in written
    assert written.endswith("2. **Winds**\n")


def test_the_tenth_entry_is_indented_as_its_number_is_wide() -> None:
    written = write_annotated("Many", [ENTRY] * 10)
    assert "\n10. [**Tides**]" in written
    assert "\n    Tags: sea" in written


def test_the_table_has_every_sentence_in_its_panel_and_no_formula() -> None:
    (row,) = csv.DictReader(io.StringIO(write_panel_csv([ENTRY])))
    assert row["problem"] == "“Tides are hard to time.”"
    assert row["objective"] == "“We ask how slow they are.”"
    assert (row["method"], row["result"]) == ("“We use a clock.”", "“They take hours.”")
    assert (row["note"], row["tags"]) == ("First line\n- second | line", "sea; =clock")
    hostile = AnnotatedPaper(Paper("p:3", "=1+1"), note="@x", tags=("=y",))
    (row,) = csv.DictReader(io.StringIO(write_panel_csv([hostile])))
    assert (row["title"], row["note"], row["tags"]) == ("'=1+1", "'@x", "'=y")


def test_the_markdown_table_names_the_objective_and_stays_one_row() -> None:
    written = write_panel_markdown("Sea", [ENTRY, AnnotatedPaper(Paper("p:2", "A | B\nC"))])
    head, rule, first, second = written.splitlines()[2:]
    assert head.count("|") == rule.count("|") == first.replace("\\|", "").count("|") == 7
    assert "“Tides are hard to time.”<br>*Objective:* “We ask how slow they are.”" in first
    assert "Mar et al., 2001<br>doi:10.1/x" in first
    assert "Thanks" not in first
    assert second == "| **A \\| B C** | — | — | — | — | — |"


def test_a_paper_without_abstract_has_no_quotes() -> None:
    paper = Paper("p:2", "Winds", sentences=(Sentence("Winds", 0, 5, Facet.METHOD),))
    assert "“" not in write_panel_csv([AnnotatedPaper(paper)])


def test_text_is_shown_as_it_is_at_the_start_of_a_line() -> None:
    assert [in_markdown(text) for text in ("1. a", "12) b", "+c", "2019", "# d", "e-f")] == [
        "1\\. a", "12\\) b", "\\+c", "2019", "\\# d", "e-f",
    ]  # fmt: skip
