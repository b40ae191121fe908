"""Briefs: pools as texts to grade, grades back by number, calibration pairs, and the commands around them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluation.__main__ import main
from evaluation.annotate import METHODS
from evaluation.annotation_store import Pool, Project, make_pool
from evaluation.annotation_texts import OFFICIAL, draw_calibration, read_numbered_grades, write_brief
from evaluation.collections import read_csfcube
from index_build.steps import build
from search.corpus import layout
from search.corpus.store import Store
from search.errors import InputError
from search.types import PANELS, Facet, Paper, Sentence
from tests.miniature import all_papers
from tests.random_encoder import RandomEncoder

PARTS = (Facet.BACKGROUND, Facet.OBJECTIVE, Facet.METHOD, Facet.RESULT)
RANKINGS = {"zebrafinder": ["a", "b", "c/1"], "quokkamatch": ["c/1", "b", "d"]}


def paper(id: str) -> Paper:
    sentences, start = [], 0
    for facet in PARTS:
        text = f"The {facet} of {id}."
        sentences.append(Sentence(text, start, start + len(text), facet, hinted=True))
        start += len(text) + 1
    return Paper(id, f"Title of {id}", " ".join(one.text for one in sentences), sentences=tuple(sentences))


PAPERS = {id: paper(id) for id in ("q", "a", "b", "c/1", "d")}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path / "judging")
    for facet in (Facet.BACKGROUND, Facet.METHOD):
        pool, key = make_pool("q", facet, RANKINGS, depth=3)
        project.add(pool, key, PAPERS.values())
    return project


def pool_of(project: Project, facet: Facet) -> Pool:
    return next(pool for pool in project.pools() if pool.facet is facet)


def write(file: Path, content: Any) -> Path:
    file.write_text(json.dumps(content))
    return file


def run(*arguments: object) -> int:
    return main(["annotate", *map(str, arguments)])


@pytest.mark.parametrize("facet", [Facet.BACKGROUND, Facet.METHOD])
def test_a_brief_marks_what_is_asked_and_numbers_the_candidates(
    project: Project, tmp_path: Path, facet: Facet
) -> None:
    pool = pool_of(project, facet)
    text = write_brief(pool, project.papers(), tmp_path / "briefs").read_text()
    query, *candidates = text.split("\n## [")
    marked = [one.text for one in PAPERS["q"].sentences if one.facet and one.facet.panel is facet]
    assert [line[2:] for line in query.splitlines() if line.startswith("> ")] == marked
    assert all(f"\n  {one.text}\n" in text for one in PAPERS["q"].sentences if one.text not in marked)
    assert f"Facet to grade: {facet}" in query
    expected = [
        f"{number}] {PAPERS[id].title}\n{PAPERS[id].abstract}"
        for number, id in enumerate(pool.candidates, start=1)
    ]
    assert [one.strip() for one in candidates] == expected


def test_a_query_without_the_facet_is_marked_whole(project: Project, tmp_path: Path) -> None:
    plain = {id: Paper(id, "T", "One. Two.", sentences=(Sentence("One.", 0, 4),)) for id in PAPERS}
    text = write_brief(pool_of(project, Facet.METHOD), plain, tmp_path).read_text()
    assert "\n> One.\n" in text


def test_briefs_do_not_tell_where_a_candidate_came_from(project: Project, tmp_path: Path) -> None:
    assert run("brief", "--out", tmp_path / "briefs", "--project", project.folder) == 0
    files = sorted((tmp_path / "briefs").iterdir())
    assert [file.name for file in files] == ["q_background.md", "q_method.md"]
    assert "zebrafinder" in (project.folder / "keys" / "q_method.json").read_text()
    for file in files:
        assert not any(method in file.read_text() for method in RANKINGS)


def test_numbers_become_ids(project: Project, tmp_path: Path) -> None:
    pool = pool_of(project, Facet.METHOD)
    file = write(tmp_path / "grades.json", {pool.id: {"3": 0, "1": 3, "2": 1, "4": 2}})
    expected = dict(zip(pool.candidates, (3, 1, 0, 2), strict=True))
    assert read_numbered_grades(project, file) == {pool.id: expected}


@pytest.mark.parametrize(
    ("grades", "words"),
    [
        ({"q_result": {"1": 0}}, "grades a pool 'q_result' that this project does not have"),
        ({"q_method": {"1": 0, "2": 1, "4": 2}}, "candidates 1 to 4 of 'q_method', each once; it has 3"),
        ({"q_method": dict.fromkeys("01234", 1)}, "candidates 1 to 4 of 'q_method', each once; it has 5"),
        ({"q_method": dict.fromkeys("0123", 1)}, "candidates 1 to 4 of 'q_method', each once; it has 4"),
    ],
)
def test_grades_that_do_not_fit_the_briefs_are_refused(
    project: Project, tmp_path: Path, grades: Any, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        read_numbered_grades(project, write(tmp_path / "grades.json", grades))


def test_the_step_numbered_takes_several_files(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [
        write(tmp_path / f"{pool.facet}.json", {pool.id: dict.fromkeys("1234", 2)})
        for pool in project.pools()
    ]
    given = ("--judge", "ada", "--project", project.folder)
    assert run("numbered", "--grades", *files, *given) == 0
    assert "8 grades of ada taken" in capsys.readouterr().out
    assert project.grades("ada") == {pool.id: dict.fromkeys(pool.candidates, 2) for pool in project.pools()}
    wrong = write(tmp_path / "wrong.json", {"q_method": dict.fromkeys("1234", 7)})
    assert run("numbered", "--grades", wrong, *given) == 2
    assert "is 7: give 0, 1, 2 or 3" in capsys.readouterr().err


def test_the_step_grades_keeps_ids_and_no_text(
    project: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    background, method = (pool_of(project, facet) for facet in (Facet.BACKGROUND, Facet.METHOD))
    first = {pool.id: dict.fromkeys(pool.candidates, 1) for pool in (background, method)}
    project.take("ada", first)
    project.take("ben", {method.id: {"a": 3}})
    out = tmp_path / "grades.jsonl"
    given = ("--judge", "ada", "--again", "ben", "--out", out, "--project", project.folder)
    assert run("grades", *given) == 0
    assert "8 grades of 2 pools" in capsys.readouterr().out
    assert not any(one.text in out.read_text() for one in PAPERS["q"].sentences)
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert lines == [
        {"query": "q", "facet": "background", "sentences": [0, 1], "grades": first[background.id]},
        {"query": "q", "facet": "method", "sentences": [2], "grades": first[method.id], "again": {"a": 3}},
    ]
    assert run("grades", "--judge", "ben", "--beside", "ada", *given[4:]) == 0
    (line,) = map(json.loads, out.read_text().splitlines())
    assert (line["grades"], line["beside"]) == ({"a": 3}, first[method.id])


@pytest.fixture
def csfcube(tmp_path: Path) -> Path:
    """Nine papers; two queries a facet on the development side, one that only the test side has."""
    folder = tmp_path / "csfcube"
    folder.mkdir()
    ids = [f"p{number}" for number in range(9)]
    records = [
        {
            "paper_id": id,
            "title": paper(id).title,
            "abstract": [one.text for one in paper(id).sentences],
            "pred_labels": [f"{one.facet}_label" for one in paper(id).sentences],
        }
        for id in ids
    ]
    (folder / "abstracts-csfcube-preds.jsonl").write_text("\n".join(map(json.dumps, records)))
    for shift, facet in enumerate(PANELS):
        judged = {
            query: {"cands": ids, "relevance_adju": [(place * 7 + shift) % 4 for place in range(9)]}
            for query in ids[:3]
        }
        write(folder / f"test-pid2anns-csfcube-{facet}.json", judged)
    dev = [f"{query}_{facet}" for facet in PANELS for query in ids[:2]]
    test = [f"p2_{facet}" for facet in PANELS]
    write(folder / "evaluation_splits.json", {"all": {"fold1_dev": dev, "fold1_test": test}})
    return folder


def test_calibration_draws_pairs_of_each_facet_and_keeps_their_grades(csfcube: Path, tmp_path: Path) -> None:
    collection = read_csfcube(csfcube)
    project = Project(tmp_path / "judging")
    assert draw_calibration(project, collection, "dev", each=5, seed=1) == 15
    for facet in PANELS:
        pools = [pool for pool in project.pools() if pool.facet is facet]
        assert sum(len(set(pool.candidates)) for pool in pools) == 5
    assert {pool.query for pool in project.pools()} <= {"p0", "p1"}
    for pool in project.pools():
        known = collection.queries[pool.id].grades
        assert project.grades(OFFICIAL)[pool.id] == {id: known[id] for id in pool.candidates}
        assert {pool.query, *pool.candidates} <= set(project.papers())


def test_calibration_takes_all_where_there_are_fewer_and_follows_the_seed(
    csfcube: Path, tmp_path: Path
) -> None:
    collection = read_csfcube(csfcube)
    drawn = []
    for name, seed in (("one", 1), ("same", 1), ("other", 2)):
        draw_calibration(Project(tmp_path / name), collection, "dev", 6, seed)
        drawn.append(Project(tmp_path / name).pools())
    assert drawn[0] == drawn[1] != drawn[2]
    # Two queries of eight candidates (the query itself is no candidate) and three facets.
    assert draw_calibration(Project(tmp_path / "all"), collection, "dev", 1000, 1) == 2 * 8 * 3


def test_calibrated_pairs_graded_again_can_be_compared(
    csfcube: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "judging"
    assert run("calibrate", "--data", csfcube, "--each", 6, "--project", folder) == 0
    assert "18 pairs drawn" in capsys.readouterr().out
    project = Project(folder)
    known = project.grades(OFFICIAL)
    numbered = {
        pool.id: {str(number): known[pool.id][id] for number, id in enumerate(pool.candidates, start=1)}
        for pool in project.pools()
    }
    file = write(tmp_path / "again.json", numbered)
    assert run("numbered", "--judge", "ada", "--grades", file, "--project", folder) == 0
    assert run("agreement", "--project", folder) == 0
    rows = capsys.readouterr().out.splitlines()
    together = next(row.split() for row in rows if "all" in row.split())
    assert "18" in together
    assert together.count("1.00") == 4


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty papers with all panels and one that is a title only."""
    folder = tmp_path_factory.mktemp("corpus")
    with Store.create(folder / layout.STORE) as store:
        store.add(all_papers())
    build(folder, encoder=RandomEncoder())
    return folder


