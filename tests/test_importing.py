"""Import: nothing is lost, nothing is doubled, everything left out is counted."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from index_build import importing
from index_build.filters import make_rules
from index_build.importing import REJECTS, import_files, import_papers
from index_build.sources import Reject
from search.corpus.layout import STORE
from search.corpus.store import AddReport, Snapshot, Store
from search.errors import CorpusError, InputError

ROOT = Path(__file__).resolve().parent.parent


def record(number: int, **changes: object) -> dict[str, object]:
    text = f"Nails of kind {number} are bent. We straighten them. They hold {number} planks."
    return {
        "id": f"n{number}",
        "title": f"On straightening nails of kind {number}",
        "abstract": text,
        "year": 2000,
    } | changes


def write(path: Path, records, packed: bool = False) -> Path:
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    data = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    return path


def counts(corpus: Path):
    with Store.open(corpus / STORE) as store:
        return store.counts()


def test_papers_are_split_and_stored(tmp_path):
    file = write(tmp_path / "a.jsonl.gz", map(record, range(30)), packed=True)
    summary = import_files(tmp_path / "corpus", [file])
    assert summary.stored == AddReport(added=30)
    assert (summary.read, summary.rejected, summary.filtered, summary.rejects_file) == (30, {}, {}, None)
    assert counts(tmp_path / "corpus").sentences == 90
    assert not (tmp_path / "corpus" / REJECTS).exists()


def test_the_same_file_twice_changes_nothing(tmp_path):
    file = write(tmp_path / "a.jsonl", map(record, range(10)))
    import_files(tmp_path / "corpus", [file])
    with Store.open(tmp_path / "corpus" / STORE) as store:
        before = store.fingerprint()
    assert import_files(tmp_path / "corpus", [file]).stored == AddReport(unchanged=10)
    with Store.open(tmp_path / "corpus" / STORE) as store:
        assert store.fingerprint() == before


def test_a_changed_record_replaces_the_old(tmp_path):
    file = write(tmp_path / "a.jsonl", [record(0), record(1)])
    import_files(tmp_path / "corpus", [file])
    write(file, [record(0), record(1, abstract="A new text. It is shorter.")])
    assert import_files(tmp_path / "corpus", [file]).stored == AddReport(unchanged=1, replaced=1)
    assert counts(tmp_path / "corpus").sentences == 5


def posters(count: int) -> list[dict[str, object]]:
    """Abstracts of one conference: different papers under the DOI of their volume."""
    return [
        {
            "title": f"Effect of tool {number} on the strength of wood of kind {number}",
            "abstract": f"Tool{number} meets wood{number}. Result{number} differs: it{number} rose{number}.",
            "authors": [f"Joiner{number}, A."],
            "doi": "10.1000/volume",
        }
        for number in range(count)
    ]


def stored_titles(corpus: Path) -> set[str]:
    with Store.open(corpus / STORE) as store:
        store.snapshot(corpus / "seen")
    with Snapshot.open(corpus / "seen") as snapshot:
        titles = {paper.title for paper in snapshot.papers_by_row(range(snapshot.counts().papers))}
    (corpus / "seen").unlink()
    return titles


@pytest.mark.parametrize("batch", [7, 1000])
def test_papers_that_share_an_id_are_all_kept(tmp_path, monkeypatch, batch):
    monkeypatch.setattr(importing, "BATCH", batch)
    corpus, file = tmp_path / "corpus", write(tmp_path / "a.jsonl", posters(53))
    assert import_files(corpus, [file]).stored == AddReport(added=53)
    assert stored_titles(corpus) == {poster["title"] for poster in posters(53)}
    with Store.open(corpus / STORE) as store:
        before = store.fingerprint()
    assert import_files(corpus, [file]).stored == AddReport(unchanged=53)
    backwards = write(tmp_path / "b.jsonl", posters(53)[::-1])
    assert import_files(corpus, [backwards]).stored == AddReport(unchanged=53)
    with Store.open(corpus / STORE) as store:
        assert store.fingerprint() == before


def test_papers_that_share_an_id_are_kept_between_files_too(tmp_path):
    corpus = tmp_path / "corpus"
    for number, poster in enumerate(posters(5)):
        file = write(tmp_path / f"{number}.jsonl", [poster])
        assert import_files(corpus, [file]).stored == AddReport(added=1)
    assert counts(corpus).papers == 5
    changed = posters(5)[3] | {"abstract": "Tool3 meets wood3. Result3 differs: it3 fell3."}
    assert import_files(corpus, [write(tmp_path / "3.jsonl", [changed])]).stored == AddReport(replaced=1)
    assert counts(corpus).papers == 5


def test_zero_is_no_pubmed_id(tmp_path):
    rows = "".join(f"0,Nails of kind {name},2020\n" for name in ("iron", "brass", "wood", "bone"))
    (tmp_path / "a.csv").write_text("PMID,Title,Year\n" + rows)
    assert import_files(tmp_path / "corpus", [tmp_path / "a.csv"]).stored == AddReport(added=4)


@pytest.mark.parametrize("order", [1, -1])
def test_a_record_without_abstract_does_not_replace_one_that_has_it(tmp_path, order):
    full = posters(1)[0]
    thin = {"title": full["title"], "doi": full["doi"], "venue": "Wood Today"}
    corpus, file = tmp_path / "corpus", write(tmp_path / "a.jsonl", [full, thin][::order])
    assert import_files(corpus, [file]).stored == AddReport(added=1, merged=1)
    assert import_files(corpus, [file]).stored == AddReport(unchanged=2)
    with Store.open(corpus / STORE) as store:
        paper = store.paper("doi:10.1000/volume")
    assert (paper.abstract, paper.venue, paper.doi) == (full["abstract"], "Wood Today", "10.1000/volume")


def test_bad_records_are_counted_and_kept_aside(tmp_path):
    file = write(tmp_path / "a.jsonl", [record(0), '{"id": "broken', {"id": "x", "title": ""}, record(1)])
    summary = import_files(tmp_path / "corpus", [file])
    assert summary.stored == AddReport(added=2)
    assert sum(summary.rejected.values()) == 2
    rejects = [json.loads(line) for line in (tmp_path / "corpus" / REJECTS).read_text().splitlines()]
    assert [reject["place"] for reject in rejects] == ["line 2", "line 3"]
    assert {reject["source"] for reject in rejects} == {str(file)}
    assert rejects[0]["raw"].startswith('{"id": "broken')
    assert {reject["reason"] for reject in rejects} == set(summary.rejected)


def test_rejects_of_a_file_are_replaced_and_those_of_others_stay(tmp_path):
    first = write(tmp_path / "first.jsonl", ["{broken", record(0)])
    second = write(tmp_path / "second.jsonl", ["{broken", record(1)])
    for file in (first, second, second):
        import_files(tmp_path / "corpus", [file])
    rejects = (tmp_path / "corpus" / REJECTS).read_text().splitlines()
    assert [json.loads(line)["source"] for line in rejects] == [str(first), str(second)]
    write(first, [record(0)])
    write(second, [record(1)])
    import_files(tmp_path / "corpus", [first, second])
    assert not (tmp_path / "corpus" / REJECTS).exists()


def test_limit_counts_the_papers_that_pass(tmp_path):
    file = write(tmp_path / "a.jsonl", [record(n, year=2000 + n % 2) for n in range(20)])
    summary = import_files(tmp_path / "corpus", [file], make_rules(year="2001"), limit=5)
    assert summary.stored == AddReport(added=5)
    assert summary.filtered == {"year outside 2001": 5}
    assert import_files(tmp_path / "corpus", [file], limit=20).stored == AddReport(added=15, unchanged=5)
    with pytest.raises(InputError, match="at least 1"):
        import_files(tmp_path / "corpus", [file], limit=0)


def test_progress_tells_how_much_there_is(tmp_path, monkeypatch):
    monkeypatch.setattr(importing, "BATCH", 10)
    file = write(tmp_path / "a.jsonl", map(record, range(30)))
    seen = []
    import_files(tmp_path / "corpus", [file], progress=lambda *told: seen.append(told))
    assert [done for _, done, _ in seen] == [10, 20, 30]
    assert seen[-1] == ("import", 30, 30)


def test_a_missing_file_is_named_before_anything_is_made(tmp_path):
    with pytest.raises(InputError, match=r"nowhere\.bib"):
        import_files(tmp_path / "corpus", [tmp_path / "nowhere.bib"])
    assert not (tmp_path / "corpus").exists()


def test_what_a_source_gives_directly_is_stored_too(tmp_path):
    summary = import_papers(tmp_path, [Reject("upload", "record 1", "no title", "{}")], ["upload"])
    assert summary.rejected == {"no title": 1}
    assert summary.read == 1


KILLED = """
import sys
from pathlib import Path
from index_build import importing
importing.BATCH = 50
def tell(step, done, total):
    print(done, flush=True)
