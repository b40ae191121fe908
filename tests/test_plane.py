"""The plane's own rules: fields, regions, names beside points, and the triptych as one answer."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.ui import plane_chart
from pages.ui.plane import mix_in_words
from pages.ui.triptych import near_by, together
from search.ranking import plane
from search.ranking.plane import Region
from search.types import Evidence, Facet, Likeness, Paper, Point, Query, Result, Results, Sentence

UNIT = st.floats(0, 1, allow_nan=False)


def point(id: str, background: float = 0.5, method: float = 0.5, *fields: str, title: str = "") -> Point:
    return Point(Paper(id, title or id, fields=fields), background, method)


def test_the_fields_of_a_paper_of_the_corpus_are_its_own():
    known = [Paper("a", "A", fields=("optics", "physics")), Paper("b", "B")]
    assert plane.fields_of(known, [point("x", 0.9, 0.1, "finance")]) == {"optics", "physics"}


def test_a_pasted_text_has_the_fields_of_half_its_neighbours_by_background():
    near = [point(f"n{n}", 0.9, 0.1, "farming", "biology" if n % 2 else "trade") for n in range(10)]
    far = [point(f"f{n}", 0.1, 0.9, "finance") for n in range(50)]
    assert plane.fields_of([], [*far, *near]) == {"farming", "biology", "trade"}
    mixed = [point(f"m{n}", 0.9, 0.1, f"field {n // 2}") for n in range(10)]
    assert plane.fields_of([], [*far, *mixed]) == {"field 0"}
    assert plane.fields_of([], [point("x")]) == frozenset()


def test_other_fields_leave_out_shared_and_unknown_ones():
    points = [point("a", 1, 1, "optics", "art"), point("b", 1, 1, "art"), point("c")]
    assert [each.paper.id for each in plane.from_other_fields(points, frozenset({"optics"}))] == ["b"]


def test_the_purpose_is_the_first_background_sentence():
    sentences = tuple(
        Sentence(text, 0, 1, facet)
        for text, facet in (
            ("We aim.", Facet.OBJECTIVE), ("We do.", Facet.METHOD), ("It is known.", Facet.BACKGROUND),
        )
    )  # fmt: skip
    paper = Paper("a", "A", "text", sentences=sentences)
    assert plane.purpose(paper) == "It is known."
    assert plane.purpose(replace(paper, sentences=sentences[:2])) == "We aim."
    assert plane.purpose(replace(paper, sentences=sentences[1:2])) == ""
    assert plane.purpose(replace(paper, abstract="")) == ""


@given(UNIT, UNIT)
def test_every_point_lies_in_what_is_drawn_and_in_one_quarter_of_it(background, method):
    points = [point("a", background, method), point("b", 0.2, 0.7)]
    drawn = plane_chart.bounds(points)
    assert all(drawn.holds(each) for each in points)
    corners = plane_chart.corners(drawn)
    assert all(each.background[0] < each.background[1] for each in corners.values())
    assert corners[plane_chart.METHOD_ONLY].background[1] == corners[plane_chart.BOTH].background[0]
    assert corners[plane_chart.PROBLEM_ONLY].method[1] == corners[plane_chart.BOTH].method[0]


@given(
    st.lists(st.tuples(UNIT, UNIT), min_size=1, max_size=12),
    st.sampled_from([plane_chart.WIDE, plane_chart.NARROW]),
)
def test_names_stay_inside_and_do_not_overlap(places, size):
    points = [
        point(f"p{n}", *place, title="A paper with a rather long title " * 2)
        for n, place in enumerate(places)
    ]
    drawn = plane_chart.bounds(points)
    boxes = []
    for name in plane_chart.place_names(points, drawn, size):
        x, y = plane_chart._spot(name.point, drawn, size)
        width = plane_chart.LETTER * len(name.text)
        left = x + name.dx - {"left": 0, "center": width / 2, "right": width}[name.align]
        assert 0 <= left <= left + width <= size.width + 1e-6
        boxes.append(
            (left, y + name.dy - plane_chart.LINE / 2, left + width, y + name.dy + plane_chart.LINE / 2)
        )
    assert boxes
    assert not any(plane_chart._overlap(one, other) for one, other in combinations(boxes, 2))


@pytest.mark.parametrize(
    ("text", "short"),
    [("Short", "Short"), ("A title, that is long", "A title…"), ("Unbreakablelongword", "Unbreakabl…")],
)
def test_a_name_ends_at_a_word(text, short):
    assert plane_chart.shorten(text, 10) == short


def test_the_chart_holds_every_paper_and_tells_all_of_it():
    points = [point(f"p{n}", n / 40, 1 - n / 40, title=f"Title {n} " + "and more " * 20) for n in range(40)]
    points[3] = replace(points[3], paper=replace(points[3].paper, year=1999, venue="Annals"))
    drawn = plane_chart.bounds(points)
    spec = plane_chart.draw(points, points[:10], drawn, Region((0.1, 0.2), (0.3, 0.4)), False).to_dict()
    rows = [row for data in spec["datasets"].values() for row in data if "Title" in row]
    assert sorted(row["Title"] for row in rows) == sorted(each.paper.title.strip() for each in points)
    told = next(row for row in rows if row["Venue"] == "Annals")
    assert (told["Year"], told["Problem"], told["Way"]) == ("1999", "unrelated, 0.07", "near identical, 0.93")
    assert spec["params"][0]["value"] == {"x": [0.1, 0.2], "y": [0.3, 0.4]}
    texts = {
        row["text"].replace("\n", " ") for data in spec["datasets"].values() for row in data if "text" in row
    }
    assert {plane_chart.BOTH, plane_chart.METHOD_ONLY, plane_chart.PROBLEM_ONLY, plane_chart.NEITHER} <= texts


def test_the_mix_is_said_in_words():
    assert [mix_in_words(step) for step in (0, 3, 5, 10)] == [
        "Same problem", "30 % method", "Half and half", "Same method",
    ]  # fmt: skip


def result(id: str, score: float) -> Result:
    return Result(Paper(id, id), score, Likeness.RELATED, "Matches.", (), Evidence(0, 0, 0))


def test_the_triptych_is_one_answer_with_each_paper_once():
    query = Query(())
    panels = {
        Facet.BACKGROUND: Results(query, (result("a", 0.9), result("b", 0.2)), "build", 5),
        Facet.METHOD: Results(query, (result("b", 0.6),), "build", 7),
    }
    assert near_by(panels) == {"a": [Facet.BACKGROUND], "b": [Facet.BACKGROUND, Facet.METHOD]}
    answer = together(panels, query)
    assert [(each.paper.id, each.score, each.places) for each in answer.results] == [
        ("a", 0.9, "Nearest by background (number 1)."),
        ("b", 0.6, "Nearest by background (number 2) and by method (number 1)."),
    ]
    assert (answer.build_id, answer.candidates) == ("build", 12)