@pytest.fixture
def _random_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("search.engine.opening.load_encoder", lambda *_: RandomEncoder())


@pytest.mark.usefixtures("_random_encoder")
def test_random_pools_take_the_facets_in_turn_and_hide_the_methods(corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "judging"
    assert run("make", "--corpus", corpus, "--random", 7, "--depth", 4, "--project", folder) == 0
    pools = Project(folder).pools()
    counts = [sum(pool.facet is facet for pool in pools) for facet in PANELS]
    assert counts == [3, 2, 2]
    assert len({pool.query for pool in pools}) == 7
    assert "bare" not in {pool.query for pool in pools}
    texts = [file.read_text() for file in (folder / "pools").iterdir()]
    assert not any(f'"{method}"' in text for method in METHODS for text in texts)
    brought = {
        name
        for file in (folder / "keys").iterdir()
        for names in json.loads(file.read_text()).values()
        for name in names
    }
    assert brought >= {"triptych", "bm25", "dense", "elsewhere"}
    assert all(pool.candidates and pool.query not in pool.candidates for pool in pools)


@pytest.mark.usefixtures("_random_encoder")
def test_random_pools_follow_the_seed(corpus: Path, tmp_path: Path) -> None:
    made = []
    for name, seed in (("one", 3), ("same", 3), ("other", 4)):
        given = ("--random", 3, "--depth", 3, "--method", "bm25", "--seed", seed)
        assert run("make", "--corpus", corpus, *given, "--project", tmp_path / name) == 0
        made.append(Project(tmp_path / name).pools())
    assert made[0] == made[1]
    assert {pool.query for pool in made[0]} != {pool.query for pool in made[2]}


@pytest.mark.usefixtures("_random_encoder")
def test_random_pools_are_of_papers_with_all_panels(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = {one.id for one in all_papers()} - {"bare"}
    given = ("--depth", 1, "--method", "bm25", "--project", tmp_path)
    assert run("make", "--corpus", corpus, "--random", len(whole), *given) == 0
    assert {pool.query for pool in Project(tmp_path).pools()} == whole
    assert run("make", "--corpus", corpus, "--random", len(whole) + 1, *given) == 2
    assert f"Only {len(whole)} papers" in capsys.readouterr().err