importing.import_files(Path(sys.argv[1]), [Path(sys.argv[2])], progress=tell)
"""


def start_import(corpus: Path, file: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", KILLED, str(corpus), str(file)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


@pytest.mark.parametrize("batches", [1, 3, 7])
@pytest.mark.slow
def test_a_kill_loses_nothing_that_was_reported(tmp_path, batches):
    file = write(tmp_path / "a.jsonl", map(record, range(1500)))
    process = start_import(tmp_path / "corpus", file)
    reported = [int(process.stdout.readline()) for _ in range(batches)][-1]
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    stored = counts(tmp_path / "corpus").papers
    assert reported <= stored < 1500
    summary = import_files(tmp_path / "corpus", [file])
    assert summary.stored == AddReport(added=1500 - stored, unchanged=stored)


def test_a_store_in_use_is_refused_in_words(tmp_path):
    (tmp_path / "fifo").mkdir()
    file = tmp_path / "fifo" / "a.jsonl"
    os.mkfifo(file)  # an import that waits for its file holds the store
    process = start_import(tmp_path / "corpus", file)
    try:
        with file.open("w") as pipe:
            pipe.write("".join(json.dumps(record(n)) + "\n" for n in range(60)))
            pipe.flush()
            while not (tmp_path / "corpus" / STORE).exists() and process.poll() is None:
                time.sleep(0.05)
            with pytest.raises(CorpusError, match="Another build is writing"):
                import_papers(tmp_path / "corpus", [])
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
