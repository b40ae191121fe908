"""The commands of `python -m evaluation` on small collections written here, with the real engine."""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
from pathlib import Path
from typing import Any

import pytest

from evaluation import results
from evaluation.collection_files import read_abstracts
from index_build.steps import build
from search.corpus import layout
from search.corpus.store import Store
from search.errors import InputError
from search.settings import Settings

# Eight abstracts in two topics; each sentence with its facet.
PAPERS = {
    "w1": (
        "Counting wild bees with microphones",
        2015,
        [
            ("background", "Wild bee numbers fall, yet counting bees by hand is slow."),
            ("method", "We train a neural network on spectrograms of wing beats."),
            ("result", "The network counts bees with an error of 4 %."),
        ],
    ),
    "w2": (
        "Hearing bumblebees in orchards",
        2016,
        [
            ("background", "Orchards need pollinators, and surveys of bees are costly."),
            ("method", "A neural network classifies spectrograms of wing sounds."),
            ("result", "Bumblebees are told from honey bees in 93 % of recordings."),
        ],
    ),
    "w3": (
        "Pollinator decline on farms",
        2014,
        [
            ("background", "Pollinators decline where farms use much pesticide."),
            ("method", "We walk transects and count bees on 40 farms."),
            ("result", "Farms with hedges have twice as many bees."),
        ],
    ),
    "w4": (
        "Hedges and bees",
        2017,
        [
            ("background", "Hedges may help bees on farms."),
            ("method", "Bees are counted on walks along hedges."),
            ("result", "Hedges double the number of bees."),
        ],
    ),
    "r1": (
        "Cheaper routes for parcel vans",
        2013,
        [
            ("background", "Parcel vans drive long routes through cities."),
            ("method", "Integer programming with column generation plans the routes."),
            ("result", "Routes become 12 % shorter."),
        ],
    ),
    "r2": (
        "Planning bus depots",
        2016,
        [
            ("background", "Bus depots in cities are badly placed."),
            ("method", "We solve an integer program by column generation."),
            ("result", "Empty bus kilometres fall by 9 %."),
        ],
    ),
    "r3": (
        "Bicycle couriers in hilly cities",
        2018,
        [
            ("background", "Couriers on bicycles avoid hills in cities."),
            ("method", "A survey asks couriers about the streets they take."),
            ("result", "Couriers accept detours of 15 % to avoid a hill."),
        ],
    ),
    "r4": (
        "Night trams",
        2012,
        [
            ("background", "Night trams are often empty."),
            ("method", "Ticket data of a year are clustered."),
            ("result", "Half of the night trams carry fewer than ten people."),
        ],
    ),
}
POOLS = {
    "background": {"w1": {"w2": 3, "w3": 2, "w4": 1, "r1": 0, "r2": 0, "r4": 0, "w1": 3}},
    "method": {"w1": {"w2": 3, "w3": 0, "w4": 0, "r2": 0, "r3": 0, "r4": 0}},
    "result": {"w3": {"w4": 3, "w1": 1, "w2": 0, "r1": 0, "r2": 0, "r3": 0}},
}


