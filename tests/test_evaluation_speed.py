"""The speed command runs its parts and prints what they found."""

import gzip
import json
from xml.etree import ElementTree

import numpy as np
import pytest

from evaluation import speed_encode
from evaluation.__main__ import main
from search.encoder.loading import load_encoder
from search.types import Document


def test_import_part(tmp_path, capsys):
    file = tmp_path / "papers.jsonl.gz"
    records = [
        {"id": f"p{n}", "title": f"Paper number {n}", "abstract": "We cut. It works."} for n in range(50)
    ]
    file.write_bytes(gzip.compress("\n".join(map(json.dumps, records)).encode()))
    arguments = ["speed", "--only", "import", "--import-file", str(file), "--import-papers", "40"]
    assert main([*arguments, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)["import"]
    assert figures["papers"] == 40
    assert figures["times_bare"] > 0
    assert figures["peak_megabytes"] is None or figures["peak_megabytes"] > 10


def test_missing_file_is_named(tmp_path, capsys):
    assert main(["speed", "--only", "import", "--import-file", str(tmp_path / "nowhere.gz")]) == 2
    assert "nowhere.gz" in capsys.readouterr().err


class Costly:
    """Encodes in no time, but says what it cost."""

    def __init__(self, cost: float) -> None:
        self.cost, self.spent = cost, 0.0

    def encode(self, documents):
        self.spent += self.cost * len(documents)
        return []


def test_two_encoders_are_compared_by_their_work(monkeypatch):
    ours, theirs = Costly(2), Costly(3)

    def seconds(step):
        before = ours.spent + theirs.spent
        step()
        return 0.0, ours.spent + theirs.spent - before

    monkeypatch.setattr(speed_encode, "seconds", seconds)
    assert speed_encode.compare(ours, theirs, [Document("t", ("s",))] * 10) == 1.5
    assert ours.spent == 2 * 2 * 10


def test_the_encoder_without_its_labeller_gives_the_same_vectors_and_no_labels():
    document = Document("Seals", ("We count seals.", "There are many."))
    alone, labelled = speed_encode._unlabelled().encode_one(document), load_encoder().encode_one(document)
    np.testing.assert_array_equal(alone.sentences, labelled.sentences)
    assert np.ptp(alone.facets) == 0
    assert np.ptp(labelled.facets) > 0.1


@pytest.mark.slow
def test_api_part(app_corpus, capsys):
    arguments = ["speed", "--only", "api", "--corpus", str(app_corpus), "--queries", "16", "--requests", "40"]
    assert main([*arguments, "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)["api"]
    assert (figures["requests"], figures["errors"]) == (40, 0)
    assert figures["api_times_engine"] > 0
    assert figures["api_share_of_throughput"] > 0


@pytest.mark.slow
def test_scale_part(app_corpus, tmp_path, capsys, monkeypatch):
    arguments = ["speed", "--only", "scale", "--corpus", str(app_corpus), "--papers", "60", "--json"]
    files = ["--table", str(tmp_path / "table.md"), "--chart", str(tmp_path / "chart.svg")]
    options = ["--synthetic", str(tmp_path), "--kills", "1", "--compare", *files]
    assert main([*arguments, *options]) == 0
    figures = json.loads(capsys.readouterr().out)["scale"]
    assert figures["build_papers_60"] == 60
    assert figures["add_papers_60"] == 1060
    assert {"import", "encode", "store"} < figures["build_seconds_60"].keys()
    table = (tmp_path / "table.md").read_text()
    assert "| Step: store |" in table
    assert "| Top 20 of a build anew | 1.000 |" in table
    assert figures["every_top_20_of_all_60"] > 0.9
    assert len(figures["build_killed_in_60"]) <= 1
    assert ElementTree.parse(tmp_path / "chart.svg").getroot().tag.endswith("svg")
    before = (tmp_path / "scale-60" / "figures.json").read_bytes()
    assert main([*arguments, *options]) == 0
    assert (tmp_path / "scale-60" / "figures.json").read_bytes() == before, "what was measured is kept"


@pytest.mark.slow
def test_index_part(app_corpus, tmp_path, capsys):
    arguments = ["speed", "--only", "index", "--corpus", str(app_corpus), "--json"]
    assert main([*arguments, "--sweep", str(tmp_path / "sweep.md")]) == 0
    found = json.loads(json.loads(capsys.readouterr().out)["index"]["indices"])
    sizes = {each["codes"]: each["megabytes"] for each in found}
    assert sizes["RaBitQ"] < sizes["SQ8"]
    by_visited = sorted(
        (each["visited"] / each["lists"], each["recall"]) for each in found if each["again"] == 400
    )
    assert by_visited[0][1] < by_visited[-1][1], "more lists, more found"
    assert (tmp_path / "sweep.md").read_text().count("| RaBitQ |") == 45