def write_lines(file: Path, records: list[dict[str, Any]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(map(json.dumps, records)) + "\n"
    if file.suffix == ".gz":
        file.write_bytes(gzip.compress(text.encode()))
    else:
        file.write_text(text, encoding="utf-8")


def abstracts() -> list[dict[str, Any]]:
    return [
        {
            "paper_id": paper,
            "title": title,
            "abstract": [text for _, text in sentences],
            "pred_labels": [f"{facet}_label" for facet, _ in sentences],
            "metadata": {"year": str(year)},
        }
        for paper, (title, year, sentences) in PAPERS.items()
    ]


def whole(paper: str) -> str:
    return " ".join(text for _, text in PAPERS[paper][2])


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Corpora built here live for this module only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRIPTYCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def csfcube(tmp_path: Path) -> Path:
    write_lines(tmp_path / "abstracts-csfcube-preds.jsonl", abstracts())
    for facet, pools in POOLS.items():
        judged = {
            query: {"cands": list(pool), "relevance_adju": list(pool.values())}
            for query, pool in pools.items()
        }
        (tmp_path / f"test-pid2anns-csfcube-{facet}.json").write_text(json.dumps(judged))
    known = [f"{query}_{facet}" for facet, pools in POOLS.items() for query in pools]
    splits = {
        "all": {"fold1_dev": [*known[:2], "x9_method"], "fold1_test": known[2:], "fold2_test": known[:2]}
    }
    (tmp_path / "evaluation_splits.json").write_text(json.dumps(splits))
    return tmp_path


def run(command: str, *arguments: object) -> int:
    module = importlib.import_module(f"evaluation.{command}")
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    return module.run(parser.parse_args([str(argument) for argument in arguments]))


def test_csfcube_ranks_with_the_engine_and_baselines(
    csfcube: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, values = tmp_path / "out.json", tmp_path / "values.csv"
    methods = (
        "triptych",
        "dense",
        "bm25",
        "fabs_bm25",
        "fabs_tfidf",
        "otAspire:default",
        "sentences:default",
    )
    more = (
        "--json",
        out,
        "--per-query",
        values,
        "--compare",
        "triptych",
        "fabs_tfidf",
        "--errors",
        "--levels",
    )
    assert run("csfcube", "--data", csfcube, "--split", "all", "--method", *methods, *more) == 0
    figures = json.loads(out.read_text())
    assert (figures["collection"], figures["split"]) == ("csfcube", "all")
    assert set(figures["methods"]) == set(methods)
    assert set(figures["methods"]["triptych"]) == {"all", "background", "method", "result"}
    # The nearest by each facet is unmistakable here, so the product must put it first.
    assert figures["methods"]["triptych"]["method"]["map"] == 100
    assert figures["methods"]["triptych"]["result"]["map"] == 100
    printed = capsys.readouterr().out
    assert "triptych against fabs_tfidf" in printed
    assert "Errors of triptych" in printed
    assert "shown as" in printed
    assert len(values.read_text().splitlines()) == 1 + 3 * len(methods)


def test_csfcube_reports_missing_queries_and_unknown_methods(
    csfcube: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("csfcube", "--data", csfcube, "--split", "dev", "--method", "fabs_bm25", "nonsense") == 0
    said = capsys.readouterr().err
    assert "x9_method" in said
    assert "skipped nonsense: There is no method 'nonsense'" in said


def test_csfcube_without_queries_of_the_split_says_so(csfcube: Path) -> None:
    (csfcube / "evaluation_splits.json").write_text(json.dumps({"all": {"fold1_dev": ["x9_method"]}}))
    with pytest.raises(InputError, match="no judged query of the split 'test'"):
        run("csfcube", "--data", csfcube, "--split", "test", "--method", "fabs_bm25")


def test_saved_results_carry_what_is_needed_to_repeat_them(
    csfcube: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "FOLDER", tmp_path / "results")
    run("csfcube", "--data", csfcube, "--split", "dev", "--method", "triptych", "fabs_bm25", "--save")
    saved = json.loads((tmp_path / "results" / "csfcube-dev.json").read_text())
    assert {"date", "package", "encoder", "data", "queries", "missing", "methods", "skipped"} <= set(saved)
    assert saved["queries"] == 2
    assert "MiniLM" in saved["encoder"]
    assert set(saved["significance"]["fabs_bm25"]) == {"map", "ndcg_pct20"}
    assert sum(level["papers"] for level in saved["levels"]) > 0


@pytest.mark.parametrize("name", ["relish", "treccovid"])
def test_relish_layout(tmp_path: Path, name: str) -> None:
    records = [{key: value for key, value in each.items() if key != "pred_labels"} for each in abstracts()]
    write_lines(tmp_path / f"abstracts-{name}.jsonl", records)
    best = 2 if name == "relish" else 1
    judged = {"w1": {"cands": ["r1", "w2", "r2", "r4", "r3"], "relevance_adju": [0, best, 0, 0, 0]}}
    (tmp_path / f"test-pid2anns-{name}.json").write_text(json.dumps(judged))
    (tmp_path / f"{name}-evaluation_splits.json").write_text(json.dumps({"dev": ["w1"], "test": []}))
    out = tmp_path / "out.json"
    run("relish", "--data", tmp_path, "--method", "triptych", "fabs_bm25", "--json", out)
    figures = json.loads(out.read_text())
    assert figures["collection"] == name
    assert figures["methods"]["triptych"]["all"]["map"] == 100


def test_beir_searches_the_whole_corpus(tmp_path: Path) -> None:
    corpus = [{"_id": paper, "title": PAPERS[paper][0], "text": whole(paper)} for paper in PAPERS]
    write_lines(tmp_path / "corpus.jsonl.gz", corpus)
    asked = [
        {"_id": "q1", "text": "neural networks that hear bees"},
        {"_id": "w3", "title": PAPERS["w3"][0], "text": whole("w3")},
        {"_id": "q9", "text": "not judged"},
    ]
    write_lines(tmp_path / "queries.jsonl", asked)
    (tmp_path / "qrels").mkdir()
    lines = ["query-id\tcorpus-id\tscore", "q1\tw1\t2", "q1\tw2\t2", "w3\tw4\t1", "w3\tw3\t0"]
    (tmp_path / "qrels" / "test.tsv").write_text("\n".join(lines))
    out = tmp_path / "out.json"
    assert run("beir", "--data", tmp_path, "--json", out) == 0
    methods = json.loads(out.read_text())["methods"]
    assert set(methods) == {"triptych", "bm25", "dense"}
    assert set(methods["bm25"]) == {"map", "ndcg_10", "recall_30", "recall_100", "mrr"}
    # Both papers lead q1; w4 leads w3 because a paper is not among its own results.
    assert methods["triptych"]["map"] == 100


def test_mdcr_by_field_and_kind_with_outside_scores(tmp_path: Path) -> None:
    benchmark = {
        "Biology": {"w1": {"true": ["w2"], "bm25": ["w3", "w4"], "random": ["r1"]}},
        "Engineering": {"r1": {"true": ["r2"], "bm25": ["r3"], "random": ["w4"]}},
    }
    (tmp_path / "mdcr_test.json").write_text(json.dumps(benchmark))
    records = [{"paper_id": each, "title": PAPERS[each][0], "abstract": whole(each)} for each in PAPERS]
    write_lines(tmp_path / "mdcr_test_data.jsonl", records)
    # Biology: the cited paper is second, after one of kind bm25; Engineering: first.
    scores = {
        "w1_w2": 0.8,
        "w1_w3": 0.9,
        "w1_w4": 0.1,
        "w1_r1": 0.2,
        "r1_r2": 0.7,
        "r1_r3": 0.6,
        "r1_w4": 0.1,
    }
    (tmp_path / "outside.json").write_text(json.dumps(scores))
    out = tmp_path / "out.json"
    given = ("--benchmark", tmp_path / "mdcr_test.json", "--papers", tmp_path / "mdcr_test_data.jsonl")
    assert run("mdcr", *given, "--scores", tmp_path / "outside.json", "--json", out) == 0
    figures = json.loads(out.read_text())
    assert set(figures["methods"]) == {"triptych", "bm25", "dense", "outside"}
    outside = figures["methods"]["outside"]
    assert outside["fields"]["Biology"]["map"] == 50
    assert outside["all"]["map"] == 75
    assert outside["kinds"]["bm25"]["map"] == 75
    assert outside["kinds"]["random"]["map"] == 100
    assert figures["methods"]["triptych"]["all"]["map"] == 100


def test_mdcr_scores_must_cover_every_candidate(tmp_path: Path) -> None:
    (tmp_path / "mdcr_test.json").write_text(json.dumps({"Art": {"a": {"true": ["b"], "random": ["c"]}}}))
    (tmp_path / "outside.json").write_text(json.dumps({"a_b": 1}))
    with pytest.raises(InputError, match="no score for 'a_c'"):
        run("mdcr", "--benchmark", tmp_path / "mdcr_test.json", "--scores", tmp_path / "outside.json")


def test_large_pools_are_measured_by_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(results, "FOLDER", tmp_path / "results")
    topics = ["tides", "glaciers", "volcanoes", "deserts"]
    papers, pairs = [], []
    for number in range(48):
        topic = topics[number % 4]
        text = f"We study {topic} in region {number}. Sensors near {topic} record for {number + 2} days."
        papers.append(
            {"id": f"p{number}", "title": f"On {topic}, part {number}", "abstract": text, "year": 2000}
        )
        if number >= 40:
            cited = [f"p{other}" for other in range(number % 4, 40, 4)][:6]
            pairs += [{"citing": f"p{number}", "cited": other} for other in cited]
    write_lines(tmp_path / "papers.jsonl.gz", papers)
    write_lines(tmp_path / "cite_pairs.jsonl.gz", pairs)
    given = (
        "--large-pools",
        tmp_path,
        "--sizes",
        5,
        20,
        "--sample",
        5,
        "--validation",
        3,
        "--limit",
        46,
        "--save",
    )
    assert run("mdcr", *given) == 0
    saved = json.loads((tmp_path / "results" / "large-pools.json").read_text())
    assert saved["papers"] == 46
    assert saved["pool_sizes"] == {"5": 11.0, "20": 26.0}
    for name in ("bm25", "dense", "triptych"):
        small, large = saved["methods"][name]["5"], saved["methods"][name]["20"]
        assert set(small) == {"map", "ndcg", "recall_30"}
        assert small["map"] >= large["map"] > 30
    assert "BM25 tuned on 3 other queries" in capsys.readouterr().out


def test_judging_from_pool_to_collection(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(tmp_path / "abstracts.jsonl", abstracts())
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    with Store.create(corpus / layout.STORE) as store:
        store.add(list(read_abstracts(tmp_path / "abstracts.jsonl")))
    build(corpus, Settings(corpus=corpus))
    project, folder = ("--project", tmp_path / "judging"), tmp_path / "judging"
    run("annotate", "make", "--corpus", corpus, "--query", "w1", "--depth", 3, "--facet", "method", *project)
    pool = json.loads((folder / "pools" / "w1_method.json").read_text())
    assert "w2" in pool["candidates"]
    assert "w1" not in pool["candidates"]
    assert "triptych" not in json.dumps(pool)

    sheet = tmp_path / "sheet.csv"
    run("annotate", "sheet", "--out", sheet, *project)
    empty = sheet.read_text().splitlines()
    for judge, last in (("ada", "3"), ("ben", "2")):
        graded = [line + ("0" if not line.startswith("w1,method,w2,") else last) for line in empty[1:]]
        sheet.write_text("\n".join([empty[0], *graded]))
        run("annotate", "import", "--judge", judge, "--sheet", sheet, *project)
    run("annotate", "agreement", *project)
    assert "ada and ben" in capsys.readouterr().out
    with pytest.raises(InputError, match="no agreed grade"):
        run("annotate", "export", "--out", tmp_path / "mine", *project)
    sheet.write_text(
        "\n".join([empty[0], *[line + "3" for line in empty if line.startswith("w1,method,w2,")]])
    )
    run("annotate", "import", "--judge", "adjudicator", "--sheet", sheet, *project)
    run("annotate", "export", "--out", tmp_path / "mine", *project)
    out = tmp_path / "out.json"
    run("csfcube", "--data", tmp_path / "mine", "--method", "fabs_tfidf", "--json", out)
    assert json.loads(out.read_text())["methods"]["fabs_tfidf"]["method"]["map"] == 100


def test_a_sheet_with_a_wrong_grade_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sheet.csv").write_text("query,facet,paper,title,abstract,grade\nw1,method,w2,,,very\n")
    with pytest.raises(InputError, match="Line 2 of"):
        run("annotate", "import", "--judge", "ada", "--sheet", tmp_path / "sheet.csv", "--project", tmp_path)
